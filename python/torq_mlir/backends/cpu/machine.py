# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The processors that code is made for, and which of them this machine is."""

import dataclasses
import functools
import os
import platform
from pathlib import Path

from torq_mlir.errors import CompileError


@dataclasses.dataclass(frozen=True)
class Cpu:
    """What the kernels have to know of a processor.

    Attributes:
      name: as in `--cpu`.
      lanes: i32 elements of a vector.
      registers: number of vector registers.
      target: LLVM's name of a processor that has these instructions and no more; None for any processor.
      requires: flags of /proc/cpuinfo that a machine must have to run the code.
    """

    name: str
    lanes: int
    registers: int
    target: str | None
    requires: frozenset[str]

    @property
    def has_dot_product(self) -> bool:
        """Of u8 and i8, in groups of four."""
        return "vnni" in self.name

    @property
    def is_x86(self) -> bool:
        return self.target is not None


_AVX512 = frozenset({"avx512f", "avx512bw", "avx512vl", "avx512dq", "avx512_vnni"})
# Best first. There are two encodings of the 256-bit instructions, and machines that have one of them alone.
CPUS = (
    Cpu("avx512-vnni", 16, 32, "cascadelake", _AVX512),
    Cpu("avx-vnni", 8, 16, "alderlake", frozenset({"avx2", "avx_vnni"})),
    Cpu("avx-vnni", 8, 16, "cascadelake", _AVX512),
    Cpu("avx2", 8, 16, "haswell", frozenset({"avx2", "fma"})),
    Cpu("generic", 4, 16, None, frozenset()),
)

# Of a core, where it is not known.
_SMALL_CACHE = 1 << 18


@functools.cache
def available() -> tuple[Cpu, ...]:
    """Those that this machine can run, the best first."""
    flags = _flags()
    runnable = {cpu.name: cpu for cpu in reversed(CPUS) if cpu.requires <= flags}
    return tuple(runnable.values())[::-1]


def detect() -> Cpu:
    """The best one that this machine can run."""
    return available()[0]


def select(name: str | None = None) -> Cpu:
    """The one of that name, or else of the variable TORQ_CPU; the best one where none is named.

    Raises:
      CompileError: there is none of that name, or this machine lacks its instructions.
    """
    name = name or os.environ.get("TORQ_CPU")
    if not name:
        return detect()
    named = [cpu for cpu in CPUS if cpu.name == name]
    if not named:
        raise CompileError(f"there is no cpu {name!r}; there are {', '.join(dict.fromkeys(cpu.name for cpu in CPUS))}")
    found = next((cpu for cpu in available() if cpu.name == name), None)
    if found is None:
        missing = sorted(named[0].requires - _flags())
        raise CompileError(f"this machine cannot run code for {name}: it has no {', '.join(missing)}")
    return found


@functools.cache
def second_level_cache() -> int:
    """Bytes of the one of a core."""
    for folder in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"):
        try:
            level, size = ((folder / name).read_text().strip() for name in ("level", "size"))
        except OSError:
            continue
        if level == "2" and size.endswith("K"):
            return int(size[:-1]) << 10
    return _SMALL_CACHE


@functools.cache
def _flags() -> frozenset[str]:
    """Instruction sets of this machine, as Linux names them; none where they are not known."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return frozenset()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return frozenset()
    return frozenset(next((line.split(":", 1)[1].split() for line in lines if line.startswith("flags")), []))
