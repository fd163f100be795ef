# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models lowered to TOSA and StableHLO, in float and in integer form, run on the host and compared with eager mode."""
