# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantized models on disk: making one takes up to minutes, and always gives the same."""

import functools
import hashlib
import os
from pathlib import Path

import onnx
import onnxruntime

from e2e.models import light, network, quantization

_BUILDERS = (light, network, quantization)
_KEY_LENGTH = 20


def cache_directory() -> Path:
    """`$TORQ_E2E_CACHE`, or `torq-mlir/e2e` in the user's cache directory."""
    if directory := os.environ.get("TORQ_E2E_CACHE"):
        return Path(directory)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "torq-mlir" / "e2e"


def cached(name: str, *parameters: object):
    """Decorates a function that builds a model: its result is stored under the hash of all that it depends on.

    That is `name`, `parameters`, the sources of the builders, and the versions of onnx and ONNX Runtime.
    """

    def decorate(build):
        @functools.wraps(build)
        def load() -> onnx.ModelProto:
            key = hashlib.sha256(repr((name, parameters, _builders())).encode()).hexdigest()[:_KEY_LENGTH]
            path = cache_directory() / f"{name}-{key}.onnx"
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                for outdated in path.parent.glob(f"{name}-{'?' * _KEY_LENGTH}.onnx"):
                    outdated.unlink(missing_ok=True)
                partial = path.with_suffix(f".{os.getpid()}")
                onnx.save(build(), partial)
                partial.rename(path)
            return onnx.load(path)

        return load

    return decorate


@functools.cache
def _builders() -> tuple[str, ...]:
    digest = hashlib.sha256(b"".join(Path(module.__file__).read_bytes() for module in _BUILDERS)).hexdigest()
    return onnx.__version__, onnxruntime.__version__, digest
