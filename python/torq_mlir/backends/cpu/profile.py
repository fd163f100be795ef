# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long each operation of a run took."""

import dataclasses
from collections.abc import Sequence
from typing import Any

from .steps import StepInfo


@dataclasses.dataclass(frozen=True)
class Timing:
    """Attributes:
    step: what was computed.
    start, seconds: from the beginning of the run.
    """

    step: StepInfo
    start: float
    seconds: float

    @property
    def gmacs(self) -> float:
        """10^9 products of an activation with a weight, in a second."""
        return self.step.products / self.seconds / 1e9 if self.seconds > 0 else 0.0


@dataclasses.dataclass(frozen=True)
class Profile:
    """Attributes:
    timings: of all steps, in order.
    peak_gmacs: products in a second that the threads of the run can do at most; None if not measured.
    arena_bytes: memory of the activations.
    constant_bytes: memory of packed weights.
    """

    timings: Sequence[Timing]
    peak_gmacs: float | None = None
    arena_bytes: int = 0
    constant_bytes: int = 0

    @property
    def seconds(self) -> float:
        return sum(timing.seconds for timing in self.timings)

    def by_kernel(self) -> dict[str, float]:
        """Seconds of each kind of code, the longest first."""
        seconds: dict[str, float] = {}
        for timing in self.timings:
            seconds[timing.step.kernel] = seconds.get(timing.step.kernel, 0.0) + timing.seconds
        return dict(sorted(seconds.items(), key=lambda item: -item[1]))

    def to_dict(self) -> dict[str, Any]:
        """For JSON: times in seconds."""
        steps = [dataclasses.asdict(t.step) | {"start": t.start, "seconds": t.seconds} for t in self.timings]
        sizes = {"arena_bytes": self.arena_bytes, "constant_bytes": self.constant_bytes}
        return {"seconds": self.seconds, "peak_gmacs": self.peak_gmacs, **sizes, "steps": steps}

    def to_trace(self) -> dict[str, Any]:
        """Events as Perfetto and chrome://tracing read them, as JSON."""
        events = []
        for timing in self.timings:
            step = timing.step
            arguments = {"operation": step.operation, "sources": ", ".join(step.names), "bytes": step.bytes}
            arguments |= {"GMAC/s": round(timing.gmacs, 1)} if step.products else {}
            name = step.names[-1] if step.names else step.operation
            times = {"ts": timing.start * 1e6, "dur": timing.seconds * 1e6}
            events.append({"name": name, "cat": step.kernel, "ph": "X", "pid": 0, "tid": 0, **times, "args": arguments})
        return {"traceEvents": events, "displayTimeUnit": "ms"}

    def __str__(self) -> str:
        lines = [f"{'us':>9} {'share':>6} {'GMAC/s':>7} {'peak':>5} {'MB':>7}  kernel          operators"]
        total = self.seconds or 1.0
        for timing in self.timings:
            step, share = timing.step, timing.seconds / total
            rate = f"{timing.gmacs:7.1f}" if step.products else " " * 7
            of_peak = f"{timing.gmacs / self.peak_gmacs:5.0%}" if step.products and self.peak_gmacs else " " * 5
            names = ", ".join(step.names) or step.operation
            lines.append(
                f"{timing.seconds * 1e6:9.1f} {share:6.1%} {rate} {of_peak} {step.bytes / 1e6:7.2f}  "
                f"{step.kernel:<15} {names}"
            )
        lines.append(f"{self.seconds * 1e6:9.1f} us in all")
        lines += [f"{seconds * 1e6:9.1f} {seconds / total:6.1%}  {kind}" for kind, seconds in self.by_kernel().items()]
        lines.append(f"{self.arena_bytes / 1e6:.2f} MB of activations, {self.constant_bytes / 1e6:.2f} MB of weights")
        if self.peak_gmacs:
            lines.append(f"{self.peak_gmacs:.1f} GMAC/s at most")
        return "\n".join(lines)
