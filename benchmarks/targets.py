# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What has to be reached, and by how much it is missed."""

import dataclasses
from collections.abc import Sequence

from benchmarks.results import Measurement, Results


@dataclasses.dataclass(frozen=True)
class Outcome:
    """Attributes:
    name: of the target.
    wanted, measured: a number of which more is better; `measured` is None where nothing was.
    """

    name: str
    wanted: float
    measured: float | None

    @property
    def missed(self) -> bool:
        return self.measured is not None and self.measured < self.wanted

    def __str__(self) -> str:
        if self.measured is None:
            return f"not measured  {self.name}: {self.wanted:g} wanted"
        verdict = f"missed by {1 - self.measured / self.wanted:.1%}" if self.missed else "reached"
        return f"{verdict:<13} {self.name}: {self.measured:.3g}, {self.wanted:g} wanted"


# Least times that a peer takes, as a multiple of ours, on one thread.
RATIOS = {
    ("resnet50", "openvino"): 1.0,
    ("resnet50", "ort-u8"): 1.2,
    ("resnet50", "ort-s8"): 2.0,
    ("resnet50", "ort-qoperator"): 20.0,
    ("resnet50", "iree-stock"): 80.0,
    ("squeezenet", "openvino"): 1.0,
    ("mobilenet_v2", "openvino"): 1.0,
    ("vgg19", "openvino"): 1.0,
    ("bert_base_layer", "openvino"): 1.0,
    ("bert_base_layer", "ort-dynamic"): 1.0,
}
# Of IREE as it is by IREE with our lowering.
IREE_RATIO = ("resnet50", 10.0)
# Of one thread by two.
SPEEDUP = ("resnet50", 1.8)
# Parts of the peak, of the bandwidth of a copy; seconds on one core.
CONVOLUTIONS, BANDWIDTH, COMPILATION = 0.85, 0.8, 6.0


def outcomes(results: Results) -> list[Outcome]:
    """Of all targets."""
    found = [
        Outcome(f"{model}, time of {peer} / ours", wanted, _ratio(results, model, peer))
        for (model, peer), wanted in RATIOS.items()
    ]
    model, wanted = IREE_RATIO
    found.append(
        Outcome(f"{model}, time of iree-stock / torq-iree", wanted, _ratio(results, model, "iree-stock", "torq-iree"))
    )
    model, wanted = SPEEDUP
    found.append(Outcome(f"{model}, two threads to one", wanted, _speedup(results, model)))
    ours = results.find("resnet50", "torq", 1)
    share = ours.details.get("convolutions_3x3_of_peak") if ours else None
    found.append(Outcome("resnet50, 3x3 convolutions, part of the peak", CONVOLUTIONS, share))
    step = results.find("decode_step", "torq", 1)
    rate = results.share_of_copy(step) if step else None
    found.append(Outcome("decode_step, weights, part of the bandwidth of a copy", BANDWIDTH, rate))
    speed = COMPILATION / ours.preparation if ours else None
    found.append(Outcome(f"resnet50, {COMPILATION:g} s / time from ONNX to the first result", 1.0, speed))
    return found


def _ratio(results: Results, model: str, peer: str, other: str = "torq") -> float | None:
    ours, theirs = results.find(model, other, 1), results.find(model, peer, 1)
    return theirs.median / ours.median if ours and theirs else None


def _speedup(results: Results, model: str) -> float | None:
    one, two = (results.find(model, "torq", threads) for threads in (1, 2))
    return one.median / two.median if one and two else None


def best_peer(measurements: Sequence[Measurement]) -> Measurement | None:
    """The fastest one that is not ours."""
    others = [each for each in measurements if not each.peer.startswith("torq")]
    return min(others, key=lambda each: each.median, default=None)
