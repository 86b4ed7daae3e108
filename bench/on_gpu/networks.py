"""PyTorch's own spelling of the networks, with random weights, eval mode."""
import torch
import torchvision


def bert_base():
    import transformers

    config = transformers.BertConfig(attn_implementation="sdpa")
    return transformers.BertModel(config)


MAKERS = {
    "resnet50": torchvision.models.resnet50,
    "mobilenet_v2": torchvision.models.mobilenet_v2,
    "efficientnet_b0": torchvision.models.efficientnet_b0,
    "vit_b_16": torchvision.models.vit_b_16,
    "bert_base": bert_base,
}


def settle(model, inputs):
    """Weights under which activations stay in the range of a trained network, and that a wrong order would be seen by: no
    two vectors alike, no matrix of zeros, statistics of batch norms from what arrives."""
    norms = [m for m in model.modules() if isinstance(m, torch.nn.BatchNorm2d)]
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim < 2:
                parameter += 0.1 * torch.randn_like(parameter)
            elif not parameter.any():
                parameter.normal_(0, parameter.shape[-1] ** -0.5)
        if norms:
            for module in model.modules():
                if isinstance(module, torch.nn.Dropout) or "StochasticDepth" in type(module).__name__:
                    module.p = 0.0
            for norm in norms:
                norm.momentum = None  # the mean of all batches that come
            model.train()
            model(**inputs)
    return model.eval()


def make(name):
    torch.manual_seed(len(name))
    return MAKERS[name]()


def arguments(name, inputs):
    """Inputs by the names of forward()."""
    return inputs if name == "bert_base" else {"x": inputs["input"]}


def tensors_in_order(name, model):
    """(name, array) of every weight, in the order in which the graph's were made."""
    out = [(n, t.detach().float().cpu().numpy()) for n, t in model.state_dict().items() if t.is_floating_point()]
    if name == "vit_b_16":  # the class token comes after the patches
        out.insert(2, out.pop(0))
    return out


def outputs_of(result):
    """A list, whatever forward() returns."""
    if isinstance(result, torch.Tensor):
        return [result]
    return list(result.values()) if hasattr(result, "values") else list(result)
