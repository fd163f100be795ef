# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A quantized layer on one of the executors, against ONNX Runtime."""

import math
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import numpy_helper
from torch_mlir import ir

import torq_mlir
from torq_mlir import interface
from torq_mlir.backends import interpreter, jit
from torq_mlir.dialects.locations import source_names
from torq_mlir.errors import TorqError
from torq_mlir.executing import Executable, Execution
from torq_mlir.gen_config import comparing
from torq_mlir.gen_config.comparing import Step
from torq_mlir.gen_config.files import ExecutorResult, IrText, Metrics, Status, Timing, Tolerance, Values, judge
from torq_mlir.quantization import sessions
from torq_mlir.quantization.preparation import QUANTIZING
from torq_mlir.report import executor_of
from torq_mlir.rewriting.assignment import EXECUTORS

NPU = EXECUTORS[0]

# Multiplications below which optimizing the code takes longer than running it as it is.
_LITTLE_WORK = 2e6
_TOLERANCE = Tolerance()
_NO_WORK = frozenset({"arith.constant", "func.return", "tensor.empty"})
_TIMED_NPU = Execution("cpu", num_threads=1)
# Operations that put the values they are given elsewhere.
_MOVES = frozenset({"tensor.concat", "tensor.extract_slice", "tensor.insert_slice"})


@dataclass(frozen=True)
class Settings:
    """How layers are run and judged.

    Attributes:
      tolerance: what counts as a success.
      timing_runs: how often to run for the execution time; 0 for not at all.
      record_ir: keep the IR of each layer.
    """

    tolerance: Tolerance = _TOLERANCE
    timing_runs: int = 0
    record_ir: bool = True


class LayerUnderTest:
    """A quantized layer, its inputs, and what ONNX Runtime makes of them."""

    def __init__(self, model: onnx.ModelProto, feeds: Mapping[str, np.ndarray], settings: Settings) -> None:
        """Import the layer and run the reference.

        Raises:
          TorqError: ONNX Runtime or the front end does not take the layer.
        """
        self._model, self._feeds, self._settings = model, feeds, settings
        names = [value.name for value in model.graph.output]
        self._expected = sessions.run_all(model, feeds, names, threads=1)
        self._steps = steps(model)
        context = ir.Context()
        context.enable_multithreading(False)  # there is a process for each core
        # What is common to all executors is done once.
        self._compiled = torq_mlir.compile(model, assignments={"*": NPU}, backend="interpreter", context=context)

    def ir(self) -> IrText | None:
        """The layer before it is compiled for an executor."""
        return IrText(self._compiled.mlir("onnx", elide=True)) if self._settings.record_ir else None

    def run(self, executor: str) -> ExecutorResult:
        """Compile the layer for an executor, run it and compare."""
        compiled, text = self._compiled, None
        try:
            if executor != NPU:
                compiled = self._compiled.reassigned({"*": executor})
            text = IrText(compiled.mlir("torq-hl", elide=True)) if self._settings.record_ir else None
            reason = not_on_npu(compiled, self._model) if executor == NPU else ""
            if reason:
                return ExecutorResult(Status.ERROR, reason, ir=text)
            execute = self._executable(compiled, executor)
            results = execute(interface.arrange(compiled.inputs, self._feeds))
        except TorqError as error:
            return ExecutorResult(Status.ERROR, one_line(error), ir=text)
        outputs = {
            info.name: interface.restore(info, result) for info, result in zip(compiled.outputs, results, strict=True)
        }
        metrics, found = compare_outputs(outputs, self._expected, self._steps)
        timing = None
        if self._settings.timing_runs:
            timing = _time(execute, interface.arrange(compiled.inputs, self._feeds), self._settings.timing_runs)
        status = judge(metrics, self._settings.tolerance)
        return ExecutorResult(status, metrics=metrics, timing=timing, values=found, ir=text)

    def _executable(self, compiled: torq_mlir.CompiledModel, executor: str) -> Executable:
        """What gives a result soonest; where the time is measured, what runs fastest. All give the same bits.

        The interpreter need not compile, and the JIT compiles quicker than the kernels that are generated for torq_hl,
        which run fastest there; linalg runs as fast or faster with the JIT.
        """
        timed = self._settings.timing_runs > 0
        if executor == NPU:
            return _TIMED_NPU.compile(compiled.module)[1] if timed else interpreter.Interpreter(compiled.module)
        quick = not timed and _work(self._model) < _LITTLE_WORK
        return jit.compile(compiled.module, opt_level=0 if quick else 2)


