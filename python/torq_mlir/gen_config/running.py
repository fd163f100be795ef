# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The full model with the assigned executors, against ONNX Runtime on the same quantized model."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import onnx

import torq_mlir
from torq_mlir import pipelines
from torq_mlir.environment import deciding_versions
from torq_mlir.errors import CompileError, InputError, ModelError, TorqError, first_few
from torq_mlir.gen_config import comparing
from torq_mlir.gen_config.executors import one_line, steps
from torq_mlir.gen_config.files import (
    Comparison,
    CompilerFile,
    FullModelRun,
    Report,
    Status,
    Tolerance,
    judge,
    read_compiler_file,
    read_report,
    write_compiler_file,
    write_report,
)
from torq_mlir.gen_config.layerwise import LayerwiseRun
from torq_mlir.gen_config.loading import LoadedModel, Reader, load_model
from torq_mlir.gen_config.locating import Locations, compiler_file
from torq_mlir.gen_config.options import ModelOptions, check_flags
from torq_mlir.gen_config.paths import Paths
from torq_mlir.gen_config.telling import Show, silently
from torq_mlir.quantization import sessions

_TOLERANCE = Tolerance()


@dataclass(frozen=True)
class RunOptions:
    """How the full model is run.

    Attributes:
      compiler_file: to use in the place of the report; for a model without a report.
      tolerance: of the outputs, and of tensors that no layer of the report has a tolerance for. None judges layers
        alone, where all are compared: in a deep model their small differences add up, and the outputs are reported.
      debug_ir: folder to write the IR to after each pass.
    """

    compiler_file: str | os.PathLike | None = None
    tolerance: Tolerance | None = None
    debug_ir: str | os.PathLike | None = None


def run(
    model: str | os.PathLike | onnx.ModelProto,
    output_dir: str | os.PathLike = ".",
    model_options: ModelOptions | None = None,
    options: RunOptions | None = None,
    *,
    calibration_data_reader: Reader | None = None,
    show: Show = silently,
) -> FullModelRun:
    """Compile the full model with the executors of its report, run it, and compare outputs and layers.

    The compiler file is made from the report anew; without a report it is used as it is. What is found is written to
    the report.

    Args:
      output_dir: the folder that `discover` has written to.
      show: what to tell decisions that were made on behalf of the user.

    Raises:
      TorqError: there is no report, or it is about another model or was made with other flags; the model or the data
        cannot be used. The text is one line.
      OSError: a file cannot be written.
      ValueError: a format, dtype or method is not supported.
    """
    model_options, options = model_options or ModelOptions(), options or RunOptions()
    loaded = load_model(model, model_options, calibration_data_reader)
    with show(0) as progress:
        for note in loaded.notes:
            progress.note(note)
    paths = Paths(Path(output_dir), loaded.info.name)
    report, compiler = _read(paths, options)
    source = paths.report if report is not None else options.compiler_file or paths.compiler_file
    _check(loaded, model_options, compiler if report is None else report, str(source))
    if report is None:
        _check_positions(loaded, compiler, str(source))
    else:
        compiler = compiler_file(report, Locations(loaded))
        write_compiler_file(paths.compiler_file, compiler)
    found = _run(loaded, compiler.op_assignments, report, options)
    if report is not None:
        write_report(paths.report, replace(report, run=found))
    return found


def _read(paths: Paths, options: RunOptions) -> tuple[Report | None, CompilerFile | None]:
    """The report, or else the compiler file."""
    if options.compiler_file is not None:
        return None, read_compiler_file(options.compiler_file)
    if paths.report.exists():
        return read_report(paths.report), None
    if paths.compiler_file.exists():
        return None, read_compiler_file(paths.compiler_file)
    raise TorqError(f"{paths.report}: there is no report and no compiler file; run `torq-gen-config discover` first")


def _check(loaded: LoadedModel, options: ModelOptions, file: Report | CompilerFile, source: str) -> None:
    """Raise a TorqError if the file is about something else."""
    check_flags(options.flags(), file.flags, source)
    if file.model.sha256 != loaded.info.sha256:
        raise TorqError(f"{source} is about another model of this name: {file.model.path or file.model.name}")
    if file.hashes.get("calibration_data") not in (None, loaded.hashes["calibration_data"]):
        raise TorqError(f"{source} was made with other calibration data; give the same, or discover again")
    if file.hashes.get("quantized_mlir") not in (None, loaded.hashes["quantized_mlir"]):
        raise TorqError(
            f"{source} was made from another quantized model, perhaps by other versions "
            f"({', '.join(_differing_versions(file)) or 'the same packages'}); discover again"
        )


