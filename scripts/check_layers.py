#!/usr/bin/env python3
"""Holds every #include to the layer order of the design.

    scripts/check_layers.py              checks the repository; exits 1 with `file:line: what; what is accepted`
    scripts/check_layers.py --root DIR   checks another tree
    scripts/check_layers.py --self-test  makes a small tree, turns one include at a time the wrong way, expects each found

The rules:
  * a folder of src/ includes only itself, `base`, and the folders that MAY_INCLUDE reaches (transitively);
  * a public header (include/trine/) includes only public headers, of its own layer or one it may reach;
  * nothing includes backends/ from outside: backends register themselves; one backend does not include another;
  * libtrine_rt's kernels do not include those that only users of dnn call (backends/cpu/primitives);
  * what the lean runtime holds does not reach into what it must do without (engine/build, codegen/llvm);
  * tools, bench, examples and python see public headers only;
  * a third-party library is seen only where it belongs.
"""
import argparse
import re
import sys
import tempfile
from pathlib import Path

# Folder of src/ -> folders that it may include; `base` is always allowed, and what a folder may include it may reach through.
MAY_INCLUDE = {
    "base": [],
    "graph": [],
    "compute": [],
    "codegen": ["graph", "compute"],
    "ops": ["graph", "codegen"],
    "dnn": ["ops", "codegen", "compute"],
    "backends": ["dnn", "codegen", "compute", "simt"],
    "simt": ["compute", "codegen"],
    "cudart": ["simt", "compute"],
    "import": ["graph", "ops"],
    "passes": ["graph", "ops"],
    "plan": ["graph", "dnn", "compute"],
    "engine": ["plan", "compute"],
    "engine/build": ["engine", "import", "passes"],
    "quant": ["engine/build", "passes", "graph"],
    "train": ["engine/build", "passes", "graph"],
    "serve": ["engine/build"],
}
# Folders whose code sits in a library of its own: included only from within, or by the folders listed.
CLOSED = {
    "backends/cpu/primitives": [],
    "backends": [],
    "codegen/llvm": [],
    "codegen/cuda": ["plan"],
    "simt/compile": [],
    "engine/build": ["quant", "train", "serve"],
}
OUTSIDE = ["tools", "bench", "examples", "python"]  # see public headers only
INSIDE = ["bench/dnn/", "bench/gpu/"]  # time kernel rows, which have no public headers yet
# Top folder -> folders, besides include/ and src/, that its includes are written from.
OWN_ROOTS = {"tools": ["tools"], "bench": ["bench/dnn", "bench/compute", "bench/gpu"], "examples": ["tools", "examples"], "tests": ["tools", "tests", "tests/unit/import", "bench/dnn"]}
GENERATED = ["peer_worker.h"]  # made in the build folder, as are *_generated.h (flatc)
# Third-party include prefix -> where it may stand (path prefixes).
THIRD_PARTY = {
    "llvm/": ["src/codegen/llvm", "src/simt"],
    "llvm-c/": ["src/codegen/llvm", "src/simt"],
    "clang/": ["src/simt"],
    "protozero/": ["src/import", "tools/trine", "tests"],
    "boost/": ["src/serve", "tests"],
    "CLI/": ["tools", "bench/compute"],
    "nlohmann/": ["tools", "src/serve", "bench", "tests"],
    "iostream": ["tools", "bench", "examples", "tests"],
    "omp.h": ["bench/compute/loops"],
    "Eigen/": [],
    "google/protobuf/": [],
    "opencv2/": [],
}
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')
SOURCES = {".h", ".cc", ".inc"}


def reachable(folder):
    """Every folder that `folder` may include."""
    seen, todo = {folder, "base"}, [folder]
    while todo:
        for other in MAY_INCLUDE[todo.pop()]:
            if other not in seen:
                seen.add(other)
                todo.append(other)
    return seen


def layer_of(path):
    """`engine/build/verify.cc` -> `engine/build`; `ops/softmax.cc` -> `ops`; None for an unknown folder."""
    parts = path.split("/")
    two = "/".join(parts[:2])
    return two if two in MAY_INCLUDE else parts[0] if parts[0] in MAY_INCLUDE else None


def closed_folder(path):
    return next((c for c in CLOSED if path.startswith(c + "/")), None)


