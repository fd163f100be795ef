# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantization as `torq-gen-config quantize` does it: one model in, one file out."""

import os
from pathlib import Path

import onnx

from torq_mlir.gen_config.loading import Reader, quantized_model
from torq_mlir.gen_config.options import ModelOptions
from torq_mlir.gen_config.telling import Show, silently
from torq_mlir.quantization import sessions


def quantize(
    model: str | os.PathLike | onnx.ModelProto,
    output_dir: str | os.PathLike = ".",
    model_options: ModelOptions | None = None,
    *,
    output: str | os.PathLike | None = None,
    calibration_data_reader: Reader | None = None,
    show: Show = silently,
) -> Path:
    """Quantize a float model and write it.

    Args:
      output: the file; `<model>_quantized.onnx` in `output_dir` by default. From 2 GiB on, the data are in a second
        file next to it.
      calibration_data_reader: in the place of data that `model_options` name.
      show: what to tell decisions that were made on behalf of the user.

    Returns:
      The file.

    Raises:
      TorqError: the model or the data cannot be used. The text is one line.
      OSError: the file cannot be written.
      ValueError: a format, dtype or method is not supported.
    """
    options = model_options or ModelOptions(quantize=True)
    found = quantized_model(model, options, calibration_data_reader)
    with show(0) as progress:
        for note in found.notes:
            progress.note(note)
    path = Path(output) if output is not None else Path(output_dir) / f"{found.info.name}_quantized.onnx"
    path.parent.mkdir(parents=True, exist_ok=True)
    sessions.save(found.final, path)
    return path
