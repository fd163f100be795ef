# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What decides the result of a discovery, apart from the model."""

from collections.abc import Mapping
from dataclasses import dataclass, fields

from torq_mlir.errors import TorqError
from torq_mlir.gen_config.files.report import Flag
from torq_mlir.quantization import QuantizationOptions


@dataclass(frozen=True)
class ModelOptions:
    """What becomes of the model before it is compiled. `run` needs the same as `discover`: the flags of both.

    Attributes:
      quantize: quantize the model, which is in float; without it the model is taken as it is.
      per_channel, full_integer, quant_format, quant_dtype, exclude: as in `quantization.QuantizationOptions`.
      calibration_data: an .npz file, or a folder of .npy files or images; None for synthetic data.
      calibration_samples: how many samples to use at most; None for all.
      calibration_method: "minmax", "entropy" or "percentile".
      percentile: of the absolute values, for that method.
      image_mean, image_std: of the channels of calibration images, whose values are in 0..1.
      seed: of synthetic data.
      batch: size of the first dimension of each input, where the model leaves it open.
      input_shapes: "name:1,3,224,224" for each input that has open dimensions.
    """

    quantize: bool = False
    per_channel: bool = False
    full_integer: bool = False
    quant_format: str = "qdq"
    quant_dtype: str = "A8W8"
    exclude: tuple[str, ...] = ()
    calibration_data: str | None = None
    calibration_samples: int | None = None
    calibration_method: str = "minmax"
    percentile: float = 99.999
    image_mean: tuple[float, ...] = (0.0,)
    image_std: tuple[float, ...] = (1.0,)
    seed: int = 0
    batch: int | None = None
    input_shapes: tuple[str, ...] = ()

    @property
    def quantization(self) -> QuantizationOptions:
        """The part that the quantizer takes.

        Raises:
          ValueError: a format or dtype is not supported.
        """
        return QuantizationOptions(
            self.quant_format, self.per_channel, self.full_integer, self.quant_dtype, self.exclude
        )

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of `input_shapes` by name.

        Raises:
          TorqError: one of them is not `name:size,size,...`.
        """
        return dict(_shape(text) for text in self.input_shapes)

    def flags(self) -> dict[str, Flag]:
        """Values by name of the flag, as a report has them."""
        normalized = {"quant_format": self.quant_format.lower(), "quant_dtype": self.quant_dtype.upper()}
        values = {field.name: getattr(self, field.name) for field in fields(self)} | normalized
        return {name.replace("_", "-"): _to_flag(value) for name, value in values.items()}


def _to_flag(value: object) -> Flag:
    """A value as it comes back from a file: lists of numbers are texts there."""
    return tuple(str(each) for each in value) if isinstance(value, tuple) else value


def _shape(text: str) -> tuple[str, tuple[int, ...]]:
    name, colon, sizes = text.rpartition(":")
    try:
        if not colon or not name:
            raise ValueError
        return name, tuple(int(size) for size in sizes.split(","))
    except ValueError:
        raise TorqError(f"'{text}' is no shape of an input; write it as name:1,3,224,224") from None


def check_flags(given: Mapping[str, Flag], recorded: Mapping[str, Flag], source: str) -> None:
    """Raise a TorqError that names the flags whose values differ from those that `source` was made with."""
    names = [name for name in {**recorded, **given} if given.get(name) != recorded.get(name)]
    if names:
        pairs = ", ".join(f"--{name} {_show(given.get(name))} (there {_show(recorded.get(name))})" for name in names)
        raise TorqError(f"{source} was made with other flags: {pairs}; give the same, or discover again")


def _show(value: Flag) -> str:
    if value is None or value is False or value == ():
        return "not given"
    if value is True:
        return "given"
    return ",".join(value) if isinstance(value, tuple) else str(value)