def _check_positions(loaded: LoadedModel, compiler: CompilerFile, source: str) -> None:
    """Raise a TorqError if nothing of the model is where an executor is assigned."""
    known = set(loaded.positions.values())
    unknown = [position for position in compiler.op_assignments if position not in known]
    if unknown:
        raise TorqError(
            f"{source} assigns executors to {first_few(unknown)}, where the MLIR of the model has no operation; "
            "discover again"
        )


def _differing_versions(file: Report | CompilerFile) -> list[str]:
    recorded = getattr(file, "versions", {})
    return [
        f"{name} {recorded[name]} instead of {version}"
        for name, version in deciding_versions().items()
        if name in recorded and recorded[name] != version
    ]


def _run(
    loaded: LoadedModel, assignments: Mapping[str, str], report: Report | None, options: RunOptions
) -> FullModelRun:
    dump = []
    if options.debug_ir is not None:
        dump.append(pipelines.DumpIR(Path(options.debug_ir)))
    feed = loaded.final_feed()
    computed = [name for node in loaded.final.graph.node for name in node.output if name]
    try:
        compiled = torq_mlir.compile(
            loaded.final, backend="interpreter", assignments=assignments, instrumentations=dump
        )
        expected = sessions.run_all(loaded.final, feed, computed)
        outputs = dict(zip((info.name for info in compiled.outputs), compiled.run(None, feed), strict=True))
        layerwise = LayerwiseRun(compiled, loaded.final).run(feed, expected)
    except (CompileError, InputError, ModelError) as error:
        return FullModelRun(Status.ERROR, one_line(error))
    tolerances = _tolerances(report)
    known, of_outputs = steps(loaded.final), options.tolerance or _TOLERANCE
    layers = _layers_of_tensors(loaded, report)

    def comparison(name: str, actual: np.ndarray, reference: np.ndarray, tolerance: Tolerance) -> Comparison:
        metrics = comparing.compare(actual, reference, known.get(name))
        return Comparison(name, judge(metrics, tolerance), metrics, layers.get(name))

    compared = tuple(comparison(name, value, expected[name], of_outputs) for name, value in outputs.items())
    tensors = tuple(
        comparison(name, *pair, tolerances.get(layers.get(name), of_outputs)) for name, pair in layerwise.items()
    )
    diverging = next((each.tensor for each in tensors if each.status is not Status.SUCCESS), None)
    judging_outputs = options.tolerance is not None or report is None
    status, reason = _verdict(compared, tensors, _not_compared(report, tensors), judging_outputs)
    return FullModelRun(status, reason, compared, tensors, diverging)


def _verdict(
    outputs: Sequence[Comparison], tensors: Sequence[Comparison], missing: Sequence[str], judging_outputs: bool
) -> tuple[Status, str]:
    """Status of the full model, and why.

    What the outputs of a deep model differ by says little: a rounding of one layer is multiplied by those after it. So
    layers decide, on the same inputs, if each of them is compared and they explain what the outputs differ by.
    """
    diverging = next((each.tensor for each in tensors if each.status is not Status.SUCCESS), None)
    if diverging is not None:
        return Status.DIFFERENCE, f"the first tensor outside of its tolerance is {diverging}"
    if all(each.status is Status.SUCCESS for each in outputs):
        return Status.SUCCESS, ""
    if missing:
        reason = f"each layer that is compared is within its tolerance; not compared: {first_few(missing)}"
        return Status.DIFFERENCE, reason
    if all(each.metrics is not None and not each.metrics.mismatches for each in tensors):
        return Status.DIFFERENCE, "each tensor that is compared is equal on the same inputs"
    reason = "each layer is within its tolerance on the same inputs; small differences of several layers add up"
    return Status.DIFFERENCE if judging_outputs else Status.SUCCESS, reason


def _not_compared(report: Report | None, tensors: Sequence[Comparison]) -> list[str]:
    """Layers that the full model has and none of the tensors is of."""
    compared = {each.layer for each in tensors}
    layers = report.layers if report is not None else ()
    return [each.name for each in layers if each.mlir_location is not None and each.name not in compared]


def _tolerances(report: Report | None) -> dict[str | None, Tolerance]:
    return {layer.name: layer.tolerance for layer in report.layers} if report is not None else {}


def _layers_of_tensors(loaded: LoadedModel, report: Report | None) -> dict[str, str]:
    """By tensor of the final model, the layer of the report that computes it, or quantizes it."""
    if report is None:
        return {}
    locations = Locations(loaded)
    by_position = {layer.mlir_location: layer.name for layer in report.layers if layer.mlir_location is not None}
    for layer in report.layers:
        if layer.mlir_location is not None:
            by_position |= dict.fromkeys(locations.quantizing(layer.name), layer.name)
    owners = {name: by_position[position] for name, position in loaded.positions.items() if position in by_position}
    return {name: owners[node.name] for node in loaded.final.graph.node if node.name in owners for name in node.output}
