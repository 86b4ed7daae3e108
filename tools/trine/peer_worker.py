# The other side of peers.cc: one JSON object a line in, one out. Tensors travel as .npy files.
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import time


class OnnxRuntime:
    def __init__(self, path, threads):
        import onnxruntime as ort
        self.version = ort.__version__
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self.session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self.names = [o.name for o in self.session.get_outputs()]

    def prepare(self, feeds):
        self.feeds = feeds

    def run(self):
        return self.session.run(None, self.feeds)


class OpenVino:
    def __init__(self, path, threads):
        import openvino as ov
        self.version = ov.__version__
        core = ov.Core()
        self.model = core.compile_model(core.read_model(path), "CPU", {
            "INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"})
        self.names = [o.get_names() for o in self.model.outputs]  # it drops Identity: one tensor, several names

    def prepare(self, feeds):
        self.feeds = feeds

    def run(self):
        result = self.model(self.feeds)
        return [result[o] for o in self.model.outputs]


class Torch:
    def __init__(self, path, threads):
        import onnx
        import torch
        from onnx2torch import convert
        self.torch, self.version = torch, torch.__version__
        torch.set_num_threads(threads)
        model = onnx.load(path)
        weights = {i.name for i in model.graph.initializer}
        self.inputs = [i.name for i in model.graph.input if i.name not in weights]
        self.names = [o.name for o in model.graph.output]
        self.model = convert(model).eval()

    def prepare(self, feeds):
        self.args = [self.torch.from_numpy(feeds[name].copy()) for name in self.inputs]

    def run(self):
        with self.torch.inference_mode():
            out = self.model(*self.args)
        return [o.numpy() for o in (out if isinstance(out, (list, tuple)) else [out])]


# ncnn reads a format of its own. pnnx writes it from the ONNX file, and beside it a program that says which dimension of
# each tensor counts samples.
class Ncnn:
    def __init__(self, path, threads):
        import ncnn
        import onnx
        self.ncnn, self.version = ncnn, ncnn.__version__
        with tempfile.TemporaryDirectory() as folder:
            program = self.convert(path, folder)
            self.net = ncnn.Net()
            self.net.opt.num_threads = threads
            for option in ("use_fp16_packed", "use_fp16_storage", "use_fp16_arithmetic", "use_bf16_storage"):
                setattr(self.net.opt, option, False)
            self.net.load_param(os.path.join(folder, "model.ncnn.param"))
            self.net.load_model(os.path.join(folder, "model.ncnn.bin"))
        self.batch_in = [int(i) for i in re.findall(r"in\d+\.numpy\(\), batch_index=(\d+)", program)]
        self.batch_out = [int(i) for i in re.findall(r"out\d+\.numpy\(batch_index=(\d+)", program)]
        graph = onnx.load(path, load_external_data=False).graph
        weights = {i.name for i in graph.initializer}
        self.inputs = [i.name for i in graph.input if i.name not in weights]
        self.names = [o.name for o in graph.output]

    def convert(self, path, folder):
        found = importlib.util.find_spec("pnnx")
        if not found:
            raise ImportError("No module named 'pnnx'")
        model = os.path.join(folder, "model.onnx")
        os.symlink(os.path.abspath(path), model)
        pnnx = os.path.join(found.submodule_search_locations[0], "pnnx")
        status = subprocess.run([pnnx, model, "fp16=0"], stdin=subprocess.DEVNULL, capture_output=True).returncode
        program = os.path.join(folder, "model_ncnn.py")
        if status or not os.path.exists(program):
            raise RuntimeError(f"pnnx does not convert it (exit status {status})")
        with open(program) as text:
            return text.read()

    def prepare(self, feeds):
        arrays = [feeds[name] for name in self.inputs]
        arrays = [a.astype("int32") if a.dtype.kind == "i" else a for a in arrays]
        self.mats = [self.ncnn.Mat(a.copy(), batch_index=b).clone() for a, b in zip(arrays, self.batch_in, strict=True)]

    def run(self):
        extractor = self.net.create_extractor()
        for i, mat in enumerate(self.mats):
            extractor.input(f"in{i}", mat)
        results = [extractor.extract(f"out{i}") for i in range(len(self.names))]
        if any(status for status, _ in results):
            raise RuntimeError("extract failed")
        return [mat.numpy(batch_index=b).copy() for (_, mat), b in zip(results, self.batch_out, strict=True)]


KINDS = {"onnxruntime": OnnxRuntime, "openvino": OpenVino, "ncnn": Ncnn, "torch": Torch}


# Without importing them: that takes seconds.
def versions():
    from importlib import metadata
    found = {}
    for name in ("numpy", *KINDS):
        if importlib.util.find_spec(name):
            try:
                found[name] = metadata.version(name)
            except metadata.PackageNotFoundError:  # onnxruntime-gpu, for one
                found[name] = "of unknown version"
    return found


def serve(question, state):
    if question["do"] == "versions":
        return {"versions": versions()}
    import numpy as np  # here, so that a Python without it can say so
    if question["do"] == "open":
        peer = state["peer"] = KINDS[question["runtime"]](question["model"], question["threads"])
        peer.prepare({name: np.load(path) for name, path in question["inputs"].items()})
        peer.run()
        return {"version": peer.version}
    if question["do"] == "run":
        times = []
        for _ in range(question["times"]):
            begin = time.perf_counter()
            state["peer"].run()
            times.append((time.perf_counter() - begin) * 1e3)
        return {"ms": times}
    files = {}
    for number, (names, value) in enumerate(zip(state["peer"].names, state["peer"].run())):
        if isinstance(value, np.ndarray):
            path = os.path.join(question["folder"], f"output{number}.npy")
            np.save(path, np.asarray(value, order="C"))
            files |= {name: path for name in ([names] if isinstance(names, str) else names)}
    return {"outputs": files}


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints does not get between the answers
    state = {}
    for line in sys.stdin:
        try:
            answer = serve(json.loads(line), state)
        except ImportError as error:
            answer = {"missing": str(error)}
        except Exception as error:  # the runtime's own refusal is an answer too
            answer = {"error": f"{type(error).__name__}: {error}".splitlines()[0][:500]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


main()