class Checker:
    def __init__(self, root):
        self.root = root
        self.errors = []

    def run(self):
        for top in ["include", "src", *OUTSIDE, "tests"]:
            for path in sorted((self.root / top).rglob("*")):
                if path.suffix in SOURCES and path.is_file():
                    self.check_file(path)
        return self.errors

    def check_file(self, path):
        where = path.relative_to(self.root).as_posix()
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            problem = self.problem(path, where, match[1] == '"', match[2])
            if problem:
                self.errors.append(f'{where}:{number}: includes "{match[2]}"; {problem}')

    def problem(self, path, where, quoted, name):
        for prefix, places in THIRD_PARTY.items():
            if name == prefix or (prefix.endswith("/") and name.startswith(prefix)):
                allowed = any(where.startswith(place + "/") for place in places)
                return None if allowed else f"allowed only in {', '.join(places) or 'no folder of this project'}"
        if not quoted:
            return None
        top = where.split("/")[0]
        if any((self.root / folder / name).is_file() for folder in OWN_ROOTS.get(top, [])):
            return None
        if name.startswith("trine/"):
            return self.problem_public(where, name)
        if (self.root / "src" / name).is_file():
            return self.problem_internal(where, name)
        if (path.parent / name).resolve().is_file():
            return self.problem_local(path, name)
        return None if name.endswith("_generated.h") or name in GENERATED else "no such file"

    def problem_public(self, where, name):
        if not (self.root / "include" / name).is_file():
            return "no such file"
        layer = name.split("/")[1]
        mine = self.mine(where)
        if mine is None or layer.endswith(".h"):
            umbrella_inside = layer.endswith(".h") and where.startswith("src/") and layer != "c.h"
            return "src includes the single headers, not the umbrella" if umbrella_inside else None
        return None if layer in reachable(mine) else self.wrong_way(mine, layer)

    def problem_internal(self, where, name):
        top = where.split("/")[0]
        if top == "tests":
            return None
        if top == "include":
            return "a public header includes public headers only"
        if where.startswith(tuple(INSIDE)):
            return None
        if top in OUTSIDE:
            return f"{top}/ includes public headers only (trine/...)"
        source = where[len("src/"):]
        closed = closed_folder(name)
        if closed and not source.startswith(closed + "/") and layer_of(source) not in CLOSED[closed]:
            return f"nothing outside includes {closed}/"
        if closed == "backends" and source.split("/")[1] != name.split("/")[1] and name.count("/") > 1:
            return "one backend does not include another"
        mine, theirs = layer_of(source), layer_of(name)
        if mine is None or theirs is None:
            return "unknown folder; name it in MAY_INCLUDE"
        return None if theirs in reachable(mine) else self.wrong_way(mine, theirs)

    def problem_local(self, path, name):
        """A path relative to the file: it must stay in the file's folder, else it could go around the rules."""
        inside = (path.parent / name).resolve().is_relative_to(path.parent.resolve())
        return None if inside else "write the path from src/ or include/"

    def mine(self, where):
        if where.startswith("src/"):
            return layer_of(where[len("src/"):])
        if where.startswith("include/trine/") and where.count("/") > 2:
            return where.split("/")[2]
        return None  # the umbrella, tests, tools: may see every public header

    @staticmethod
    def wrong_way(mine, theirs):
        return f"{mine} may include {', '.join(sorted(reachable(mine) - {mine}))}; {theirs} comes later or lies beside it"


def self_test():
    """One right tree, then one wrong include at a time; each must be found at its line, and only it."""
    right = {
        "include/trine/trine.h": '#include "trine/base/dim.h"\n#include "trine/engine/engine.h"\n',
        "include/trine/base/dim.h": "#include <vector>\n",
        "include/trine/engine/engine.h": '#include "trine/base/dim.h"\n',
        "src/graph/graph.h": '#include "trine/base/dim.h"\n',
        "src/ops/softmax.cc": '#include "graph/graph.h"\n',
        "src/dnn/conv.h": '#include "ops/shared.h"\n',
        "src/ops/shared.h": '#include "graph/graph.h"\n',
        "src/backends/cpu/conv.cc": '#include "dnn/conv.h"\n#include "backends/cpu/kernel.h"\n',
        "src/backends/cpu/kernel.h": "",
        "src/backends/null/driver.h": "",
        "src/codegen/llvm/emit.h": "#include <llvm/IR/IRBuilder.h>\n",
        "src/codegen/loop.h": '#include "graph/graph.h"\n',
        "src/import/onnx/read.cc": '#include "ops/shared.h"\n',
        "src/passes/fold.h": "",
        "src/engine/session.cc": '#include "trine/engine/engine.h"\n',
        "src/engine/build/build.cc": '#include "passes/fold.h"\n',
        "tools/trine/main.cc": '#include "trine/trine.h"\n#include "table.h"\n#include <CLI/CLI.hpp>\n',
        "tools/trine/table.h": '#include "media/image.h"\n',
        "tools/media/image.h": "",
        "tests/unit/graph/graph_test.cc": '#include "graph/graph.h"\n',
    }
    wrong = [
        ("src/graph/graph.h", '"ops/shared.h"'),
        ("src/ops/softmax.cc", '"dnn/conv.h"'),
        ("src/dnn/conv.h", '"backends/cpu/kernel.h"'),
        ("src/backends/cpu/conv.cc", '"backends/null/driver.h"'),
        ("src/backends/cpu/conv.cc", '"passes/fold.h"'),
        ("src/codegen/loop.h", '"codegen/llvm/emit.h"'),
        ("src/codegen/loop.h", "<llvm/IR/Module.h>"),
        ("src/import/onnx/read.cc", '"dnn/conv.h"'),
        ("src/passes/fold.h", '"import/onnx/missing.h"'),
        ("src/engine/session.cc", '"passes/fold.h"'),
        ("src/ops/softmax.cc", '"trine/engine/engine.h"'),
        ("include/trine/base/dim.h", '"trine/engine/engine.h"'),
        ("include/trine/engine/engine.h", '"graph/graph.h"'),
        ("tools/trine/main.cc", '"graph/graph.h"'),
        ("tools/trine/main.cc", '"../../src/graph/graph.h"'),
        ("src/ops/softmax.cc", "<iostream>"),
        ("src/ops/softmax.cc", '"media/image.h"'),
    ]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)

        def write(files):
            for name, text in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)

        write(right)
        errors = Checker(root).run()
        assert errors == [], f"the right tree: {errors}"
        for name, include in wrong:
            write({name: right[name] + f"#include {include}\n"})
            errors = Checker(root).run()
            line = right[name].count("\n") + 1
            assert len(errors) == 1 and errors[0].startswith(f"{name}:{line}: "), f"{name} + {include}: {errors}"
            write({name: right[name]})
    print(f"check_layers: self-test passed ({len(wrong)} wrong includes found)")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        self_test()
        return 0
    errors = Checker(options.root).run()
    print("\n".join(errors) if errors else "check_layers: every include points the right way")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
