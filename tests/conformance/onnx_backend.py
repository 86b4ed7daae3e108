#!/usr/bin/env python3
"""Writes every backend node test case of the installed `onnx` package as files, for run_node_tests.

    onnx_backend.py OUT          ->  OUT/cases.txt                     name, operator, rtol, atol, data sets (tabs between)
                                     OUT/operators.txt                 operator, versions
                                     OUT/<name>/model.onnx
                                     OUT/<name>/<set>_input_<j>.pb     TensorProto, SequenceProto or OptionalProto,
                                     OUT/<name>/<set>_output_<j>.pb    as the model's input or output says

OUT/cases.txt is written last: a finished folder made by the same onnx version is kept.
"""

import pathlib
import sys
import warnings

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests


def to_bytes(value, value_info):
    kind = value_info.type.WhichOneof("value")
    name = value_info.name
    if kind == "sequence_type":
        return numpy_helper.from_list(list(value), name).SerializeToString()
    if kind == "optional_type":
        return numpy_helper.from_optional(value, name).SerializeToString()
    if kind == "map_type":
        return numpy_helper.from_dict(value, name).SerializeToString()
    if isinstance(value, onnx.TensorProto):
        return value.SerializeToString()
    return numpy_helper.from_array(np.asarray(value), name).SerializeToString()


def write_case(folder, case):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())
    for number, (inputs, outputs) in enumerate(case.data_sets):
        for kind, values, infos in (("input", inputs, case.model.graph.input),
                                    ("output", outputs, case.model.graph.output)):
            for j, value in enumerate(values):
                (folder / f"{number}_{kind}_{j}.pb").write_bytes(to_bytes(value, infos[j]))


def key(domain, name):
    return f"{domain}:{name}" if domain else name


def write_operators(path):
    versions = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        versions.setdefault(key(schema.domain, schema.name), []).append(schema.since_version)
    path.write_text("".join(f"{name}\t{' '.join(map(str, sorted(versions[name])))}\n" for name in sorted(versions)))


def main():
    out = pathlib.Path(sys.argv[1])
    listing = out / "cases.txt"
    head = f"# onnx {onnx.__version__}\n"
    if listing.exists() and listing.read_text().startswith(head):
        return
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    lines, operators = [], {}  # an expanded function is a case of the operator it stands for
    for case in sorted(load_model_tests(kind="node"), key=lambda case: case.name):
        write_case(out / case.name, case)
        first = case.model.graph.node[0]
        operators[case.name] = key(first.domain, first.op_type)
        operator = operators.get(case.name.split("_expanded")[0], operators[case.name])
        lines.append(f"{case.name}\t{operator}\t{case.rtol}\t{case.atol}\t{len(case.data_sets)}\n")
    write_operators(out / "operators.txt")
    listing.write_text(head + "".join(lines))


if __name__ == "__main__":
    main()
