# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What torq-opt does as a process: how fast it starts, how it ends."""

import os
import subprocess
import sys

MODULE = "func.func @f(%a: i32) -> i32 {\n  return %a : i32\n}\n"
COMMAND = [sys.executable, "-m", "torq_mlir.tools.torq_opt"]


def cpu_seconds(command: list[str]) -> float:
    """User and system time of a process, which a busy machine does not change as it does the time on the clock."""
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_utime + usage.ru_stime


def test_starts_in_less_than_400_ms(tmp_path):
    path = tmp_path / "small.mlir"
    path.write_text(MODULE)
    command = [*COMMAND, str(path), "--cse", "-o", os.devnull]
    assert min(cpu_seconds(command) for _ in range(3)) < 0.4


def test_reader_of_stdout_goes_away(tmp_path):
    path = tmp_path / "large.mlir"
    path.write_text("".join(f"func.func private @function_{index}()\n" for index in range(20000)))
    process = subprocess.Popen([*COMMAND, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.read(10)
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 1
