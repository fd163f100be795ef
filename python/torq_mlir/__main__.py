# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""python -m torq_mlir: the versions that a bug report has to say."""

from torq_mlir import versions

if __name__ == "__main__":
    print(versions())
