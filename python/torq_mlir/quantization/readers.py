# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calibration data from files and iterables, as ONNX Runtime's `CalibrationDataReader`."""

import os
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from onnxruntime.quantization import CalibrationDataReader

from torq_mlir.errors import InputError
from torq_mlir.extras import require

_IMAGES = frozenset({".bmp", ".jpeg", ".jpg", ".png", ".webp"})


class FeedReader(CalibrationDataReader):
    """Any iterable of dictionaries from input names to arrays; it is read once."""

    def __init__(self, feeds: Iterable[Mapping[str, np.ndarray]]) -> None:
        self._feeds = iter(feeds)

    def get_next(self) -> dict[str, np.ndarray] | None:
        feed = next(self._feeds, None)
        return None if feed is None else dict(feed)


def read_npz(path: str | os.PathLike) -> FeedReader:
    """Samples of a file of `numpy.savez`, with one array for each input, by its name.

    The first dimension counts the samples: an array of shape (N, 3, 224, 224) is N samples of shape (1, 3, 224, 224).

    Raises:
      InputError: the file is missing or not an .npz, has no arrays, or arrays of different numbers of samples.
    """
    try:
        with np.load(path) as file:
            arrays = {name: file[name] for name in file.files}
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or 'not a file of numpy.savez'}") from error
    except (ValueError, AttributeError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(f"{path}: not a file of numpy.savez") from error
    counts = {array.shape[0] if array.ndim else 1 for array in arrays.values()}
    if len(counts) != 1:
        raise InputError(f"{path}: the arrays have {sorted(counts)} samples; each input needs the same number")
    return FeedReader(
        {name: array[index : index + 1] if array.ndim else array for name, array in arrays.items()}
        for index in range(counts.pop())
    )


def read_files(
    folder: str | os.PathLike,
    shapes: Mapping[str, Sequence[int]],
    *,
    mean: Sequence[float] = (0.0,),
    std: Sequence[float] = (1.0,),
) -> FeedReader:
    """One sample for each .npy file or image of a folder, in the order of their names.

    Args:
      folder: of the files, or for a model of several inputs of one folder for each input, named as it is.
      shapes: of the inputs. An image becomes f32 of shape (1, 3, H, W) or (1, 1, H, W), as the input has it.
      mean, std: of the channels of images whose values are in 0..1; they become `(value - mean) / std`.

    Raises:
      InputError: there is no such folder or nothing to read in it, or the folders have different numbers of files.
    """
    folder = Path(folder)
    folders = {name: folder / name for name in shapes} if len(shapes) > 1 else dict.fromkeys(shapes, folder)
    files = {name: _sample_files(path) for name, path in folders.items()}
    counts = {name: len(paths) for name, paths in files.items()}
    if len(set(counts.values())) != 1:
        raise InputError(f"{folder}: {', '.join(f'{n} files for {name!r}' for name, n in counts.items())}")

    def feeds() -> Iterator[dict[str, np.ndarray]]:
        for paths in zip(*files.values(), strict=True):
            yield {name: _read_file(path, shapes[name], mean, std) for name, path in zip(files, paths, strict=True)}

    return FeedReader(feeds())


def _sample_files(folder: Path) -> list[Path]:
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix.lower() in _IMAGES | {".npy"})
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror}") from error
    if not paths:
        raise InputError(f"{folder}: no .npy files and no images ({', '.join(sorted(_IMAGES))})")
    return paths


def _read_file(path: Path, shape: Sequence[int], mean: Sequence[float], std: Sequence[float]) -> np.ndarray:
    if path.suffix.lower() in _IMAGES:
        return _read_image(path, shape, mean, std)
    try:
        array = np.load(path)
    except (OSError, ValueError, EOFError) as error:
        raise InputError(f"{path}: not a file of numpy.save") from error
    return array[np.newaxis] if array.ndim == len(shape) - 1 else array


def _read_image(path: Path, shape: Sequence[int], mean: Sequence[float], std: Sequence[float]) -> np.ndarray:
    image_module = require("PIL.Image", "images")
    if len(shape) != 4 or shape[1] not in (1, 3):
        raise InputError(f"{path}: the input has shape {tuple(shape)}; an image is read for (N, 1 or 3, H, W)")
    try:
        with image_module.open(path) as image:
            resized = image.convert("L" if shape[1] == 1 else "RGB").resize((shape[3], shape[2]))
    except OSError as error:
        raise InputError(f"{path}: not an image: {error}") from error
    pixels = np.asarray(resized, np.float32).reshape(shape[2], shape[3], shape[1]) / 255
    normalized = (pixels - np.asarray(mean, np.float32)) / np.asarray(std, np.float32)
    return np.ascontiguousarray(normalized.transpose(2, 0, 1)[np.newaxis], np.float32)
