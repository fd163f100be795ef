# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# TORQ_WHEEL_MLIR and TORQ_WHEEL_LLVM: where the wheels xtc-mlir-* and xtc-llvm-* are, if Python_EXECUTABLE has them.

set(TORQ_MINIMUM_LLVM 22)

execute_process(
  COMMAND "${Python_EXECUTABLE}" -c "import sys; print(';'.join(sys.path[1:]))"
  OUTPUT_VARIABLE TORQ_PYTHON_PATH OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set(TORQ_WHEEL_MLIR ${TORQ_PYTHON_PATH})
list(TRANSFORM TORQ_WHEEL_MLIR APPEND "/mlir")
set(TORQ_WHEEL_LLVM ${TORQ_PYTHON_PATH})
list(TRANSFORM TORQ_WHEEL_LLVM APPEND "/llvm")
