// Where the IR goes: text, bytecode, and text that torq-opt reads.

// RUN: rm -rf %t && mkdir -p %t
// RUN: torq-compile %S/../../data/oracle/gemm_batch1.onnx -o %t/gemm.mlir
// RUN: FileCheck %s --input-file=%t/gemm.mlir
// RUN: torq-opt %t/gemm.mlir | FileCheck %s
// RUN: torq-compile %S/../../data/oracle/gemm_batch1.onnx -o %t/gemm.mlirbc
// RUN: torq-compile %t/gemm.mlirbc | FileCheck %s
// RUN: torq-opt %t/gemm.mlirbc | FileCheck %s

// Constants are in the text, unless they are elided.
// CHECK:     dense<"0x
// CHECK-NOT: __elided__
// CHECK:     "torq_hl.fully_connected"

// RUN: torq-compile %S/../../data/oracle/gemm_batch1.onnx --elide | FileCheck %s --check-prefix=ELIDED
// ELIDED:     __elided__
// ELIDED-NOT: dense<"0x

// RUN: torq-compile %S/../../data/oracle/gemm_batch1.onnx --debug-info --elide | FileCheck %s --check-prefix=LOCATIONS
// LOCATIONS: loc("{{.*}}")
