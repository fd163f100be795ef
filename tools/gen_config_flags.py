# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Flags of the commands of torq-gen-config that work on a model, and what they mean to the library."""

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torq_mlir.gen_config.discovery import DiscoverOptions
    from torq_mlir.gen_config.files import Tolerance
    from torq_mlir.gen_config.options import ModelOptions

_EXECUTORS = ("nss", "css", "host")


def names(text: str) -> tuple[str, ...]:
    """`a,b` as a tuple."""
    return tuple(name for name in text.split(",") if name)


def numbers(text: str) -> tuple[float, ...]:
    """`0.1,0.2` as a tuple; the ValueError of another text becomes a message of argparse."""
    return tuple(float(number) for number in text.split(","))


def executors(text: str) -> tuple[str, ...]:
    chosen = names(text)
    unknown = [name for name in chosen if name not in _EXECUTORS]
    if unknown:
        raise argparse.ArgumentTypeError(f"'{unknown[0]}' is no executor: {', '.join(_EXECUTORS)}")
    if set(chosen) == set(_EXECUTORS):
        raise argparse.ArgumentTypeError("no executor is left")
    return chosen


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def not_negative(text: str) -> int:
    number = int(text)
    if number < 0:
        raise ValueError
    return number


def seconds(text: str) -> float:
    number = float(text)
    if not number > 0:
        raise ValueError
    return number


def add_model_flags(parser: argparse.ArgumentParser, *, quantize_flag: bool = True) -> None:
    """The model, how it is quantized, and what it is calibrated with."""
    parser.add_argument("--model", required=True, metavar="FILE", help="an ONNX file")
    group = parser.add_argument_group("quantization")
    if quantize_flag:
        group.add_argument("--quantize", action="store_true", help="quantize the model, which is in float, to int8")
    group.add_argument("--per-channel", action="store_true", help="a scale for each output channel of weights")
    group.add_argument("--full-integer", action="store_true", help="inputs and outputs are integers")
    group.add_argument("--quant-format", default="qdq", metavar="FORMAT", help="qdq (default), qoperator or hybrid")
    group.add_argument("--quant-dtype", default="A8W8", metavar="TYPE", help="A8W8, signed 8 bits for both (default)")
    group.add_argument("--exclude", type=names, default=(), metavar="A,B", help="nodes that stay in float")
    group = parser.add_argument_group("calibration")
    group.add_argument("--calibration-data", metavar="PATH", help="an .npz, or a folder of .npy files or images")
    group.add_argument("--calibration-samples", type=positive, metavar="N", help="use the first N samples")
    group.add_argument("--calibration-method", default="minmax", metavar="M", help="minmax, entropy or percentile")
    group.add_argument("--percentile", type=float, default=99.999, metavar="P", help="for that method (99.999)")
    group.add_argument("--image-mean", type=numbers, default=(0.0,), metavar="M", help="of channels in 0..1")
    group.add_argument("--image-std", type=numbers, default=(1.0,), metavar="S", help="of channels in 0..1")
    group.add_argument("--seed", type=int, default=0, metavar="N", help="of the data that replace missing ones")
    group = parser.add_argument_group("open dimensions")
    group.add_argument("--batch", type=positive, metavar="N", help="size of the first dimension of inputs (1)")
    group.add_argument(
        "--input-shape",
        action="append",
        default=[],
        metavar="NAME:1,3,224,224",
        help="shape of an input, where it is open",
    )


def add_output_flags(parser: argparse.ArgumentParser, text: str) -> None:
    parser.add_argument("--output-dir", default=".", metavar="DIR", help=f"{text} (.)")
    parser.add_argument("--log-file", metavar="FILE", help="write what happens to a file as well")


