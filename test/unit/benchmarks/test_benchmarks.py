# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The benchmarks on a network of a few layers: that they measure, not what."""

import json
import os

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from benchmarks import measuring, models, targets
from benchmarks.__main__ import main
from benchmarks.results import Measurement, Results


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TORQ_E2E_CACHE", str(tmp_path / "models"))
    monkeypatch.setattr(measuring, "QUICK", measuring.Effort(2, 0.0))
    monkeypatch.setattr(measuring, "copy_bandwidth", lambda: 1e10)


def test_measures_a_tiny_network(tmp_path, capsys):
    peers = "torq,ort-u8,ort-float,torq-iree"
    file = tmp_path / "results.json"
    assert main(["--models", "tiny", "--peers", peers, "--threads", "1", "--quick", "--json", str(file)]) == 0
    values = json.loads(file.read_text())
    measured = {each["peer"]: each for each in values["measurements"]}
    assert measured.keys() >= {"torq", "ort-u8", "ort-float"}
    for each in measured.values():
        assert each["minimum"] <= each["median"]
        assert each["products"] == 16 * 16 * 16 * 9 * (3 + 16) + 160
        assert each["agreement"] > 0.9
    assert measured["torq"]["ratios"] == [1, 1]
    assert measured["torq"]["details"]["arena_bytes"] > 0
    assert 0 < measured["torq"]["details"]["convolutions_3x3_of_peak"] < 2
    assert ("torq-iree" in measured) != ("torq-iree: iree.compiler is not installed" in values["skipped"])
    printed = capsys.readouterr().out
    assert "ort-u8" in printed
    assert "GMAC/s on 1" in printed


def measured(peer: str, seconds: float, threads: int = 1, **details: float) -> Measurement:
    return Measurement("resnet50", peer, "form", threads, seconds, seconds, 5, 1.0, 0, 4_000_000_000, 1.0, details)


def test_a_missed_target_is_named():
    results = Results({1: 100.0, 2: 200.0}, 1e10)
    results.measurements = [
        measured("torq", 0.010, convolutions_3x3_of_peak=0.9),
        measured("openvino", 0.008),
        measured("ort-u8", 0.012),
        measured("torq", 0.005, threads=2),
    ]
    outcomes = {outcome.name: outcome for outcome in targets.outcomes(results)}
    missed = outcomes["resnet50, time of openvino / ours"]
    assert missed.missed
    assert str(missed) == "missed by 20.0% resnet50, time of openvino / ours: 0.8, 1 wanted"
    assert str(outcomes["resnet50, time of ort-u8 / ours"]).startswith("reached")
    assert str(outcomes["resnet50, two threads to one"]).startswith("reached")
    assert str(outcomes["vgg19, time of openvino / ours"]).startswith("not measured")
    assert sum(outcome.missed for outcome in outcomes.values()) == 1


def test_table_of_a_page():
    results = Results({1: 100.0, 2: 200.0}, 1e10)
    results.measurements = [measured("torq", 0.010), measured("openvino", 0.015), measured("torq", 0.005, threads=2)]
    assert results.markdown().splitlines()[2:] == [
        "| resnet50 | 1 | 10.00 | 1.50 | 400 | 400% |  |",
        "| resnet50 | 2 | 5.00 |  | 800 | 400% |  |",
    ]
    results.measurements = [measured("torq", 0.010, weight_bytes=9e7)]
    assert results.markdown().splitlines()[2:] == ["| resnet50 | 1 | 10.00 | 400 | 400% | 90% |"]


def test_functions_take_turns():
    order = []
    times = measuring.take_turns(
        {name: lambda name=name: order.append(name) for name in "abc"}, measuring.Effort(4, 0.0)
    )
    assert all(each.minimum <= each.median for each in times.values())
    assert len({len(each.seconds) for each in times.values()}) == 1
    turns = [name for position, name in enumerate(order) if position == 0 or order[position - 1] != name]
    assert "".join(turns).endswith("abc" + "bca" + "cab" + "abc")


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="threads cannot be pinned here")
def test_threads_are_pinned():
    before = os.sched_getaffinity(0)
    with measuring.pinned(1):
        assert len(os.sched_getaffinity(0)) == 1
    assert os.sched_getaffinity(0) == before


def test_memory():
    with measuring.Memory() as memory:
        np.ones(50_000_000, np.uint8)
    assert 45e6 < memory.bytes < 70e6


def test_products_of_a_network():
    weights = [numpy_helper.from_array(np.zeros((6, 2, 3, 3), np.float32), "w")]
    nodes = [helper.make_node("Conv", ["x", "w"], ["y"], group=2)]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4, 5, 5])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "graph", [x], [y], weights)
    assert models.products(helper.make_model(graph)) == 6 * 3 * 3 * (2 * 3 * 3)


def test_plot(tmp_path):
    pytest.importorskip("matplotlib")
    results = Results({1: 100.0}, 1e10, [measured("torq", 0.010), measured("openvino", 0.008)])
    results.plot(tmp_path / "chart.png")
    assert (tmp_path / "chart.png").read_bytes()[1:4] == b"PNG"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--models", "resnet51"], "there is no resnet51; there are resnet50, "),
        (["--peers", "torq,tf"], "there is no tf; there are torq, "),
        (["--threads", "0"], "'0' is not a list of positive numbers"),
    ],
)
def test_wrong_command_lines(arguments, message, capsys):
    with pytest.raises(SystemExit) as exit_:
        main(arguments)
    assert exit_.value.code == 2
    assert message in capsys.readouterr().err
