# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Discovery: which executor takes each layer of a model, and how well it matches ONNX Runtime."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import onnx
from onnxruntime.quantization.calibrate import TensorsData

from torq_mlir.environment import deciding_versions
from torq_mlir.errors import TorqError
from torq_mlir.files import write_atomically
from torq_mlir.gen_config import deduplication, extraction, sensitivity, workers
from torq_mlir.gen_config.editing import rejudged
from torq_mlir.gen_config.executors import Settings
from torq_mlir.gen_config.extraction import ExtractedLayer
from torq_mlir.gen_config.files import (
    EXECUTORS,
    ExecutorResult,
    Layer,
    Report,
    Sensitivity,
    Status,
    Tolerance,
    read_report,
    recommend,
    write_compiler_file,
    write_report,
)
from torq_mlir.gen_config.files.encoding import encode
from torq_mlir.gen_config.journal import Journal
from torq_mlir.gen_config.loading import LoadedModel, Reader, load_model
from torq_mlir.gen_config.locating import Locations, compiler_file
from torq_mlir.gen_config.options import ModelOptions
from torq_mlir.gen_config.paths import Paths
from torq_mlir.gen_config.progress import Progress
from torq_mlir.gen_config.scheduling import Key, Plan, execute
from torq_mlir.gen_config.tasks import LayerTask, TaskResult
from torq_mlir.gen_config.telling import Show, silently
from torq_mlir.quantization import sessions

_SETTINGS = Settings()


@dataclass(frozen=True)
class DiscoverOptions:
    """How layers are tested.

    Attributes:
      settings: how they are run and judged.
      executors: to try, in order.
      skip_ops: operators that are not tested.
      skip_mode: stop at the first executor that succeeds, and keep what an existing report has settled.
      dedup_layers: test one of several layers that are the same but for their weights.
      subgraph_from, subgraph_to: nodes or tensors between which layers are tested.
      recommend_by_timing: of several executors that succeed, recommend the fastest.
      sensitivity: find out what quantizing each layer costs.
      jobs: local processes; None for one for each core, 0 for this process.
      scheduler: address of a Dask scheduler, in place of local processes.
      layer_timeout: seconds after which a layer on an executor is an error.
    """

    settings: Settings = _SETTINGS
    executors: tuple[str, ...] = EXECUTORS
    skip_ops: tuple[str, ...] = ()
    skip_mode: bool = False
    dedup_layers: bool = False
    subgraph_from: tuple[str, ...] = ()
    subgraph_to: tuple[str, ...] = ()
    recommend_by_timing: bool = False
    sensitivity: bool = False
    jobs: int | None = None
    scheduler: str | None = None
    layer_timeout: float | None = 300.0


class Interrupted(TorqError):
    """A discovery was interrupted; the text says what is kept and where."""


def discover(
    model: str | os.PathLike | onnx.ModelProto,
    output_dir: str | os.PathLike = ".",
    model_options: ModelOptions | None = None,
    options: DiscoverOptions | None = None,
    *,
    calibration_data_reader: Reader | None = None,
    show: Show = silently,
) -> Report:
    """Test each layer of a model on each executor, and write the report and the compiler file.

    A discovery that was killed goes on where it stopped. Executors and tolerances that were set by hand are kept.

    Args:
      output_dir: folder of the files; it is made if there is none.
      calibration_data_reader: ONNX Runtime's CalibrationDataReader, or any iterable of dictionaries from input names to
        arrays, in the place of data that `model_options` name.
      show: what to tell progress.

    Raises:
      TorqError: the model, the data or an option cannot be used. The text is one line.
      Interrupted: the user has interrupted it; what was finished is kept.
      OSError: a file cannot be written.
      ValueError: a format, dtype or method is not supported.
    """
    model_options, options = model_options or ModelOptions(), options or DiscoverOptions()
    unknown = [name for name in options.executors if name not in EXECUTORS]
    if unknown or not options.executors:
        raise TorqError(f"'{' '.join(unknown)}' is no executor; they are {', '.join(EXECUTORS)}")
    if options.scheduler is None and options.jobs != 0:
        workers.start_early()
    Path(output_dir).mkdir(parents=True, exist_ok=True)
    loaded = load_model(model, model_options, calibration_data_reader)
    if options.sensitivity:
        sensitivity.check(loaded)
    discovery = _Discovery(loaded, model_options, options, Paths(Path(output_dir), loaded.info.name))
    with show(discovery.total) as progress:
        for note in loaded.notes:
            progress.note(note)
        return discovery.run(progress)


