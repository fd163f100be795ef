# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What was measured, as a table, JSON and a chart."""

import dataclasses
import importlib.metadata
import json
import platform
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from torq_mlir.backends.cpu import detect
from torq_mlir.extras import require

_PACKAGES = ("torq-mlir", "torch-mlir", "onnxruntime", "openvino", "torch", "iree-base-compiler")


@dataclasses.dataclass(frozen=True)
class Measurement:
    """Attributes:
    model, peer, form, threads: what was measured.
    median, minimum: seconds of a run.
    runs: that were timed.
    preparation: seconds from the ONNX model to the first result.
    memory: bytes that were taken meanwhile, at the peak.
    products: of the model.
    agreement: cosine between its results and those of ONNX Runtime on the same form of the model.
    details: more that is known.
    """

    model: str
    peer: str
    form: str
    threads: int
    median: float
    minimum: float
    runs: int
    preparation: float
    memory: int
    products: int
    agreement: float
    details: dict[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def gmacs(self) -> float:
        return self.products / self.median / 1e9


@dataclasses.dataclass
class Results:
    """Attributes:
    peaks: 10^9 products in a second at most, by number of threads.
    copy_bandwidth: bytes in a second, of one core.
    skipped: what was not measured, and why.
    """

    peaks: dict[int, float]
    copy_bandwidth: float
    measurements: list[Measurement] = dataclasses.field(default_factory=list)
    skipped: list[str] = dataclasses.field(default_factory=list)

    def find(self, model: str, peer: str, threads: int) -> Measurement | None:
        key = (model, peer, threads)
        return next((each for each in self.measurements if (each.model, each.peer, each.threads) == key), None)

    def groups(self) -> dict[tuple[str, int], list[Measurement]]:
        """By model and number of threads, the fastest first."""
        found: dict[tuple[str, int], list[Measurement]] = {}
        for each in sorted(self.measurements, key=lambda each: each.median):
            found.setdefault((each.model, each.threads), []).append(each)
        order = list(dict.fromkeys(each.model for each in self.measurements))
        return dict(sorted(found.items(), key=lambda item: (order.index(item[0][0]), item[0][1])))

    def ratios(self, measurement: Measurement) -> tuple[float | None, float | None]:
        """Of its time to ours: of the medians and of the least ones."""
        ours = self.find(measurement.model, "torq", measurement.threads)
        if ours is None:
            return None, None
        return measurement.median / ours.median, measurement.minimum / ours.minimum

    def share_of_copy(self, measurement: Measurement) -> float | None:
        """Bytes of packed weights in a second, as a part of those of a copy on one core; None where it is not known."""
        size = measurement.details.get("weight_bytes")
        return None if size is None else size / measurement.median / self.copy_bandwidth

    def _of_copy(self, measurement: Measurement, digits: int) -> str:
        share = self.share_of_copy(measurement)
        return "" if share is None else f"{share:.{digits}%}"

    def table(self) -> Table:
        table = Table(title="Time of a run")
        for name in ("model", "threads", "runtime", "form"):
            table.add_column(name)
        for name in (
            "median, ms",
            "/ ours",
            "least, ms",
            "/ ours",
            "GMAC/s",
            "of peak",
            "of copy",
            "ready, s",
            "memory, MB",
            "agreement",
        ):
            table.add_column(name, justify="right")
        for (model, threads), group in self.groups().items():
            for number, each in enumerate(group):
                heading = [model, str(threads)] if number == 0 else ["", ""]
                table.add_row(*heading, *self._cells(each), end_section=number + 1 == len(group))
        return table

    def _cells(self, each: Measurement) -> list[str]:
        median, minimum = ("" if ratio is None else f"{ratio:.2f}" for ratio in self.ratios(each))
        return [
            each.peer,
            each.form,
            f"{1e3 * each.median:.2f}",
            median,
            f"{1e3 * each.minimum:.2f}",
            minimum,
            f"{each.gmacs:.1f}",
            f"{each.gmacs / self.peaks[each.threads]:.1%}",
            self._of_copy(each, 1),
            f"{each.preparation:.2f}",
            f"{each.memory / 1e6:.0f}",
            f"{each.agreement:.4f}",
        ]

    def to_json(self, outcomes: Iterable[Any]) -> str:
        rows = [
            dataclasses.asdict(each) | {"gmacs": each.gmacs, "ratios": self.ratios(each)} for each in self.measurements
        ]
        values = {
            "machine": {"processor": processor(), "instructions": detect().name},
            "versions": dict(versions()),
            "peak_gmacs": self.peaks,
            "copy_bytes_per_second": self.copy_bandwidth,
            "measurements": rows,
            "skipped": self.skipped,
            "targets": [dataclasses.asdict(each) | {"missed": each.missed} for each in outcomes],
        }
        return json.dumps(values, indent=2)

    def markdown(self) -> str:
        """A row for each model and number of threads: our time, and those of the others as multiples of it."""
        peers = [name for name in dict.fromkeys(each.peer for each in self.measurements) if name != "torq"]
        lines = [["model", "threads", "torq, ms", *peers, "GMAC/s", "of peak", "of copy"], ["---"] * (6 + len(peers))]
        for (model, threads), group in self.groups().items():
            ours = self.find(model, "torq", threads)
            if ours is None:
                continue
            ratios = {each.peer: f"{each.median / ours.median:.2f}" for each in group}
            speed = [f"{ours.gmacs:.0f}", f"{ours.gmacs / self.peaks[threads]:.0%}", self._of_copy(ours, 0)]
            others = [ratios.get(peer, "") for peer in peers]
            lines.append([model, str(threads), f"{1e3 * ours.median:.2f}", *others, *speed])
        return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)

    def plot(self, path: Path) -> None:
        """Writes a bar for each measurement, its time as a multiple of ours.

        Raises:
          MissingPackageError: matplotlib is not installed.
        """
        figure_module = require("matplotlib.figure", "bench")
        groups = self.groups()
        figure = figure_module.Figure(
            (9, 0.6 + sum(0.35 + 0.22 * len(group) for group in groups.values())), layout="constrained"
        )
        heights = [len(group) for group in groups.values()]
        axes = figure.subplots(len(groups), 1, sharex=True, height_ratios=heights, squeeze=False)[:, 0]
        for axis, ((model, threads), group) in zip(axes, groups.items(), strict=True):
            ratios = [self.ratios(each)[0] or 0.0 for each in group]
            colors = ["tab:blue" if each.peer.startswith("torq") else "tab:gray" for each in group]
            bars = axis.barh([each.peer for each in group], ratios, color=colors)
            labels = [f"{1e3 * each.median:.2f} ms" for each in group]
            axis.bar_label(bars, labels, padding=3, fontsize=8)
            axis.axvline(1, color="black", linewidth=0.8)
            axis.set_xscale("log")
            axis.margins(x=0.15)
            axis.invert_yaxis()
            axis.set_title(f"{model}, {threads} thread{'s' if threads > 1 else ''}", fontsize=9, loc="left")
        axes[-1].set_xlabel("time of a run, as a multiple of torq's")
        figure.savefig(path, dpi=120)


def processor() -> str:
    """Its name, as the system tells it."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def versions() -> Sequence[tuple[str, str]]:
    """Of the packages that are installed."""
    installed = {distribution.name for distribution in importlib.metadata.distributions()}
    return [(name, importlib.metadata.version(name)) for name in _PACKAGES if name in installed]
