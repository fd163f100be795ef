# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The runtimes. Each makes of a model a function that runs it on given inputs."""

import dataclasses
import importlib.util
from collections.abc import Callable

import numpy as np
import onnx

from benchmarks import models
from benchmarks.models import Feeds

Run = Callable[[], list[np.ndarray]]


class UnsupportedError(Exception):
    """A runtime has no code for an operator."""


@dataclasses.dataclass(frozen=True)
class Peer:
    """Attributes:
    forms: of a model that it is measured with; the first one that the model has.
    prepare: model, inputs and number of threads to what runs it.
    needs: module that must be installed.
    """

    forms: tuple[str, ...]
    prepare: Callable[[onnx.ModelProto, Feeds, int], Run]
    needs: str = "onnxruntime"

    def form(self, workload: models.Workload) -> str | None:
        return next((form for form in self.forms if form in workload.forms), None)

    def missing(self) -> str | None:
        """The module that it lacks."""
        package = self.needs.split(".")[0]
        return None if importlib.util.find_spec(package) and importlib.util.find_spec(self.needs) else self.needs


def failures() -> tuple[type[Exception], ...]:
    """What runtimes raise when they cannot run a model."""
    from onnxruntime.capi import onnxruntime_pybind11_state as onnxruntime_errors

    from torq_mlir.errors import TorqError

    kinds = ("Fail", "InvalidArgument", "InvalidGraph", "NotImplemented", "RuntimeException")
    return TorqError, RuntimeError, UnsupportedError, *(getattr(onnxruntime_errors, kind) for kind in kinds)


def _torq(model: onnx.ModelProto, feeds: Feeds, threads: int) -> Run:
    import torq_mlir
    from torq_mlir.executing import Execution

    compiled = torq_mlir.compile(model, backend=Execution(num_threads=threads))
    return _Torq(compiled, feeds)


class _Torq:
    """Attributes:
    compiled: the model, for its profile.
    """

    def __init__(self, compiled, feeds: Feeds) -> None:
        self.compiled, self._feeds = compiled, feeds

    def __call__(self) -> list[np.ndarray]:
        return self.compiled(**self._feeds)


def _onnxruntime(model: onnx.ModelProto, feeds: Feeds, threads: int) -> Run:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    return lambda: session.run(None, feeds)


def _openvino(model: onnx.ModelProto, feeds: Feeds, threads: int) -> Run:
    import io

    import openvino

    core = openvino.Core()
    # The threads are pinned by the benchmark, for all alike.
    options = {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "ENABLE_CPU_PINNING": False}
    compiled = core.compile_model(core.read_model(io.BytesIO(model.SerializeToString())), "CPU", options)
    request = compiled.create_infer_request()
    inputs = [feeds[port.any_name] for port in compiled.inputs]

    def run() -> list[np.ndarray]:
        results = request.infer(inputs, share_inputs=True, share_outputs=True)
        return [results[port] for port in compiled.outputs]

    return run


def _eager(model: onnx.ModelProto, feeds: Feeds, threads: int) -> Run:
    import torch

    from benchmarks.eager import EagerModel

    torch.set_num_threads(threads)
    eager = EagerModel(model)
    return lambda: eager(feeds)


def _iree(model: onnx.ModelProto, feeds: Feeds, threads: int) -> Run:
    """Our backend for IREE."""
    import torq_mlir
    from torq_mlir.executing import Execution

    return _Torq(torq_mlir.compile(model, backend=Execution("iree", num_threads=threads)), feeds)


def _iree_stock(model: onnx.ModelProto, feeds: Feeds, threads: int) -> Run:
    """IREE with torch-mlir's own lowering of ONNX."""
    import io

    import iree.compiler
    from torch_mlir import ir
    from torch_mlir.passmanager import PassManager

    from torq_mlir import dialects
    from torq_mlir.backends.iree import Executable
    from torq_mlir.execution.signature import TensorSpec, entry_function
    from torq_mlir.frontends import onnx as frontend

    context, bytecode = ir.Context(), io.BytesIO()
    dialects.register(context)
    with context:
        module = frontend.import_model(frontend.load(model), context)
        try:
            PassManager.parse(_STOCK).run(module.operation)
        except ir.MLIRError as error:
            raise UnsupportedError(str(error)) from None
        module.operation.write_bytecode(bytecode)
        entry = entry_function(module)
        inputs, results = ([TensorSpec.of(each) for each in types] for types in (entry.type.inputs, entry.type.results))
    flags = ["--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O3"]
    binary = iree.compiler.compile_str(bytecode.getvalue(), target_backends=["llvm-cpu"], extra_args=flags)
    executable = Executable(binary, entry.name.value, inputs, results, num_threads=threads)
    arrays = [feeds[value.name] for value in model.graph.input]
    return lambda: executable(arrays)


_STOCK = (
    "builtin.module(func.func(convert-torch-onnx-to-torch),"
    "torch-onnx-to-torch-backend-pipeline{backend-legal-ops=aten.flatten.using_ints,aten.unflatten.int,"
    "aten.adaptive_avg_pool1d,aten.adaptive_avg_pool2d},torch-backend-to-linalg-on-tensors-backend-pipeline)"
)


# The first one is what the others are compared with.
PEERS = {
    "torq": Peer((models.SIGNED, models.GROUPED), _torq, "torq_mlir"),
    "torq-dynamic": Peer((models.DYNAMIC, models.GROUPED_DYNAMIC), _torq, "torq_mlir"),
    "openvino": Peer((models.SIGNED, models.GROUPED), _openvino, "openvino"),
    "ort-u8": Peer((models.UNSIGNED,), _onnxruntime),
    "ort-int4": Peer((models.GROUPED,), _onnxruntime),
    "ort-s8": Peer((models.SIGNED,), _onnxruntime),
    "ort-qoperator": Peer((models.QOPERATOR,), _onnxruntime),
    "ort-dynamic": Peer((models.DYNAMIC, models.GROUPED_INT8), _onnxruntime),
    "ort-float": Peer((models.FLOAT,), _onnxruntime),
    "eager-float": Peer((models.FLOAT,), _eager, "torch"),
    "torq-iree": Peer((models.SIGNED,), _iree, "iree.compiler"),
    "iree-stock": Peer((models.SIGNED,), _iree_stock, "iree.compiler"),
}
