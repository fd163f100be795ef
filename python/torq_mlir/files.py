# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Output files that are never left half-written."""

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import IO


def write_atomically(path: str | os.PathLike, write: Callable[[IO[bytes]], object]) -> None:
    """Call `write` with a binary file that becomes `path` when it is complete: on failure, `path` is as it was.

    What exists and is not a regular file, such as a pipe, is written to directly.

    Raises:
      OSError: the file cannot be written.
    """
    path = Path(path)
    if path.exists() and not path.is_file():
        try:
            with path.open("wb") as file:
                write(file)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(path)) from error
        return
    target = path.resolve()
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("xb") as file:
            write(file)
        temporary.replace(target)
    except OSError as error:
        _remove(temporary)
        raise OSError(error.errno, error.strerror, str(path)) from error
    except BaseException:
        _remove(temporary)
        raise


def _remove(temporary: Path) -> None:
    """Where nothing can be written, nothing can be removed, and nothing is there."""
    with contextlib.suppress(OSError):
        temporary.unlink(missing_ok=True)
