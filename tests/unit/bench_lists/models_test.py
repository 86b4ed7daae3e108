"""bench/models.py without a measurement: what its sums and tables say of given reports, and which networks it knows."""
import argparse
import ast
import sys
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "bench"))
import models  # noqa: E402

PEERS = ["onnxruntime", "openvino"]


def report(model, batch, threads, ours, **peers):
    return {"model": model, "batch": batch, "threads": threads, "latency_ms": {"median": ours},
            "peers": {name: {"latency_ms": {"median": ms}, "ratio": ms / ours, "max_rel_error": 1e-6}
                      for name, ms in peers.items()}}


REPORTS = [report("resnet50", 8, 1, 100, onnxruntime=150, openvino=200), report("resnet50", 8, 2, 50, openvino=200),
           report("lstm", 8, 1, 10), report("lstm", 8, 2, 8, onnxruntime=4)]


class Report(unittest.TestCase):
    def test_ratio_is_that_of_the_fastest_peer(self):
        self.assertEqual([models.ratio_of(r) for r in REPORTS], [1.5, 4, None, 0.5])

    def test_means_scaling_and_gain(self):
        reports = [dict(r) for r in REPORTS]
        reports[0]["also"] = {"precision": "bf16", "latency_ms": {"median": 50}}
        self.assertEqual(models.summary(reports, PEERS), [
            "batch 8, 1 threads: geometric mean 1.500, lowest 1.500",
            "batch 8, 2 threads: geometric mean 1.414, lowest 0.500",
            "fastest of onnxruntime, openvino over trine: geometric mean 1.442, lowest 0.500",
            "scaling from 1 to 2 threads, batch 8: resnet50 2.00, lstm 1.25",
            "gain of bf16, batch 8, 1 threads: resnet50 2.00"])

    def test_results_that_no_peer_has_are_named(self):
        wrong, half = report("vit", 8, 2, 1, onnxruntime=1, openvino=1), report("vit", 8, 1, 1, onnxruntime=1, openvino=1)
        for peer in wrong["peers"].values():
            peer["max_rel_error"] = 0.4
        half["peers"]["openvino"]["max_rel_error"] = float("nan")
        alone = report("nan", 1, 1, 1, onnxruntime=1)
        alone["peers"]["onnxruntime"]["max_rel_error"] = float("nan")
        self.assertEqual(models.parted([*REPORTS, wrong, half, alone]),
                         ["vit, batch 8, 2 threads: 4e-01", "nan, batch 1, 1 threads: nan"])

    def test_one_number_of_threads_has_no_scaling(self):
        self.assertEqual(models.scaling(REPORTS[::2]), [])

    def test_markdown(self):
        self.assertEqual(models.markdown(REPORTS, PEERS), [
            "| network | batch | 1 thread | onnxruntime | openvino | ratio | 2 threads | onnxruntime | openvino | ratio |",
            "|---" * 10 + "|",
            "| resnet50 | 8 | 100 | 150 | 200 | 1.50 | 50 | - | 200 | 4.00 |",
            "| lstm | 8 | 10 | - | - | - | 8 | 4 | - | 0.50 |"])


class Measure(unittest.TestCase):
    """Peers that fail."""

    def measure(self, peers, failures):
        answers = [models.child.Failed(["trine"], 1, text) for text in failures] + [{"peers": {}}]
        options = argparse.Namespace(trine="trine", duration=1)
        with mock.patch.object(models, "engine_for", return_value=Path("a.trn")), \
                mock.patch.object(models.child, "run_json", side_effect=answers) as run, mock.patch("builtins.print") as said:
            models.measure(options, Path("a.onnx"), 1, "fp32", peers)
        return run.call_args[0][0][-2:], [call[0][0] for call in said.call_args_list]

    def test_one_that_cannot_run_the_network_stays_for_the_next(self):
        peers = ["ncnn", "torch"]
        asked, said = self.measure(peers, ["error: ncnn: pnnx does not convert it; it cannot run this model"])
        self.assertEqual(asked, ["--against", "torch"])
        self.assertEqual(said, ["left out: ncnn: pnnx does not convert it; it cannot run this model"])
        self.assertEqual(peers, ["ncnn", "torch"])

    def test_one_that_is_not_installed_is_named_once(self):
        peers = ["ncnn", "torch"]
        asked, said = self.measure(peers, ["error: ncnn: No module named 'ncnn'; install it for python3, or set TRINE_PYTHON",
                                           "error: torch: refused; it cannot run this model"])
        self.assertNotIn("--against", asked)
        self.assertEqual(len(said), 2)
        self.assertEqual(peers, ["torch"])

    def test_our_own_failure_is_not_a_peers(self):
        with self.assertRaises(models.child.Failed):
            self.measure(["torch"], ["error: a.trn: no such file"])


class Networks(unittest.TestCase):
    def test_every_network_of_the_goal_is_made(self):
        """Read, not imported: making networks needs packages that a test of the report does not."""
        tree = ast.parse((ROOT / "bench" / "make_models.py").read_text())
        made = next(n.value for n in tree.body if isinstance(n, ast.Assign) and n.targets[0].id == "NETWORKS")
        self.assertLessEqual(set(models.GOAL), {key.value for key in made.keys})
        self.assertEqual(len(models.GOAL), 12)


if __name__ == "__main__":
    unittest.main()
