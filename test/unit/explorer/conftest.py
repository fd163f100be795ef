# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lets the tests here import `graph_reading`, which is beside them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
