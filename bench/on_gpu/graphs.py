"""Networks without their weights: a graph of 100 KB and a list of the weights that it reads from NAME.bin.

NAME.json: {"weights": [{"name", "shape", "transposed", "mean", "std", "low"}...], "flops", "layer_bytes", "weight_count",
"inputs": {name: shape without the batch}, "outputs": [name...]}, all for one sample. `transposed`: a product reads it as [in, out], where PyTorch
has [out, in].
"""
import json

import numpy as np


def weightless(model, name):
    """The model with every f32 initializer in NAME.bin, and what NAME.json says."""
    import onnx
    from onnx import numpy_helper

    sizes = shapes_of(model)
    weights, at = [], 0
    for tensor in model.graph.initializer:
        if tensor.data_type != onnx.TensorProto.FLOAT:
            continue
        array = numpy_helper.to_array(tensor)
        transposed = any(n.op_type == "MatMul" and n.input[1] == tensor.name for n in model.graph.node)
        weights.append({"name": tensor.name, "shape": list(array.shape), "transposed": transposed,
                        "mean": float(array.mean()), "std": float(array.std()), "low": float(array.min())})
        tensor.ClearField("raw_data")
        tensor.ClearField("float_data")
        tensor.data_location = onnx.TensorProto.EXTERNAL
        del tensor.external_data[:]
        for key, value in (("location", f"{name}.bin"), ("offset", at), ("length", array.nbytes)):
            entry = tensor.external_data.add()
            entry.key, entry.value = key, str(value)
        at += array.nbytes
    return model, {"weights": weights, **work_of(model, sizes, {w["name"] for w in weights}),
                   "inputs": {i.name: sizes[i.name][1:] for i in model.graph.input},
                   "outputs": [o.name for o in model.graph.output]}


def shapes_of(model):
    """Of every value, for one sample."""
    import onnx

    one = onnx.ModelProto()
    one.CopyFrom(model)
    for value in [*one.graph.input, *one.graph.output]:
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param:
                dim.dim_value = 1
    graph = onnx.shape_inference.infer_shapes(one, data_prop=True).graph
    values = [*graph.value_info, *graph.input, *graph.output]
    sizes = {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim] for v in values}
    return sizes | {t.name: list(t.dims) for t in graph.initializer}


def work_of(model, sizes, weights):
    """Convolutions and products: two operations for each multiply-add. Bytes in 16 bits: each layer with weights reads its
    input and writes its output once. The weights themselves are counted apart, as a batch does not multiply them."""
    flops = elements = 0
    for node in model.graph.node:
        if node.op_type not in ("Conv", "MatMul", "Gemm"):
            continue
        out, right = sizes[node.output[0]], sizes[node.input[1]]
        depth = np.prod(right[1:]) if node.op_type == "Conv" else right[-1 if node.op_type == "Gemm" else -2]
        flops += 2 * int(np.prod(out)) * int(depth)
        if node.input[1] in weights:
            elements += int(np.prod(out)) + int(np.prod(sizes[node.input[0]]))
    # A table that is only looked up is not read as a whole.
    tables = {n.input[0] for n in model.graph.node if n.op_type == "Gather"}
    count = sum(int(np.prod(sizes[w])) for w in weights if w not in tables)
    return {"flops": flops, "layer_bytes": 2 * elements, "weight_count": count}


def pack(make, name, folder):
    """NAME.onnx and NAME.json from the network that `make()` loads; kept when they are there."""
    import onnx

    if (folder / f"{name}.json").exists():
        return
    model, spec = weightless(make(), name)
    onnx.save(model, folder / f"{name}.onnx")
    (folder / f"{name}.json").write_text(json.dumps(spec))


def spec_of(folder, name):
    return json.loads((folder / f"{name}.json").read_text())


def write_weights(folder, name, arrays):
    with open(folder / f"{name}.bin", "wb") as file:
        for array in arrays:
            np.ascontiguousarray(array, np.float32).tofile(file)


def random_weights(spec, rng):
    """As large as those that the network was made with, which keep its activations in range."""
    for w in spec["weights"]:
        array = rng.standard_normal(w["shape"], dtype=np.float32) * w["std"] + w["mean"]
        yield np.abs(array) + w["low"] if w["low"] > 0 else array  # deviations and scales


def named_weights(spec, tensors):
    """The arrays in the order of NAME.bin out of (name, array) in PyTorch's order, and how they are matched: each takes the
    next weight of its shape, at most three further on (a product's bias comes before its matrix here)."""
    left = list(tensors)
    for w in spec["weights"]:
        shape = tuple(w["shape"][::-1] if w["transposed"] else w["shape"])
        place = next((i for i, (_, array) in enumerate(left[:4]) if array.shape == shape), None)
        if place is None:
            near = ", ".join(f"{n} {tuple(a.shape)}" for n, a in left[:4])
            raise ValueError(f"{w['name']} {shape}: no such weight among the next of PyTorch's: {near}")
        _, array = left.pop(place)
        yield array.T if w["transposed"] else array
    if left:
        raise ValueError(f"PyTorch has weights that the graph has not: {', '.join(n for n, _ in left)}")


def inputs_for(spec, batch):
    """The same for everybody. f32 images; of texts tokens, a mask that leaves out the last eighth, and two sentences."""
    rng, arrays = np.random.default_rng(batch), {}
    for name, dims in spec["inputs"].items():
        shape = (batch, *dims)
        if name == "input_ids":
            arrays[name] = rng.integers(0, 30522, shape, dtype=np.int64)
        elif name == "attention_mask":
            arrays[name] = np.ones(shape, np.int64)
            arrays[name][:, dims[0] - dims[0] // 8:] = 0
        elif name == "token_type_ids":
            arrays[name] = np.repeat(np.arange(dims[0])[None] >= dims[0] // 2, batch, 0).astype(np.int64)
        else:
            arrays[name] = rng.standard_normal(shape, dtype=np.float32)
    return arrays


def error_of(folder, name, batch, outputs):
    """The largest difference from the f32 outputs over their largest value; None when nobody made those."""
    path = folder / f"{name}-{batch}.npz"
    if not path.exists():
        return None
    with np.load(path) as wanted:
        pairs = list(zip(outputs, wanted.values()))
        return max(float(np.abs(made - want).max() / np.abs(want).max()) for made, want in pairs)
