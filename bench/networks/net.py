"""Builds ONNX graphs the way an eager framework runs: every node is executed (by onnxruntime) as it is added.

So each value's numbers are known while the network is made: batch-norm statistics are set from what really arrives,
shapes need no second calculation, and a value that is not finite stops the build at its node.
"""
import contextlib

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

ort.set_default_logger_severity(3)
LARGEST_SANE = 1e4  # no activation of a trained network is larger


class Value:
    """A named value of the graph and the array that it held while the graph was made."""

    def __init__(self, name, array):
        self.name, self.array = name, array

    @property
    def shape(self):
        return list(self.array.shape)


class Net:
    """The graph under construction. `dynamic`: dimension 0 of inputs and outputs is "N" and shapes are computed in the
    graph, as exporters spell it; otherwise batch 1 and constant shapes."""

    def __init__(self, name, opset=17, dynamic=False, seed=1):
        self.name, self.opset, self.dynamic = name, opset, dynamic
        self.rng = np.random.default_rng(seed)
        self.nodes, self.weights, self.inputs, self.outputs = [], [], [], []
        self.scopes, self.used, self.largest = [], {}, 0.0

    @contextlib.contextmanager
    def scope(self, name):
        self.scopes.append(str(name))
        yield
        self.scopes.pop()

    def unique(self, last):
        name = "/" + "/".join([*self.scopes, last])
        count = self.used[name] = self.used.get(name, -1) + 1
        return f"{name}_{count}" if count else name

    # --- values that are given

    def input(self, name, array, batch_axis=0):
        dims = list(array.shape)
        if self.dynamic:
            dims[batch_axis] = "N"
        kind = helper.np_dtype_to_tensor_dtype(array.dtype)
        self.inputs.append((helper.make_tensor_value_info(name, kind, dims), batch_axis, array))
        return Value(name, array)

    def weight(self, array, name="weight"):
        array = np.ascontiguousarray(array)
        full = self.unique(name).strip("/").replace("/", ".")
        self.weights.append(numpy_helper.from_array(array, full))
        return Value(full, array)

    def number(self, value, dtype=np.float32):
        """A Constant node, as exporters write scalars and shapes."""
        array = np.asarray(value, dtype)
        return self.op("Constant", value=numpy_helper.from_array(array))

    def normal(self, shape, std):
        return (self.rng.standard_normal(shape) * std).astype(np.float32)

    def uniform(self, shape, low, high):
        return self.rng.uniform(low, high, shape).astype(np.float32)

    def output(self, value, name, batch_axis=0):
        dims = list(value.shape)
        if self.dynamic:
            dims[batch_axis] = "N"
        value = Value(name, self.add("Identity", [value], [name], {})[0])
        kind = helper.np_dtype_to_tensor_dtype(value.array.dtype)
        self.outputs.append(helper.make_tensor_value_info(name, kind, dims))

    # --- nodes

    def op(self, kind, *inputs, outputs=1, **attributes):
        """Adds a node and runs it; returns its output, or the list of them."""
        base = self.unique(kind)
        names = [f"{base}_output_{i}" for i in range(outputs)]
        arrays = self.add(kind, inputs, names, attributes, base)
        values = [Value(name, array) for name, array in zip(names, arrays)]
        return values[0] if outputs == 1 else values

    def add(self, kind, inputs, names, attributes, node_name=""):
        present = [v for v in inputs if v is not None]
        node = helper.make_node(kind, [v.name if v else "" for v in inputs], names, node_name, **attributes)
        arrays = self.run_node(node, {v.name: v.array for v in present}, names)
        for array in arrays:
            self.check_range(node_name, array)
        self.nodes.append(node)
        return arrays

    def check_range(self, node_name, array):
        if array.dtype.kind != "f":
            return
        finite = array[np.abs(array) < 3e38]  # an attention mask adds the lowest number: that one is meant
        largest = float(np.abs(finite).max(initial=0))
        if np.isnan(array).any() or largest > LARGEST_SANE:
            raise ValueError(f"{self.name}: {node_name}: largest |x| {largest}; a trained network stays below "
                             f"{LARGEST_SANE:g}")
        self.largest = max(self.largest, largest)

    def run_node(self, node, feeds, names):
        infos = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
                 for n, a in feeds.items()]
        outs = [onnx.ValueInfoProto(name=n) for n in names]
        graph = helper.make_graph([node], "one", infos, outs)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)
        session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        return session.run(names, feeds)

    # --- shapes, as exporters compute them

    def reshape(self, x, dims, batch_at=0, per_batch=1):
        """Reshape to `dims` where entry `batch_at` is `per_batch` times the batch: with a constant, or, when dynamic,
        through Shape -> Gather -> (Mul) -> Unsqueeze -> Concat."""
        if not self.dynamic:
            return self.op("Reshape", x, self.number(dims, np.int64))
        size = self.op("Gather", self.op("Shape", x), self.number(0, np.int64), axis=0)
        if per_batch != 1:
            size = self.op("Mul", size, self.number(per_batch, np.int64))
        parts = [self.number([d], np.int64) for d in dims]
        parts[batch_at] = self.op("Unsqueeze", size, self.number([0], np.int64))
        return self.op("Reshape", x, self.op("Concat", *parts, axis=0))

    def model(self):
        graph = helper.make_graph(self.nodes, self.name, [i for i, _, _ in self.inputs], self.outputs, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8,
                                  producer_name="trine-bench")
        if model.ByteSize() < 2**31:
            onnx.checker.check_model(model)
        return model
