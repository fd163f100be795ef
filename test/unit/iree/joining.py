# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Several models as one, which IREE compiles in about the time of one."""

from collections.abc import Mapping, Sequence

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import func

import torq_mlir
from e2e.models.catalog import model_inputs, quantized_model
from torq_mlir import dialects
from torq_mlir.execution.signature import TensorSpec, entry_function


def compiled_models(names: Sequence[str], context: ir.Context) -> dict[str, torq_mlir.CompiledModel]:
    dialects.register(context)
    return {
        name: torq_mlir.compile(quantized_model(name, "qdq-per-channel"), backend="interpreter", context=context)
        for name in names
    }


def joined(modules: Sequence[ir.Module]) -> ir.Module:
    """One function with the arguments and the results of all."""
    entries = [entry_function(module) for module in modules]
    with modules[0].context, ir.Location.unknown():
        result = ir.Module.create()
        inputs, outputs = ([t for e in entries for t in getattr(e.type, side)] for side in ("inputs", "results"))
        with ir.InsertionPoint(result.body):
            function = func.FuncOp("main", (inputs, outputs))
        block = function.add_entry_block()
        arguments, results = iter(block.arguments), []
        for entry in entries:
            source = entry.regions[0].blocks[0]
            values = {argument: next(arguments) for argument in source.arguments}
            *operations, terminator = [each.operation for each in source.operations]
            for operation in operations:
                with ir.InsertionPoint(block):
                    copy = operation.clone().operation
                values |= zip(operation.results, copy.results, strict=True)
                copy.walk(lambda nested: _rewire(nested, values))  # noqa: B023
            results += [values[value] for value in terminator.operands]
        with ir.InsertionPoint(block):
            func.ReturnOp(results)
        assert result.operation.verify()
    return result


def _rewire(nested: ir.Operation, values: Mapping[ir.Value, ir.Value]) -> ir.WalkResult:
    for index, operand in enumerate(nested.operation.operands):
        if operand in values:
            nested.operation.operands[index] = values[operand]
    return ir.WalkResult.ADVANCE


def arrays(name: str, compiled: torq_mlir.CompiledModel) -> list[np.ndarray]:
    """Inputs of a model as the function of its module takes them."""
    (feeds,) = model_inputs(quantized_model(name, "qdq-per-channel"), name, 1)
    specs = [TensorSpec.of(type_) for type_ in entry_function(compiled.module).type.inputs]
    given = [feeds[info.name] for info in compiled.inputs]
    return [array.view(spec.dtype) for array, spec in zip(given, specs, strict=True)]
