# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prepares the runtimes for a model, checks what they compute, and times them."""

import importlib
import re
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx

from benchmarks import measuring
from benchmarks.models import GROUPED, WORKLOADS, Feeds, Workload, products
from benchmarks.peers import PEERS, Run, failures
from benchmarks.results import Measurement, Results

# Below this cosine with the results of ONNX Runtime on the same form of the model, something else was computed.
_AGREEMENT = 0.9


class WrongResultError(Exception):
    """The bits are not those of the interpreter."""


class Session:
    """Measurements, one after another.

    Attributes:
      results: where they are collected.
    """

    def __init__(self, results: Results, peers: Sequence[str], effort: measuring.Effort) -> None:
        self.results = results
        self._effort = effort
        self._peers = [name for name in peers if PEERS[name].missing() is None]
        for name in peers:
            if name in self._peers:
                importlib.import_module(PEERS[name].needs)  # which is not to be timed
            else:
                results.skipped.append(f"{name}: {PEERS[name].missing()} is not installed")

    def measure(self, name: str, threads: int) -> None:
        """Times all peers on one model."""
        workload = WORKLOADS[name]
        base = workload.model(name, workload.forms[0])
        feeds, count = workload.inputs(name, base), products(base)
        references: dict[str, list[np.ndarray]] = {}
        runs: dict[str, Run] = {}
        known: dict[str, dict[str, Any]] = {}
        for peer in self._peers:
            form = PEERS[peer].form(workload)
            if form is not None:
                self._prepare(name, workload, peer, form, feeds, threads, references, runs, known)
        times = measuring.take_turns(runs, self._effort, threads=threads)
        for peer, measured in times.items():
            details = self._details(name, peer, runs[peer], base, feeds, threads)
            self.results.measurements.append(
                Measurement(
                    model=name,
                    peer=peer,
                    threads=threads,
                    median=measured.median,
                    minimum=measured.minimum,
                    runs=len(measured.seconds),
                    products=count,
                    details=details,
                    **known[peer],
                )
            )

    def _prepare(
        self,
        name: str,
        workload: Workload,
        peer: str,
        form: str,
        feeds: Feeds,
        threads: int,
        references: dict[str, list[np.ndarray]],
        runs: dict[str, Run],
        known: dict[str, dict[str, Any]],
    ) -> None:
        model = workload.model(name, form)
        start = time.perf_counter()
        try:
            with measuring.Memory() as memory:
                run = PEERS[peer].prepare(model, feeds, threads)
                outputs = [np.array(output) for output in run()]
        except failures() as error:
            self.results.skipped.append(f"{name}, {peer}: {' '.join(str(error).split())[:200]}")
            return
        seconds = time.perf_counter() - start
        if peer.startswith("torq"):
            _check_bits(f"{name}, {peer}", run, outputs, feeds)
        if form not in references:
            references[form] = PEERS["ort-float"].prepare(model, feeds, threads)()
        agreement = _agreement(outputs, references[form])
        if not agreement >= _AGREEMENT:
            self.results.skipped.append(f"{name}, {peer}: cosine {agreement:.3f} with ONNX Runtime on {form}")
            return
        runs[peer] = run
        known[peer] = {"form": form, "preparation": seconds, "memory": memory.bytes, "agreement": agreement}

    def _details(
        self, name: str, peer: str, run: Run, base: onnx.ModelProto, feeds: Feeds, threads: int
    ) -> dict[str, Any]:
        details: dict[str, Any] = {}
        if GROUPED in WORKLOADS[name].forms:
            details["weight_bytes"] = sum(len(tensor.raw_data) for tensor in base.graph.initializer)
        if not peer.startswith("torq") or run.compiled.backend != "cpu":
            return details
        profiles = [run.compiled.profile(**feeds) for _ in range(5)]
        details["arena_bytes"], details["constant_bytes"] = profiles[0].arena_bytes, profiles[0].constant_bytes
        details["seconds_by_kernel"] = profiles[-1].by_kernel()
        share = _share_of_peak(base, profiles, self.results.peaks[threads])
        return details if share is None else details | {"convolutions_3x3_of_peak": share}


def _share_of_peak(model: onnx.ModelProto, profiles: Sequence[Any], peak: float) -> float | None:
    """Of the 3x3 convolutions, in the fastest of some runs; None where there are none."""
    names = {
        node.name
        for node in model.graph.node
        if node.op_type == "Conv"
        and any(each.name == "kernel_shape" and list(each.ints) == [3, 3] for each in node.attribute)
        and not any(each.name == "group" and each.i > 1 for each in node.attribute)
    }
    shares = []
    for profile in profiles:
        timings = [
            timing
            for timing in profile.timings
            if timing.step.products and any(_source(name) in names for name in timing.step.names)
        ]
        seconds = sum(timing.seconds for timing in timings)
        if seconds:
            shares.append(sum(timing.step.products for timing in timings) / seconds / 1e9 / peak)
    return max(shares, default=None)


def _source(name: str) -> str:
    """The name of a node before it was quantized."""
    return re.sub(r"_quant$", "", name)


def _check_bits(what: str, run: Run, outputs: Sequence[np.ndarray], feeds: Feeds) -> None:
    """Raises WrongResultError where the results are not those of the interpreter, to the bit."""
    reference = type(run.compiled)(run.compiled.module, backend="interpreter")
    for output, expected in zip(outputs, reference(**feeds), strict=True):
        if not np.array_equal(output, expected, equal_nan=output.dtype.kind == "f"):
            raise WrongResultError(f"{what}: not the bits of the interpreter")


def _agreement(outputs: Sequence[np.ndarray], reference: Sequence[np.ndarray]) -> float:
    """The least cosine of results with those of the reference."""
    return min(_cosine(output, expected) for output, expected in zip(outputs, reference, strict=True))


def _cosine(a: np.ndarray, b: np.ndarray) -> float:
    a, b = (np.asarray(each, np.float64).reshape(-1) for each in (a, b))
    return float(a @ b / max(np.linalg.norm(a) * np.linalg.norm(b), np.finfo(np.float64).tiny))
