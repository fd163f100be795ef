# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every operation is valid and says which nodes of the source it stands for, after every pass of every pipeline."""

from collections.abc import Iterator

import pytest
from torch_mlir import ir

import torq_mlir
from e2e.models.catalog import quantized_model
from torq_mlir import pipelines
from torq_mlir.dialects.locations import source_names
from torq_mlir.importing import import_model
from torq_mlir.pipelines.instrumentation import Instrumentation
from torq_mlir.pipelines.syntax import parse

# From level 1 on, one chain for each kind of level 2, and for each that torq_hl becomes.
CHAINS = (
    ("torq-torch-to-linalg", "torq-linalg-to-torq-hl", "torq-hl-to-linalg"),
    ("torq-torch-to-linalg", "torq-linalg-to-torq-hl", "torq-hl-to-iree"),
    ("torq-torch-to-tosa", "torq-quantized-tosa-to-tosa", "torq-tosa-to-linalg"),
    ("torq-torch-to-stablehlo", "torq-quantized-stablehlo-to-stablehlo", "torq-stablehlo-to-linalg"),
)
FIRST = ("torq-onnx-to-torch", "torq-fx-to-torch")
# Softmax and layer normalization, products of run-time matrices; convolutions, pooling, sums, fully connected layers.
ONNX_MODELS = ("cnn_small.qdq-per-channel", "cnn_small.qoperator", "attention.qdq-per-channel")
LARGE_ONNX_MODELS = (
    "cnn_small.qdq-u8",
    "bert_tiny.full-integer",
    "mobilenet_v3_small.full-integer",
)
EXPORTED = ("mlp.u8",)
LARGE_EXPORTED = ("small_cnn.u8", "encoder_layer.per-channel", "mlp.dynamic", "decoder_step.tokens-int4-groups")


class LocationCheck(Instrumentation):
    """Collects the operations without a source name, by the pass after which there is one."""

    def __init__(self, names: set[str]):
        self.names = names
        self.lost: dict[str, str] = {}

    def after_pass(self, scheduled, operation: ir.Operation) -> None:
        for each in _operations(operation):
            names = source_names(each.location)
            if not names or not self.names.issuperset(names):
                self.lost.setdefault(f"{each.name} at {each.location}", scheduled.name)


def _operations(root: ir.Operation) -> Iterator[ir.Operation]:
    """The operations of the model.

    Without what is computed from constants alone, which any of its users may share; terminators; casts between type
    systems at the border of the function; the bodies of linalg's named operations, which its builder makes; and the
    shape functions of torch-mlir while it refines types.
    """
    constants: set[ir.Value] = set()
    found: list[ir.Operation] = []

    def visit(operation: ir.Operation) -> ir.WalkResult:
        operation = operation.operation
        if operation.name in ("builtin.module", "func.func"):
            private = "sym_visibility" in operation.attributes
            return ir.WalkResult.SKIP if private else ir.WalkResult.ADVANCE
        if operation.name == "torch.shape.calculate":
            return ir.WalkResult.SKIP
        if constants.issuperset(operation.operands) and operation.results:
            constants.update(operation.results)
        elif operation.results and not operation.name.startswith("torch_c."):
            found.append(operation)
        named = operation.name.startswith("linalg.") and operation.name != "linalg.generic"
        return ir.WalkResult.SKIP if named else ir.WalkResult.ADVANCE

    root.walk(visit, ir.WalkOrder.PRE_ORDER)
    yield from found


def check(model) -> dict[tuple[str, str], str]:
    """Lost locations: the pass, by pipeline and operation."""
    imported = import_model(model)
    names = {node.name for node in imported.nodes}
    lost: dict[tuple[str, str], str] = {}

    def run(module, pipeline: str) -> None:
        instrumentation = LocationCheck(names)
        pipelines.run(module, pipeline, instrumentations=[instrumentation])
        lost.update({(pipeline, operation): name for operation, name in instrumentation.lost.items()})

    run(imported.module, imported.pipeline)
    for chain in CHAINS:
        module = imported.module.operation.clone()
        for pipeline in chain:
            run(module, pipeline)
    return lost


def _slow(names):
    return [pytest.param(name, marks=pytest.mark.slow) for name in names]


@pytest.mark.parametrize("name", [*ONNX_MODELS, *_slow(LARGE_ONNX_MODELS)])
def test_onnx(name):
    assert check(quantized_model(*name.split("."))) == {}


@pytest.mark.parametrize("name", [*EXPORTED, *_slow(LARGE_EXPORTED)])
def test_exported(name):
    from e2e.models.pt2e import catalog

    model, recipe = name.split(".")
    make = catalog.with_weights if model.startswith("decoder") else catalog.quantized
    assert check(make(model, recipe)) == {}


def _sources(model) -> dict[str, set[str]]:
    """By name of a node, those whose results it reads, also through quantizations."""
    producers = {name: node for node in model.graph.node for name in node.output}
    sources: dict[str, set[str]] = {}
    for node in model.graph.node:
        read = [producers[name] for name in node.input if name in producers]
        through = [source.name for source in read if source.op_type in ("QuantizeLinear", "DequantizeLinear")]
        sources[node.name] = {source.name for source in read}.union(*(sources[name] for name in through))
    return sources


def _belong_together(names: list[str], sources: dict[str, set[str]]) -> bool:
    """Whether all are connected by what they read."""
    found, rest = {names[0]}, set(names[1:])
    while near := {name for name in rest if sources[name] & found or any(name in sources[each] for each in found)}:
        found |= near
        rest -= near
    return not rest


@pytest.mark.parametrize("name", ["residual_block.qdq-per-channel", *_slow(["unet.full-integer", *LARGE_ONNX_MODELS])])
def test_names_of_an_operation_belong_together(name):
    """A location that took in the name of an operation that is only shared, such as a constant, would mislead."""
    model = quantized_model(*name.split("."))
    sources = _sources(model)
    compiled = torq_mlir.compile(model)
    (function,) = compiled.module.body.operations
    for each in function.regions[0].blocks[0].operations:
        names = [name for name in source_names(each.operation.location) if name in sources]
        assert not names or _belong_together(names, sources), (each.operation.name, names)


def test_all_pipelines_are_run():
    run = {*FIRST, *(name for chain in CHAINS for name in chain)}
    for name in set(pipelines.named) - run:
        joined = {element.name for element in parse(pipelines.named[name]).elements}
        assert joined <= set(pipelines.named), f"{name} has passes of its own, and no model goes through it"


def test_a_lost_location_is_found():
    context = ir.Context()
    module = ir.Module.parse(
        """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
          %a = arith.addf %x, %x : tensor<4xf32> loc("add")
          %b = arith.mulf %a, %a : tensor<4xf32> loc("other")
          %c = arith.negf %b : tensor<4xf32>
          return %c : tensor<4xf32>
        }""",
        context,
    )
    instrumentation = LocationCheck({"add"})
    pipelines.run(module, "builtin.module(cse)", instrumentations=[instrumentation])
    assert [text.partition(" ")[0] for text in instrumentation.lost] == ["arith.mulf", "arith.negf"]
