# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The harness finds what is wrong, and says so."""

import importlib
import json
from pathlib import Path

import numpy as np
import pytest
from torch_mlir import ir

from e2e import __main__ as command
from e2e.backends import Backend
from e2e.checks import Report, check_same_operations, last_layers
from e2e.compiled import Compiled
from e2e.graph import QuantizedGraph
from e2e.layerwise import LayerComparison, from_storage, to_storage
from e2e.metrics import agreement, cosine, sqnr_db
from e2e.models.catalog import model_inputs, quantized_model
from e2e.reference import Reference
from e2e.runner import Status, judge, run_all
from e2e.structure import body, function_of, interior_float_operations, undeclared_float_operations
from torq_mlir.dialects import elements

MODEL = "residual_block"


def compared(mutate, name: str = MODEL) -> list[str]:
    """Failures of the comparison of a model whose compiled module `mutate` has changed."""
    model = quantized_model(name, "qdq-per-channel")
    graph = QuantizedGraph(model)
    compiled = Compiled(model)
    mutate(compiled)
    layers = LayerComparison(compiled, graph)
    (sample,) = model_inputs(model, name, 1)
    return [f"{layer} is not computed" for layer in layers.unreached()] + layers.run(
        Reference(graph).run(sample)
    ).failures


def operations(compiled: Compiled, name: str) -> list[ir.Operation]:
    return [operation for operation in body(function_of(compiled.module)) if operation.name == name]


def replace_scale_bias(operation: ir.Operation, change) -> None:
    """Gives an operation other (bias, multiplier) pairs: `change` gets and returns an i32 array [channels, 2]."""
    value = operation.operands[2]
    pairs = change(elements.constant_value(value).reshape(-1, 2).astype(np.int64)).astype(np.int32)
    with operation.context, operation.location, ir.InsertionPoint(operation):
        constant = ir.Operation.create(
            "arith.constant", [value.type], attributes={"value": elements.from_numpy(pairs.reshape(-1))}
        )
    operation.operands[2] = constant.result


def test_unchanged_module_has_no_failures():
    assert compared(lambda compiled: None) == []


def test_wrong_multiplier_is_unexplained():
    def mutate(compiled):
        # 1.5 % on one channel: far below what accuracy metrics of the whole model would show
        def change(pairs):
            pairs[3, 1] += pairs[3, 1] // 64
            return pairs

        replace_scale_bias(operations(compiled, "torq_hl.conv2d")[1], change)

    failures = compared(mutate)
    assert len(failures) == 1
    assert "unexplained" in failures[0]
    assert "Conv" in failures[0]


def test_wrong_bias_is_unexplained():
    def mutate(compiled):
        def change(pairs):
            pairs[:, 0] += 40
            return pairs

        replace_scale_bias(operations(compiled, "torq_hl.conv2d")[0], change)

    (failure,) = compared(mutate)
    assert "unexplained" in failure


def test_narrowed_clamp_is_unexplained():
    def mutate(compiled):
        (add,) = operations(compiled, "torq_hl.add")
        with compiled.module.context:
            add.attributes["output_max"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 20)

    (failure,) = compared(mutate)
    assert "Add" in failure


def test_wrong_operations_on_integers_are_found():
    """Where no quantization is left, a layer is found by its computing node; its values are compared all the same."""

    def clamp(compiled):
        (pooling,) = operations(compiled, "torq_hl.maxpool2d")
        with compiled.module.context:
            pooling.attributes["output_max"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 0)

    def swap(compiled):
        (concat,) = operations(compiled, "tensor.concat")
        first, second = list(concat.operands)
        concat.operands[0], concat.operands[1] = second, first

    (failure,) = compared(clamp, "cnn_small")
    assert "unexplained" in failure
    assert "MaxPool" in failure
    (failure,) = compared(swap, "fire_module")
    assert "unexplained" in failure
    assert "Concat" in failure


def test_layer_without_operation_is_reported():
    def mutate(compiled):
        for operation in operations(compiled, "torq_hl.add"):
            operation.location = ir.Location.unknown(compiled.module.context)

    assert any("is not computed" in failure for failure in compared(mutate))