class _Discovery:
    def __init__(
        self, loaded: LoadedModel, model_options: ModelOptions, options: DiscoverOptions, paths: Paths
    ) -> None:
        self._loaded, self._model_options, self._options, self._paths = loaded, model_options, options, paths
        self._locations = Locations(loaded)
        between = {"subgraph_from": options.subgraph_from, "subgraph_to": options.subgraph_to}
        self._layers = extraction.extract_layers(loaded.base, loaded.sources, **between)
        self._tested = [layer for layer in self._layers if layer.op_type not in options.skip_ops]
        self._original = self._originals()
        self._names = [layer.name for layer in self._tested if layer.name not in self._original]
        self._results: dict[Key, TaskResult] = {}
        self._previous: Mapping[str, Layer] = {}

    @property
    def total(self) -> int:
        """Number of pairs of a layer and an executor to find something out about."""
        return len(self._names) * len(self._options.executors)

    def run(self, progress: Progress) -> Report:
        self._previous = self._previous_layers(progress)
        by_hand = [layer.name for layer in self._previous.values() if layer.tolerance_edited]
        if by_hand:
            progress.note(f"tolerances that were set with `edit` are kept: {', '.join(by_hand)}")
        journal = Journal(self._paths.journal, self._identity())
        found = None
        try:
            with workers.open_workers(self._options.jobs, self._options.scheduler, self._options.layer_timeout) as pool:
                self._test(pool, journal, progress)
                if self._options.sensitivity:
                    progress.note("quantizing each layer alone (--sensitivity)")
                    found = sensitivity.measure(self._loaded, self._layers, self._model_options, pool)
            report = self._write(complete=True, found=found)
        except KeyboardInterrupt:
            self._write(complete=False)
            journal.close()
            raise Interrupted(self._interrupted()) from None
        except BaseException:
            journal.close()
            raise
        journal.close(remove=True)
        return report

    def _test(self, pool: workers.Workers, journal: Journal, progress: Progress) -> None:
        by_name = {layer.name: layer for layer in self._layers}
        tensors = sessions.run_all(self._loaded.base, self._loaded.feeds[0], extraction.layer_inputs(self._tested))
        plan = Plan(
            self._names,
            self._options.executors,
            self._settled() | journal.results,
            self._options.skip_mode,
            lambda layer, executors: self._task(by_name[layer], executors, tensors),
        )
        for found in execute(plan, pool, progress.started):
            key = found.layer, found.executor
            self._results[key] = found
            if key not in journal.results:
                journal.add(found)
            progress.finished(*key, found.result, found.seconds)

    def _task(self, layer: ExtractedLayer, executors: tuple[str, ...], tensors: Mapping[str, np.ndarray]) -> LayerTask:
        ranges = self._loaded.ranges
        if ranges is not None:
            names = {name for node in layer.model.graph.node for name in (*node.input, *node.output)}
            chosen = {name: data for name, data in ranges.items() if name in names}
            ranges = TensorsData(ranges.calibration_method, chosen)
        return LayerTask(
            layer.name,
            layer.op_type,
            executors,
            self._options.skip_mode,
            layer.model.SerializeToString(),
            {info.name: tensors[info.name] for info in layer.inputs},
            ranges,
            self._model_options.quantization,
            replace(self._options.settings, tolerance=self._tolerance(layer.name)),
        )

    def _tolerance(self, layer: str) -> Tolerance:
        """The one that was set by hand, or that of the options."""
        previous = self._previous.get(layer)
        edited = previous is not None and previous.tolerance_edited
        return previous.tolerance if edited else self._options.settings.tolerance

    def _originals(self) -> dict[str, str]:
        """For each layer that is not tested, the layer that is tested in its place."""
        if not self._options.dedup_layers:
            return {}
        first: dict[str, str] = {}
        found = {}
        for layer in self._tested:
            original = first.setdefault(deduplication.structure(layer.model), layer.name)
            if original != layer.name:
                found[layer.name] = original
        return found

    def _previous_layers(self, progress: Progress) -> dict[str, Layer]:
        """The layers of the report that is there, if it is about the same."""
        if not self._paths.report.exists():
            return {}
        report = read_report(self._paths.report)
        same = (
            report.model.sha256 == self._loaded.info.sha256
            and dict(report.flags) == self._model_options.flags()
            and dict(report.hashes) == dict(self._loaded.hashes)
        )
        if not same:
            progress.note(f"{self._paths.report} is about another model or other flags; it is replaced")
        return {layer.name: layer for layer in report.layers} if same else {}

    def _settled(self) -> dict[Key, TaskResult]:
        """What the existing report has found out, which --skip-mode keeps."""
        if not self._options.skip_mode:
            return {}
        return {
            (layer.name, executor): TaskResult(layer.name, executor, result, layer.ir)
            for layer in self._previous.values()
            for executor, result in layer.executors.items()
            if result.status is not Status.SKIPPED
            and layer.duplicate_of is None
            and layer.tolerance == self._tolerance(layer.name)
        }

    def _identity(self) -> dict[str, object]:
        """What the results in a journal depend on."""
        return {
            "model": self._loaded.info.sha256,
            "flags": encode(self._model_options.flags()),
            "hashes": dict(self._loaded.hashes),
            "settings": encode(self._options.settings),
            "skip_mode": self._options.skip_mode,
            "versions": deciding_versions(),
        }

    def _interrupted(self) -> str:
        return f"interrupted; {len(self._results)} of {self.total} results are kept; the same command goes on"

    def _write(self, *, complete: bool, found: Sensitivity | None = None) -> Report:
        report = Report(
            model=self._loaded.info,
            flags=self._model_options.flags(),
            layers=tuple(self._layer(layer) for layer in self._layers),
            hashes=self._loaded.hashes,
            versions=deciding_versions(),
            complete=complete,
            sensitivity=found,
        )
        write_atomically(self._paths.mlir, lambda file: file.write(f"{self._loaded.text}\n".encode()))
        write_report(self._paths.report, report)
        write_compiler_file(self._paths.compiler_file, compiler_file(report, self._locations))
        return report

    def _layer(self, layer: ExtractedLayer) -> Layer:
        original = self._original.get(layer.name, layer.name)
        results = {name: self._result(layer, original, name) for name in EXECUTORS}
        results = {name: result for name, result in results.items() if result is not None}
        previous = self._previous.get(layer.name)
        edited = previous is not None and previous.edited
        texts = (self._results[original, name].ir for name in EXECUTORS if (original, name) in self._results)
        recommended = recommend(results, by_timing=self._options.recommend_by_timing)
        return Layer(
            name=layer.name,
            op_type=layer.op_type,
            node_index=layer.node_index,
            source_name=layer.source_name,
            recommended_executor=previous.recommended_executor if edited else recommended,
            edited=edited,
            tolerance_edited=previous is not None and previous.tolerance_edited,
            mlir_location=self._locations.position(layer.name),
            fused_into=self._locations.fused_into(layer.name),
            duplicate_of=original if original != layer.name else None,
            inputs=layer.inputs,
            outputs=layer.outputs,
            tolerance=self._tolerance(layer.name),
            executors=results,
            ir=next((text for text in texts if text is not None), None) if original == layer.name else None,
        )

    def _result(self, layer: ExtractedLayer, original: str, executor: str) -> ExecutorResult | None:
        if layer.op_type in self._options.skip_ops:
            return ExecutorResult(Status.SKIPPED, f"{layer.op_type} is not tested (--skip-ops)")
        if executor not in self._options.executors:
            return ExecutorResult(Status.SKIPPED, f"{executor} is not tried (--skip-executors)")
        found = self._results.get((original, executor))
        if found is None:
            return None
        result = rejudged(found.result, self._tolerance(layer.name))
        return result if original == layer.name else replace(result, ir=None)
