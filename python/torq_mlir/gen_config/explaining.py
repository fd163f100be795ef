# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a report means: the outcome of each layer, and a sentence for everything in it that needs one."""

from collections.abc import Sequence
from dataclasses import fields

from torq_mlir.gen_config.files import EXECUTORS, Layer, Report, Status, Tolerance, recommend
from torq_mlir.gen_config.wording import differences, limits, number, printable


def outcome(layer: Layer) -> Status:
    """What comes of the layer with the executor that is recommended for it.

    ERROR where no executor takes it, SKIPPED where nothing was tried, or nothing is recommended.
    """
    if layer.recommended_executor is not None:
        result = layer.executors.get(layer.recommended_executor)
        return Status.SKIPPED if result is None else result.status
    statuses = {result.status for result in layer.executors.values()}
    return Status.ERROR if Status.ERROR in statuses and recommend(layer.executors) is None else Status.SKIPPED


def notes(report: Report, layer: Layer) -> list[str]:
    """Why the layer is where it is; nothing for one that runs on the NPU as it should."""
    found = [_fused(report, layer), _duplicate(layer), _choice(layer), _difference(layer), _tolerance(layer)]
    return [printable(note) for note in found if note]


def grouped_notes(report: Report, layers: Sequence[Layer]) -> list[str]:
    """The notes of all `layers`, each said once."""
    fused = [f"{layer.name} into {layer.fused_into}" for layer in layers if layer.fused_into is not None]
    copied = [f"{layer.name} is {layer.duplicate_of}" for layer in layers if layer.duplicate_of is not None]
    names: dict[str, list[str]] = {}
    for layer in layers:
        for note in (_without_operation(report, layer), _choice(layer), _difference(layer), _tolerance(layer)):
            if note:
                names.setdefault(note, []).append(layer.name)
    found = [f"{', '.join(owners)}: {note}" for note, owners in names.items()]
    if fused:
        found.insert(0, f"fused in the full model, without a line in the compiler file: {', '.join(fused)}")
    if copied:
        found.append(f"identical layers, of which one was tested: {', '.join(copied)}")
    return [printable(note) for note in found]


def _fused(report: Report, layer: Layer) -> str:
    if layer.fused_into is None:
        return _without_operation(report, layer)
    owner = next((each for each in report.layers if each.name == layer.fused_into), None)
    where = owner.recommended_executor if owner is not None else None
    on = f", which runs on {where}" if where else ""
    return f"fused into {layer.fused_into} in the full model{on}; it has no line of its own in the compiler file"


def _without_operation(report: Report, layer: Layer) -> str:
    known = report.complete and "quantized_mlir" in report.hashes
    if not known or layer.mlir_location is not None or layer.fused_into is not None:
        return ""
    return "nothing is left of it in the full model; it has no line in the compiler file"


def _duplicate(layer: Layer) -> str:
    return "" if layer.duplicate_of is None else f"identical to {layer.duplicate_of}, which was tested in its place"


def _choice(layer: Layer) -> str:
    """Why not the NPU."""
    chosen = layer.recommended_executor
    if layer.edited:
        found = recommend(layer.executors)
        other = f"; discovery recommends {found}" if found is not None and found != chosen else ""
        return f"set by hand to {chosen or 'no executor'}{other}"
    if not layer.executors or chosen == EXECUTORS[0]:
        return ""
    earlier = EXECUTORS[: EXECUTORS.index(chosen)] if chosen else EXECUTORS
    reasons: dict[str, list[str]] = {}
    for name in earlier:
        if name in layer.executors:
            reasons.setdefault(_why(layer, name), []).append(name)
    text = "; ".join(f"{', '.join(names)}: {reason}" for reason, names in reasons.items())
    if chosen is not None:
        return text
    return f"{'no executor takes it' if outcome(layer) is Status.ERROR else 'not tried'}; {text}"


def _why(layer: Layer, executor: str) -> str:
    result = layer.executors[executor]
    if result.status is Status.SUCCESS:
        return "succeeds, but is slower" if result.timing is not None else "succeeds"
    if result.status is Status.DIFFERENCE and result.metrics is not None:
        return f"{differences(result.metrics)}, where {limits(result.metrics, layer.tolerance)} is allowed"
    return f"{result.status}{', ' if result.reason else ''}{result.reason}"


def _tolerance(layer: Layer) -> str:
    if not layer.tolerance_edited:
        return ""
    standard = Tolerance()
    values = {field.name: getattr(layer.tolerance, field.name) for field in fields(Tolerance)}
    said = [f"{name} {number(value)}" for name, value in values.items() if value != getattr(standard, name)]
    return f"tolerance set by hand: {', '.join(said) or 'the usual one'}"


def _difference(layer: Layer) -> str:
    """That the best there is differs."""
    result = layer.executors.get(layer.recommended_executor or "")
    if result is None or result.status is not Status.DIFFERENCE:
        return ""
    return f"{layer.recommended_executor}: {_why(layer, layer.recommended_executor)}"