FLOAT_ISLAND = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = arith.fptosi %x : tensor<4xf32> to tensor<4xi8>
  %b = arith.sitofp %a : tensor<4xi8> to tensor<4xf32> loc("dequantize")
  %c = arith.addf %b, %b : tensor<4xf32> loc("island")
  %d = arith.fptosi %c : tensor<4xf32> to tensor<4xi8> loc("quantize")
  %e = arith.addi %d, %a : tensor<4xi8>
  %f = arith.sitofp %e : tensor<4xi8> to tensor<4xf32>
  %g = arith.addf %f, %f : tensor<4xf32>
  return %g : tensor<4xf32>
}
"""


def test_float_operations_between_integers_are_found():
    with ir.Context():
        module = ir.Module.parse(FLOAT_ISLAND)
        function = function_of(module)
        names = [operation.name for operation in interior_float_operations(function)]
        assert names == ["arith.sitofp", "arith.addf", "arith.fptosi"]


def test_declared_float_operators_are_those_of_the_graph():
    graph = QuantizedGraph(quantized_model("conv_3x3", "qdq-per-channel"))
    with ir.Context():
        module = ir.Module.parse(FLOAT_ISLAND)
        function = function_of(module)
        assert len(undeclared_float_operations(function, graph, {"Softmax"})) == 3


def test_forms_that_differ_are_reported():
    models = {"one": quantized_model("conv_3x3", "qdq-per-channel"), "other": quantized_model("conv_1x1", "qoperator")}
    failures = check_same_operations(models).failures
    assert any(failure.startswith("1 more in one: torq_hl.conv2d") for failure in failures)
    assert any(failure.startswith("1 more in other: torq_hl.conv2d") for failure in failures)


def test_unsigned_tensors_are_stored_less_by_128():
    tensor = np.array([[0, 127], [128, 255]], np.uint8)
    stored = to_storage(tensor, np.zeros((2, 1, 2), np.int8))
    np.testing.assert_array_equal(stored, [[[-128, -1]], [[0, 127]]])
    np.testing.assert_array_equal(from_storage(stored, tensor), tensor)
    assert from_storage(np.zeros((4, 1), np.int8), tensor) is None


def test_last_layers():
    graph = QuantizedGraph(quantized_model("two_outputs", "qdq-per-channel"))
    assert sorted("+".join(layer.op_types) for layer in last_layers(graph)) == ["Conv", "GlobalAveragePool"]


def test_metrics():
    actual, expected = np.array([1.0, 2.0, 3.5]), np.array([1.0, 2.0, 3.0])
    assert sqnr_db(actual, expected) == pytest.approx(10 * np.log10(14 / 0.25))
    assert sqnr_db(expected, expected) == np.inf
    assert cosine(actual, expected) == pytest.approx(15.5 / np.sqrt(17.25 * 14))
    whole = agreement([(np.array([1, 5]), np.array([1, 3]))], [(actual, expected), (-actual, expected)])
    assert (whole.max_lsb, whole.mismatch_rate, whole.top1) == (2, 0.5, 0.5)


@pytest.mark.parametrize(
    ("failures", "expected_failures", "status"),
    [
        ([], {}, Status.PASS),
        (["wrong"], {}, Status.FAIL),
        (["wrong"], {"case": "why"}, Status.XFAIL),
        ([], {"case": "why"}, Status.XPASS),
    ],
)
def test_judgement(failures, expected_failures, status):
    result = judge("case", Report(failures=failures), 0.1, expected_failures)
    assert result.status is status
    assert result.is_good == (status in (Status.PASS, Status.XFAIL))


@pytest.fixture
def small_registry(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    return importlib.import_module("sample_cases").registry


def test_a_dying_case_fails_alone(small_registry):
    results = {result.name: result for result in run_all(small_registry, list(small_registry()), Backend.ALL, 2, {})}
    assert {name: result.status for name, result in results.items()} == {
        "good": Status.PASS,
        "bad": Status.FAIL,
        "raises": Status.FAIL,
        "dies": Status.FAIL,
    }
    assert results["dies"].report.failures == ["the process died"]
    assert "KeyError: 'missing'" in results["raises"].report.failures[0]


def test_command(small_registry, capsys, tmp_path):
    path = tmp_path / "results.json"
    assert command.main(["--filter", "^good$", "--json", str(path)], small_registry) == 0
    output = capsys.readouterr()
    assert "good  pass" in output.out
    assert "[1/1] good: pass" in output.err
    (entry,) = json.loads(path.read_text())
    assert (entry["name"], entry["status"], entry["report"]["elements"]) == ("good", "pass", 2)


@pytest.mark.parametrize(
    ("cases", "expected_failures", "code", "text"),
    [
        ("good|bad", {}, 1, "bad: fail\n  wrong"),
        ("good|bad", {"good": "known", "bad": "known"}, 1, "good: unexpected pass known"),
    ],
)
def test_exit_code(small_registry, capsys, cases, expected_failures, code, text):
    assert command.main(["--filter", cases], small_registry, expected_failures) == code
    assert text in capsys.readouterr().out


def test_command_lists_and_refuses(small_registry, capsys):
    assert command.main(["--list", "--filter", "oo"], small_registry) == 0
    assert capsys.readouterr().out == "good\n"
    assert command.main(["--filter", "nothing"], small_registry) == 1
    assert "no case matches 'nothing'" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        command.main(["--filter", "("], small_registry)
