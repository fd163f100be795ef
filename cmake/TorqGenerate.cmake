# Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What is generated from a .td file. Everything lands in one Python package, torq_mlir._generated.

set(TORQ_GENERATED_DIR "${CMAKE_CURRENT_BINARY_DIR}/generated")
set(TORQ_SCRIPTS "${CMAKE_CURRENT_SOURCE_DIR}/cmake")
set(TORQ_GENERATED_FILES "")

# torq_generate(<output> <source.td> <command> ...): one output from one source; `-d` files give the dependencies.
function(torq_tablegen output source tool)
  set(depfile "${TORQ_GENERATED_DIR}/${output}.d")
  set(path "${TORQ_GENERATED_DIR}/${output}")
  add_custom_command(
    OUTPUT "${path}"
    COMMAND "${tool}" ${ARGN} "${CMAKE_CURRENT_SOURCE_DIR}/${source}" -I "${TORQ_TD_INCLUDES}"
            -I "${MLIR_TD_INCLUDES}" -o "${path}" -d "${depfile}"
    DEPENDS "${source}" "${tool}"
    DEPFILE "${depfile}"
    COMMENT "Generating ${output}" VERBATIM)
endfunction()

function(torq_script output script input)
  set(path "${TORQ_GENERATED_DIR}/${output}")
  add_custom_command(
    OUTPUT "${path}"
    COMMAND "${Python_EXECUTABLE}" "${TORQ_SCRIPTS}/${script}" "${TORQ_GENERATED_DIR}/${input}" -o "${path}" ${ARGN}
    DEPENDS "${TORQ_SCRIPTS}/${script}" "${TORQ_GENERATED_DIR}/${input}"
    COMMENT "Generating ${output}" VERBATIM)
endfunction()

macro(torq_generated)
  foreach(output ${ARGN})
    list(APPEND TORQ_GENERATED_FILES "${TORQ_GENERATED_DIR}/${output}")
  endforeach()
endmacro()

# Op classes, description (constraints in Python) and documentation of a dialect.
macro(torq_add_dialect name source documentation)
  torq_tablegen(_${name}_ops.py ${source} "${MLIR_TBLGEN}" -gen-python-op-bindings -bind-dialect=${name})
  torq_tablegen(${documentation}.md ${source} "${MLIR_TBLGEN}" -gen-dialect-doc -dialect=${name})
  torq_tablegen(${name}.records.json ${source} "${LLVM_TBLGEN}" --dump-json)
  torq_script(${name}.py describe_dialect.py ${name}.records.json --dialect ${name})
  torq_generated(_${name}_ops.py ${documentation}.md ${name}.py)
endmacro()

# Declarations and documentation of the passes.
macro(torq_add_passes source)
  torq_tablegen(passes.md ${source} "${MLIR_TBLGEN}" -gen-pass-doc)
  torq_tablegen(passes.records.json ${source} "${LLVM_TBLGEN}" --dump-json)
  torq_script(passes.json describe_passes.py passes.records.json)
  torq_generated(passes.md passes.json)
endmacro()

function(torq_install_generated destination)
  # The generated op classes import these names from their own package.
  file(CONFIGURE OUTPUT "${TORQ_GENERATED_DIR}/_ods_common.py"
    CONTENT "from torch_mlir.dialects._ods_common import *\nfrom torch_mlir.dialects._ods_common import _cext\n")
  file(CONFIGURE OUTPUT "${TORQ_GENERATED_DIR}/__init__.py" CONTENT "")
  add_custom_target(torq_generate ALL DEPENDS ${TORQ_GENERATED_FILES})
  install(FILES ${TORQ_GENERATED_FILES} "${TORQ_GENERATED_DIR}/_ods_common.py" "${TORQ_GENERATED_DIR}/__init__.py"
    DESTINATION "${destination}")
endfunction()
