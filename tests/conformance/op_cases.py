#!/usr/bin/env python3
"""Holds the rows of tests/cases/{ops,onnx}/*.cases against onnxruntime (or, where that lacks the operator or type, against
the reference implementation of the `onnx` package).

    op_cases.py OUT [--show TEXT]     writes each row as a case for run_node_tests, with outputs made by the other side
                                      --show: prints the rows that contain TEXT with those outputs, as `gives` wants them

Prints how many rows have no other side: internal operators, and what neither implementation runs. Operands are drawn
as tests/unit/cases/op_case.h says, from a fixed seed; `within k eps` becomes an absolute tolerance of 2 k + 8 eps of the
largest element, as the other side rounds too.
"""

import argparse
import pathlib
import re
import shutil
import warnings
import zlib

import ml_dtypes
import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DTYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "bool": np.bool_,
          "string": object, "c64": np.complex64, "c128": np.complex128,
          "f8e4m3fn": ml_dtypes.float8_e4m3fn, "f8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
          "f8e5m2": ml_dtypes.float8_e5m2, "f8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
          "i4": ml_dtypes.int4, "u4": ml_dtypes.uint4, "f4e2m1": ml_dtypes.float4_e2m1fn}
DTYPES |= {f"{kind[0]}{bits}": np.dtype(f"{kind}{bits}").type for kind in ("int", "uint") for bits in (8, 16, 32, 64)}
EPSILON = {"f64": 2.0**-52, "f16": 2.0**-10, "bf16": 2.0**-7}
FLOATS = ("f32", "f64", "f16", "bf16", "f8e4m3fn", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz", "f4e2m1")


def onnx_type(name):
    return onnx.TensorProto.STRING if name == "string" else helper.np_dtype_to_tensor_dtype(np.dtype(DTYPES[name]))


def words(text):
    """Splits at spaces outside brackets."""
    out, depth, start = [], 0, None
    for i, char in enumerate(text + " "):
        depth += (char in "[{") - (char in "]}")
        if char == " " and depth == 0:
            if start is not None:
                out.append(text[start:i])
            start = None
        elif start is None:
            start = i
    return out


def split_top(text):
    return [part.strip() for part in re.findall(r'(?:\[[^\]]*\]|\{[^}]*\}|"[^"]*"|[^,])+', text)]


def number(text):
    return float(text) if text in ("nan", "inf", "-inf", "-0") or re.search(r"[.e]", text) else int(text)


def value(text):
    if re.match(r"\w+\[[\d,]*\]\{", text):
        return numpy_helper.from_array(Operand(text).draw(None))
    if text.startswith("["):
        return [value(part) for part in split_top(text[1:-1])]
    return text[1:-1] if text.startswith('"') else number(text)


def attributes(text):
    pairs = (part.partition("=") for part in split_top(text[1:-1]))
    return {name.strip(): value(rest.strip()) for name, _, rest in pairs}


class Operand:
    def __init__(self, word):
        dtype, dims, self.suffix = re.fullmatch(r"(\w+)\[([^\]]*)\](.*)", word).groups()
        self.dtype = dtype
        parts = [d for d in dims.split(",") if d]
        self.declared = [d.split("=")[0] if "=" in d else int(d) for d in parts]
        self.dims = [int(d.split("=")[-1]) for d in parts]

    def draw(self, rng):
        kind = DTYPES[self.dtype]
        if self.suffix.startswith("{"):
            given = [value(part) for part in split_top(self.suffix[1:-1])] if len(self.suffix) > 2 else []
            if kind is object:
                return np.array(given, object).reshape(self.dims)
            if self.dtype not in FLOATS:
                return np.array([int(v) & (2**64 - 1) if self.dtype == "u64" else int(v) for v in given],
                                np.uint64 if self.dtype == "u64" else np.int64).astype(kind).reshape(self.dims)
            return np.array(given, np.float64).astype(kind).reshape(self.dims)
        if self.dtype in FLOATS:
            drawn = rng.normal(size=self.dims)
            return (np.abs(drawn) + 0.1 if self.suffix == ">0" else drawn).astype(kind)
        if self.suffix.startswith("<"):
            return rng.integers(0, int(self.suffix[1:]), self.dims).astype(kind)
        if self.dtype == "bool":
            return rng.integers(0, 2, self.dims).astype(kind)
        drawn = rng.integers(1, 10, self.dims)
        unsigned = self.suffix == ">0" or self.dtype.startswith("u")
        return (drawn if unsigned else drawn * rng.choice([-1, 1], self.dims)).astype(kind)


class Row:
    def __init__(self, where, text):
        self.where, self.text = where, text
        body = re.split(r" (?:gives|error:) ", text[: text.index(" # ")])[0]
        rest = words(body)
        self.is_error = " error:" in text
        self.differs = "unlike onnxruntime" in text  # on purpose; such a row says what it `gives`
        self.op, rest = rest[0], rest[1:]
        self.operands, self.attrs, self.outputs, self.eps = [], {}, 1, 0.0
        while rest:
            word = rest.pop(0)
            if word == "exact":
                break
            if word == "within":
                self.eps = float(rest[0])
                break
            if word == "outputs":
                self.outputs = int(rest.pop(0))
            elif word.startswith("{"):
                self.attrs = attributes(word)
            else:
                self.operands.append(None if word == "_" else Operand(word))


def rows():
    for path in sorted((ROOT / "tests/cases").glob("o[pn]*/*.cases")):
        for line, text in enumerate(path.read_text().splitlines(), 1):
            if text and not text.startswith("#"):
                yield Row(f"{path.stem}_{line}", text)


def operator_names():
    """snake_case -> (domain, name), by the letters or as src/ops pairs them."""
    names = {}
    for path in (ROOT / "src/ops").rglob("*.cc"):
        text = path.read_text()
        for domain, name in re.findall(r'"(com\.microsoft|ai\.onnx\.ml):(\w+)"', text):
            names[name.lower()] = (domain, name)
        for ours, domain, name in re.findall(r'\.name = "(\w+)",\s*\.onnx = "(?:([\w.]+):)?(\w+)"', text):
            names[ours.replace("_", "")] = (domain, name)
    for schema in onnx.defs.get_all_schemas():
        if schema.domain == "":
            names[schema.name.lower()] = ("", schema.name)
        else:
            names.setdefault(schema.name.lower(), (schema.domain, schema.name))
    return names


def model_of(row, domain, name, opset):
    attrs = dict(row.attrs)
    if domain in ("", "ai.onnx.ml"):
        schema = onnx.defs.get_schema(name, opset if not domain else 5, domain)
        for key, given in attrs.items():
            kind = schema.attributes[key].type if key in schema.attributes else None
            if kind == onnx.defs.OpSchema.AttrType.INT and isinstance(given, str):
                attrs[key] = onnx_type(given)
            elif kind == onnx.defs.OpSchema.AttrType.FLOAT:
                attrs[key] = float(given)
            elif kind == onnx.defs.OpSchema.AttrType.FLOATS:
                attrs[key] = [float(v) for v in given]
    inputs = [f"x{i}" if o else "" for i, o in enumerate(row.operands)]
    outputs = [f"y{i}" for i in range(row.outputs)]
    node = helper.make_node(name, inputs, outputs, domain=domain, **attrs)
    types = [helper.make_tensor_value_info(i, onnx_type(o.dtype), o.declared) for i, o in zip(inputs, row.operands) if o]
    results = [helper.make_empty_tensor_value_info(o) for o in outputs]
    opsets = [helper.make_opsetid("", opset)]
    if domain:
        opsets.append(helper.make_opsetid(domain, 1 if domain == "com.microsoft" else 5))
    return helper.make_model(helper.make_graph([node], "row", types, results), opset_imports=opsets, ir_version=12)


def typed(array):
    return onnx.TensorProto.STRING if array.dtype == object else helper.np_dtype_to_tensor_dtype(array.dtype)


def by_onnxruntime(model, feeds):
    typed_model = onnx.shape_inference.infer_shapes(model)
    # A type that numpy lacks arrives as bytes.
    kinds = {"float8e4m3fn": "f8e4m3fn", "float8e4m3fnuz": "f8e4m3fnuz", "float8e5m2": "f8e5m2",
             "float8e5m2fnuz": "f8e5m2fnuz", "bfloat16": "bf16"}
    unknown = {o.name for o in typed_model.graph.output if not o.type.tensor_type.elem_type}
    problem = None
    for guess in (model.graph.input[0].type.tensor_type.elem_type, onnx_type("f32"), onnx_type("u8"), onnx_type("i8")):
        for output in typed_model.graph.output:  # of a contrib operator nothing is inferred
            if output.name in unknown:
                output.type.tensor_type.elem_type = guess
        try:
            session = ort.InferenceSession(typed_model.SerializeToString(), quiet(), providers=["CPUExecutionProvider"])
        except Exception as e:
            problem = e
            continue
        types = [kinds.get(o.type.removeprefix("tensor(").removesuffix(")")) for o in session.get_outputs()]
        return [v.view(DTYPES[t]) if t else v for t, v in zip(types, session.run(None, feeds))]
    raise problem


def quiet():
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return options


def by_onnx(model, feeds):
    """A reference that computes in f64 may forget to come back."""
    doubles = any(v.dtype == np.float64 for v in feeds.values())
    results = [np.asarray(v) for v in ReferenceEvaluator(model).run(None, feeds)]
    return [v if doubles or v.dtype != np.float64 else v.astype(np.float32) for v in results]


def other_side(model, feeds):
    reasons = []
    for run in (by_onnxruntime, by_onnx):
        try:
            return [np.asarray(v) for v in run(model, feeds)]
        except Exception as problem:  # whatever the other side raises means that it cannot do this
            reasons.append(str(problem).splitlines()[0] if str(problem) else type(problem).__name__)
    raise NotImplementedError("; ".join(reasons))


def write(folder, model, feeds, results):
    folder.mkdir(parents=True)
    for info, array in zip(model.graph.output, results):
        info.CopyFrom(helper.make_tensor_value_info(info.name, typed(array), array.shape))
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    for kind, infos, arrays in (("input", model.graph.input, feeds.values()), ("output", model.graph.output, results)):
        for j, (info, array) in enumerate(zip(infos, arrays)):
            proto = numpy_helper.from_array(array, info.name)
            (folder / f"0_{kind}_{j}.pb").write_bytes(proto.SerializeToString())


def tolerance(row, results):
    """eps of the row's coarsest output type, times its largest finite element."""
    largest, eps = 0.0, 2.0**-23
    for array in results:
        name = {np.dtype(k).name: n for n, k in DTYPES.items()}.get(array.dtype.name, "")
        if name not in FLOATS:
            continue
        numbers = np.abs(array.astype(np.float64))
        largest = max([largest, *numbers[np.isfinite(numbers)].ravel().tolist()])
        eps = EPSILON.get(name, eps)
    return 0.0 if row.eps == 0 else (2 * row.eps + 8) * eps * largest


def literal(array):
    name = {np.dtype(k).name: n for n, k in DTYPES.items()}[array.dtype.name]
    def text(v):
        if array.dtype == object:
            return f'"{v}"'
        if name == "bool" or not (name in FLOATS):
            return str(int(v))
        return repr(int(v)) if np.isfinite(v) and v == int(v) and not (v == 0 and np.signbit(v)) else (
            "-0" if v == 0 else np.format_float_positional(v, unique=True, trim="-") if name == "f32" and np.isfinite(v)
            else repr(float(v)))
    return f"{name}[{','.join(map(str, array.shape))}]{{{','.join(text(v) for v in array.ravel())}}}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--show", default="")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    shutil.rmtree(options.out, ignore_errors=True)
    options.out.mkdir(parents=True)
    names, lines, alone = operator_names(), [], []
    for row in rows():
        if row.is_error or row.differs:
            continue
        known = names.get(row.op.replace("_", ""))
        opset = onnx.defs.onnx_opset_version()
        if "@" in row.op:  # of tests/cases/onnx
            known, opset = ("", row.op.split("@")[0]), int(row.op.split("@")[1])
        if not known:
            alone.append(f"{row.where}: {row.op}: no ONNX operator")
            continue
        rng = np.random.default_rng(zlib.crc32(row.text.encode()))
        feeds = {f"x{i}": o.draw(rng) for i, o in enumerate(row.operands) if o}
        try:
            model = model_of(row, *known, opset)
            results = other_side(model, feeds)
        except Exception as problem:
            alone.append(f"{row.where}: {row.op}: {problem}")
            continue
        if options.show and options.show in row.text:
            print(row.text, "\n    gives", " ".join(literal(a) for a in results))
        write(options.out / row.where, model, feeds, results)
        lines.append(f"{row.where}\t{known[1]}\t0\t{tolerance(row, results)}\t1\n")
    (options.out / "operators.txt").write_text("")
    (options.out / "alone.txt").write_text("\n".join(alone) + "\n")
    (options.out / "cases.txt").write_text(f"# onnxruntime {ort.__version__}\n" + "".join(lines))
    print(f"operator rows: {len(lines)} have another side, {len(alone)} have none ({options.out}/alone.txt)")


if __name__ == "__main__":
    main()
