# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tasks for other processes, which have to be able to import them."""

import os
import time

from torq_mlir.errors import ModelError


def double(number):
    return 2 * number


def kill_self(number):
    os.kill(os.getpid(), number)


def leave(code):
    os._exit(code)


def hang(seconds):
    time.sleep(seconds)


def refuse(text):
    raise ModelError(text)
