# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What others include and find: definitions, headers and the package TorqMLIR of CMake.

include(CMakePackageConfigHelpers)

file(STRINGS "${CMAKE_CURRENT_SOURCE_DIR}/pyproject.toml" TORQ_VERSION REGEX "^version = ")
string(REGEX REPLACE "^version = \"(.*)\"$" "\\1" TORQ_VERSION "${TORQ_VERSION}")

# dialects/ as it is once installed: definitions include one another by these names.
set(TORQ_TD_INCLUDES "${CMAKE_CURRENT_BINARY_DIR}/include")
file(MAKE_DIRECTORY "${TORQ_TD_INCLUDES}/torq_mlir")
file(CREATE_LINK "${CMAKE_CURRENT_SOURCE_DIR}/dialects" "${TORQ_TD_INCLUDES}/torq_mlir/Dialect" SYMBOLIC)

# torq_install_package(<for TorqMLIRConfig.cmake> <for headers>), both relative to the prefix.
function(torq_install_package config include)
  set(TORQ_INCLUDE_DIR "${include}")
  configure_package_config_file("${CMAKE_CURRENT_SOURCE_DIR}/cmake/TorqMLIRConfig.cmake.in"
    "${CMAKE_CURRENT_BINARY_DIR}/TorqMLIRConfig.cmake" INSTALL_DESTINATION "${config}" PATH_VARS TORQ_INCLUDE_DIR)
  write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/TorqMLIRConfigVersion.cmake"
    VERSION "${TORQ_VERSION}" COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/TorqMLIRConfig.cmake"
    "${CMAKE_CURRENT_BINARY_DIR}/TorqMLIRConfigVersion.cmake" DESTINATION "${config}")
  install(DIRECTORY dialects/ DESTINATION "${include}/torq_mlir/Dialect" FILES_MATCHING PATTERN "*.td")
  install(DIRECTORY cpp/include/ DESTINATION "${include}")
endfunction()
