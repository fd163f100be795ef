# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What discovery found out about a model, layer by layer.

All values are immutable: `dataclasses.replace` makes a changed copy.
"""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

# In the order in which they are preferred.
EXECUTORS = ("nss", "css", "host")

# A value of a command-line flag, as JSON has it.
Flag = str | int | float | bool | None | tuple[str, ...]


class Status(enum.StrEnum):
    """What came of a layer on an executor.

    SUCCESS: it runs, and its outputs are within the tolerance.
    DIFFERENCE: it runs, and some output is not.
    ERROR: it does not compile or does not run.
    SKIPPED: it was not tried.
    """

    SUCCESS = "success"
    DIFFERENCE = "difference"
    ERROR = "error"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class TensorInfo:
    """An input or output of a layer; `dtype` is the name of the numpy dtype."""

    name: str
    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True)
class Tolerance:
    """How far an output may be from the reference.

    Attributes:
      max_lsb: for quantized outputs, the largest difference of an element, in steps of the quantization.
      mismatch_rate: for quantized outputs, the share of elements that may differ at all, from 0 to 1.
      rtol, atol: for float outputs, that no element differs by more than `atol + rtol * max(abs(reference))`.
    """

    max_lsb: float = 1.0
    mismatch_rate: float = 1.0
    rtol: float = 1e-3
    atol: float = 1e-5


@dataclass(frozen=True)
class Metrics:
    """An output against the reference; of a layer with several outputs, the worst of each.

    Attributes:
      elements, mismatches: how many elements were compared, and how many differ.
      max_lsb: the largest difference in steps of the output's quantization; None for an output that has none.
      max_abs: the largest absolute difference, in units of the output (steps for integers).
      max_reference: the largest absolute value of the reference, in the same units.
      sqnr_db: signal to quantization noise ratio, in dB; infinite for equal outputs.
      cosine: cosine of the angle between both, from -1 to 1.
    """

    elements: int
    mismatches: int
    max_lsb: float | None
    max_abs: float
    max_reference: float
    sqnr_db: float
    cosine: float


@dataclass(frozen=True)
class Timing:
    """Execution time of a layer, in seconds, without compilation."""

    runs: int
    median_s: float
    min_s: float


@dataclass(frozen=True)
class Distribution:
    """Values of a tensor: their range, and how many fall into each bin of equal width from `Values.low` to `high`."""

    minimum: float
    maximum: float
    counts: tuple[int, ...] = ()


@dataclass(frozen=True)
class Values:
    """Where the values of an output lie: the reference's and the executor's, over common bins."""

    output: str
    low: float
    high: float
    reference: Distribution
    ours: Distribution


@dataclass(frozen=True)
class IrText:
    """IR of a layer: its text, or the file that has it, relative to the folder of the report."""

    text: str = ""
    file: str = ""


@dataclass(frozen=True)
class ExecutorResult:
    """What came of a layer on one executor.

    Attributes:
      reason: one line; why it is an error, was skipped, or cannot run there.
      metrics: for SUCCESS and DIFFERENCE.
      timing: if it was asked for.
      values: of the worst output, if they were recorded.
      ir: what the layer was compiled to.
    """

    status: Status
    reason: str = ""
    metrics: Metrics | None = None
    timing: Timing | None = None
    values: Values | None = None
    ir: IrText | None = None


@dataclass(frozen=True)
class Layer:
    """A compute operator of the model.

    Attributes:
      name: unique in the report.
      op_type: of the ONNX node.
      node_index: of the node in the graph of the float model.
      source_name: of the node as the model has it; empty if it has none.
      recommended_executor: who is to execute it; None leaves that to the compiler.
      edited: the recommended executor was set by hand, and discovery keeps it.
      tolerance_edited: so was the tolerance.
      mlir_location: "line:col" of its operation in the quantized MLIR of the full model; None if it has none there.
      fused_into: name of the layer whose operation computes this one too in the full model.
      duplicate_of: name of the layer that was tested in its place.
      tolerance: the one that its status was judged by.
      executors: results by executor; an executor that is not there has not been tried yet.
      ir: the layer before it was compiled for any executor.
    """

    name: str
    op_type: str
    node_index: int
    source_name: str
    recommended_executor: str | None
    edited: bool = False
    tolerance_edited: bool = False
    mlir_location: str | None = None
    fused_into: str | None = None
    duplicate_of: str | None = None
    inputs: tuple[TensorInfo, ...] = ()
    outputs: tuple[TensorInfo, ...] = ()
    tolerance: Tolerance = Tolerance()
    executors: Mapping[str, ExecutorResult] = field(default_factory=dict)
    ir: IrText | None = None


@dataclass(frozen=True)
class LayerSensitivity:
    """`sqnr_db`: at the outputs of the model, when this layer alone is quantized, in dB."""

    layer: str
    sqnr_db: float


@dataclass(frozen=True)
class Sensitivity:
    """What quantizing each layer costs, the costliest first; `suggested_float`: layers to keep in float."""

    layers: tuple[LayerSensitivity, ...]
    suggested_float: tuple[str, ...] = ()


@dataclass(frozen=True)
class Comparison:
    """A tensor of the full model against ONNX Runtime; `layer` is the layer that computes it, if it is known."""

    tensor: str
    status: Status
    metrics: Metrics | None
    layer: str | None = None


@dataclass(frozen=True)
class FullModelRun:
    """The full model with the assigned executors, against ONNX Runtime on the same quantized model.

    Attributes:
      status, reason: the worst of the outputs, or why the model did not run.
      outputs: of the model, in order.
      tensors: intermediate tensors, in the order of the graph.
      first_divergence: the first tensor that is not within the tolerance.
    """

    status: Status
    reason: str = ""
    outputs: tuple[Comparison, ...] = ()
    tensors: tuple[Comparison, ...] = ()
    first_divergence: str | None = None


@dataclass(frozen=True)
class ModelInfo:
    """The model as it was given: its name, which is in the names of the files, its path and its SHA-256."""

    name: str
    path: str
    sha256: str


@dataclass(frozen=True)
class Report:
    """What discovery found out about a model.

    Attributes:
      flags: what decides the result, by name of the flag without dashes in front.
      layers: in the order of the graph.
      hashes: SHA-256 of what decides the result besides the model, by name: "quantized_mlir", "calibration_data".
      versions: of the packages that were used, by name of the distribution.
      complete: False while a discovery goes on, or when it was stopped.
    """

    model: ModelInfo
    flags: Mapping[str, Flag]
    layers: tuple[Layer, ...]
    hashes: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    complete: bool = True
    sensitivity: Sensitivity | None = None
    run: FullModelRun | None = None

    def layer(self, name: str) -> Layer:
        """The layer of that name.

        Raises:
          KeyError: there is none.
        """
        for layer in self.layers:
            if layer.name == name:
                return layer
        raise KeyError(name)
