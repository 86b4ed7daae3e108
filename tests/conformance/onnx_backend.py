#!/usr/bin/env python3
"""Writes every backend node test case of the installed `onnx` package as files, for run_node_tests.

    onnx_backend.py OUT          ->  OUT/cases.txt                     name <tab> rtol <tab> atol <tab> data sets
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


def main():
    out = pathlib.Path(sys.argv[1])
    listing = out / "cases.txt"
    head = f"# onnx {onnx.__version__}\n"
    if listing.exists() and listing.read_text().startswith(head):
        return
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    lines = []
    for case in sorted(load_model_tests(kind="node"), key=lambda case: case.name):
        write_case(out / case.name, case)
        lines.append(f"{case.name}\t{case.rtol}\t{case.atol}\t{len(case.data_sets)}\n")
    listing.write_text(head + "".join(lines))


if __name__ == "__main__":
    main()
