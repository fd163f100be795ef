# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cases that are known to fail, and why. One that passes is a failure of the run: take it off the list."""

EXPECTED_FAILURES: dict[str, str] = {}
