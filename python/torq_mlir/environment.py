# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a bug report has to say: versions of packages, of MLIR and of Python, and the machine."""

import io
import mmap
import os
import platform
import re
from pathlib import Path

from torq_mlir.extras import DISTRIBUTION, extras, installed_version, requirements

# Packages whose code decides what is compiled.
_DECIDING = (DISTRIBUTION, "torch-mlir", "onnx", "onnxruntime", "numpy", "ml_dtypes")
_MISSING = "not installed"
_PRODUCER = re.compile(rb"MLIR([0-9][\w.]*)\0")
_REVISION = re.compile(rb"LLVM version [0-9][\w.]* \(([0-9a-f]{40})")


class Versions(dict[str, str]):
    """Versions by name; one on a line when it is printed."""

    def __str__(self) -> str:
        return "\n".join(f"{name} {version}" for name, version in self.items())


def versions() -> Versions:
    """The versions of everything that matters for a bug report.

    Those of this package and of all that it can use, by distribution name ("not installed" where one is not),
    "mlir" (of the torch-mlir wheel, with the revision of LLVM where it tells that), "python", "platform", "cpu" (the
    name of the processor), "cpu-kernels" (the instructions that the CPU backend generates code for) and "cores".
    """
    names = [DISTRIBUTION, *(each.name for extra in extras() for each in requirements(extra))]
    found = Versions((name, installed_version(name) or _MISSING) for name in names)
    python = f"{platform.python_version()} {platform.python_implementation()}"
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return Versions(
        found
        | {"mlir": _mlir_version(), "python": python, "platform": platform.platform()}
        | {"cpu": _processor(), "cpu-kernels": _kernels(), "cores": str(cores)}
    )


def deciding_versions() -> dict[str, str]:
    """The versions of this package and of those whose code decides what is compiled, by distribution name."""
    return {name: installed_version(name) or _MISSING for name in _DECIDING}


def _mlir_version() -> str:
    """The version that bytecode names as its producer, and the revision that the library was built from."""
    from torch_mlir import _mlir_libs, ir

    bytecode = io.BytesIO()
    ir.Module.create(ir.Location.unknown(ir.Context())).operation.write_bytecode(bytecode)
    producer = _PRODUCER.search(bytecode.getvalue())
    version = producer[1].decode() if producer else "unknown"
    library = Path(_mlir_libs.__file__).with_name("libTorchMLIRAggregateCAPI.so")
    if not library.exists():  # on other systems than Linux
        return version
    with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as contents:
        revision = _REVISION.search(contents)
        return f"{version} ({revision[1].decode()})" if revision else version


def _processor() -> str:
    try:
        model = re.search(r"^model name\s*:\s*(.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        model = None
    return model[1] if model else platform.processor() or platform.machine()


def _kernels() -> str:
    from torq_mlir.backends.cpu import detect

    return detect().name