def add_discovery_flags(parser: argparse.ArgumentParser) -> None:
    """Which layers are tested, where, and how."""
    group = parser.add_argument_group("layers")
    group.add_argument(
        "--skip-mode",
        action="store_true",
        help="stop at the first executor that succeeds, and keep what an existing report has settled",
    )
    group.add_argument("--skip-executors", type=executors, default=(), metavar="A,B", help="of nss, css and host")
    group.add_argument("--skip-ops", type=names, default=(), metavar="A,B", help="operators that are not tested")
    group.add_argument("--dedup-layers", action="store_true", help="test one of layers that differ in weights only")
    group.add_argument("--subgraph-from", type=names, default=(), metavar="A,B", help="nodes or tensors to start at")
    group.add_argument("--subgraph-to", type=names, default=(), metavar="A,B", help="nodes or tensors to end at")
    group.add_argument("--sensitivity", action="store_true", help="rank layers by what quantizing each of them costs")
    group = parser.add_argument_group("timing")
    group.add_argument("--collect-timing", action="store_true", help="measure the time of each layer on this machine")
    group.add_argument("--timing-runs", type=positive, default=10, metavar="N", help="of each layer (10)")
    group.add_argument(
        "--recommend-by-timing", action="store_true", help="recommend the fastest that succeeds; collects timing"
    )
    group = parser.add_argument_group("processes")
    group.add_argument(
        "--jobs", type=not_negative, metavar="N", help="local processes (one for each core); 0 for this one"
    )
    group.add_argument("--scheduler", metavar="tcp://HOST:PORT", help="send the work to a Dask cluster instead")
    group.add_argument("--layer-timeout", type=seconds, default=300.0, metavar="S", help="seconds for a layer (300)")


def add_tolerance_flags(parser: argparse.ArgumentParser, description: str | None = None) -> None:
    group = parser.add_argument_group("tolerance", description)
    group.add_argument("--max-lsb", type=float, metavar="N", help="steps of a quantized output (1)")
    group.add_argument("--mismatch-rate", type=float, metavar="R", help="share that may differ (1)")
    group.add_argument("--rtol", type=float, metavar="R", help="of float outputs, of the largest (1e-3)")
    group.add_argument("--atol", type=float, metavar="R", help="of float outputs (1e-5)")


def tolerance(options: argparse.Namespace) -> "Tolerance | None":
    """What the flags say; None if there are none."""
    from torq_mlir.gen_config.files import Tolerance

    limits = {name: getattr(options, name) for name in ("max_lsb", "mismatch_rate", "rtol", "atol")}
    limits = {name: limit for name, limit in limits.items() if limit is not None}
    return Tolerance(**limits) if limits else None


def model_options(options: argparse.Namespace, *, quantize: bool | None = None) -> "ModelOptions":
    from torq_mlir.gen_config.options import ModelOptions

    return ModelOptions(
        quantize=options.quantize if quantize is None else quantize,
        per_channel=options.per_channel,
        full_integer=options.full_integer,
        quant_format=options.quant_format,
        quant_dtype=options.quant_dtype,
        exclude=options.exclude,
        calibration_data=options.calibration_data,
        calibration_samples=options.calibration_samples,
        calibration_method=options.calibration_method,
        percentile=options.percentile,
        image_mean=options.image_mean,
        image_std=options.image_std,
        seed=options.seed,
        batch=options.batch,
        input_shapes=tuple(options.input_shape),
    )


def discover_options(options: argparse.Namespace) -> "DiscoverOptions":
    from torq_mlir.gen_config.discovery import DiscoverOptions
    from torq_mlir.gen_config.executors import Settings
    from torq_mlir.gen_config.files import Tolerance

    timing = options.collect_timing or options.recommend_by_timing
    return DiscoverOptions(
        settings=Settings(tolerance(options) or Tolerance(), options.timing_runs if timing else 0),
        executors=tuple(name for name in _EXECUTORS if name not in options.skip_executors),
        skip_ops=options.skip_ops,
        skip_mode=options.skip_mode,
        dedup_layers=options.dedup_layers,
        subgraph_from=options.subgraph_from,
        subgraph_to=options.subgraph_to,
        recommend_by_timing=options.recommend_by_timing,
        sensitivity=options.sensitivity,
        jobs=options.jobs,
        scheduler=options.scheduler,
        layer_timeout=options.layer_timeout,
    )