def _work(model: onnx.ModelProto) -> float:
    """Estimates the multiplications that a layer needs."""
    shapes = [[dim.dim_value for dim in value.type.tensor_type.shape.dim] for value in model.graph.output]
    constants = max((math.prod(tensor.dims) for tensor in model.graph.initializer), default=1)
    return sum(math.prod(shape) * max(1, constants / max(shape, default=1)) for shape in shapes)


def not_on_npu(compiled: torq_mlir.CompiledModel, model: onnx.ModelProto) -> str:
    """Why a layer does not run on the NPU as a whole; empty if it does.

    The quantization of float inputs and outputs of the layer does not count, nor does what only moves integers: that is
    where values are written to and read from.
    """
    boundary = {
        node.name for node in model.graph.node if node.op_type in QUANTIZING and _at_boundary(node, model.graph)
    }
    rows = [row for row in compiled.report().rows if set(row.executor.split("+")) & set(EXECUTORS[1:])]
    computed = _computed_elsewhere(compiled)
    rows = [row for row in rows if row.name not in boundary and row.name in computed]
    # A quantization that is executed on its own follows from what is around it.
    told = [row for row in rows if row.op_type not in QUANTIZING] or rows
    return "; ".join(dict.fromkeys(row.reason or f"{row.op_type} runs on {row.executor}" for row in told))


def _computed_elsewhere(compiled: torq_mlir.CompiledModel) -> set[str]:
    """Names of the nodes of which an operation that does more than to move integers is not on the NPU."""
    function = interface.entry_function(compiled.module)
    return {
        name
        for each in function.regions[0].blocks[0].operations
        if each.operation.name not in _NO_WORK
        and executor_of(each.operation) in EXECUTORS[1:]
        and not _moves_integers(each.operation)
        for name in source_names(each.operation.location)
    }


def _moves_integers(operation: ir.Operation) -> bool:
    values = (*operation.operands, *operation.results)
    elements = [ir.ShapedType(value.type).element_type for value in values if isinstance(value.type, ir.ShapedType)]
    return operation.name in _MOVES and all(isinstance(element, ir.IntegerType) for element in elements)


def _at_boundary(node: onnx.NodeProto, graph: onnx.GraphProto) -> bool:
    if node.op_type == "QuantizeLinear":
        return node.input[0] in {value.name for value in graph.input}
    return node.output[0] in {value.name for value in graph.output}


def steps(model: onnx.ModelProto) -> dict[str, Step]:
    """The quantization of the tensors that a QuantizeLinear node gives or a DequantizeLinear node reads or gives."""
    constants = {tensor.name: tensor for tensor in model.graph.initializer}
    found: dict[str, Step] = {}
    for node in model.graph.node:
        if node.op_type not in QUANTIZING:
            continue
        scale, zero_point = (constants.get(name) for name in (*node.input[1:3], "", "")[:2])
        if scale is None or int(np.prod(scale.dims, dtype=np.int64)) != 1:
            continue
        zero = 0 if zero_point is None else int(numpy_helper.to_array(zero_point).reshape(-1)[0])
        step = Step(float(numpy_helper.to_array(scale).reshape(-1)[0]), zero)
        quantized, real = (node.output[0], "") if node.op_type == "QuantizeLinear" else (node.input[0], node.output[0])
        found.setdefault(quantized, step)
        if real:
            found.setdefault(real, step)
    return found


def compare_outputs(
    outputs: Mapping[str, np.ndarray], expected: Mapping[str, np.ndarray], known: Mapping[str, Step]
) -> tuple[Metrics, Values | None]:
    """The figures of the worst output; its values if they differ."""
    names = list(outputs)
    found = [comparing.compare(outputs[name], expected[name], known.get(name)) for name in names]
    index = comparing.worst(found)
    name = names[index]
    differs = found[index].mismatches > 0
    return found[index], comparing.values(name, outputs[name], expected[name]) if differs else None


def _time(execute: Executable, arguments: Sequence[np.ndarray], runs: int) -> Timing:
    seconds = []
    for _ in range(runs):
        begin = time.perf_counter()
        execute(arguments)
        seconds.append(time.perf_counter() - begin)
    return Timing(runs, statistics.median(seconds), min(seconds))


def one_line(error: BaseException) -> str:
    """The message of an error without its line breaks."""
    return " ".join(str(error).split()) or type(error).__name__
