// The input is a file, "-" or nothing; the output file is written on success only.

// RUN: rm -rf %t && mkdir %t
// RUN: torq-opt - --mlir-print-debuginfo -o %t/text.mlir < %s
// RUN: torq-opt --emit-bytecode -o=%t/binary.mlirbc < %t/text.mlir
// RUN: torq-opt %t/binary.mlirbc | FileCheck %s
// RUN: FileCheck %s --check-prefix=NAME < %t/text.mlir

// RUN: not torq-opt %s --torch-verify-linalg-on-tensors-backend-contract > %t/stdout 2> %t/stderr
// RUN: count 0 < %t/stdout
// RUN: FileCheck %s --check-prefix=ERROR < %t/stderr
// RUN: not torq-opt %s --torch-verify-linalg-on-tensors-backend-contract -o %t/text.mlir
// RUN: FileCheck %s --check-prefix=NAME < %t/text.mlir
// RUN: torq-opt %s -o /dev/null | count 0

// CHECK: module {
// CHECK:   func.func @f() -> !torch.int
// NAME:  loc("<stdin>":[[@LINE+2]]:1)
// ERROR: files.mlir:{{.*}}: error:
func.func @f() -> !torch.int {
  %0 = torch.constant.int 1
  return %0 : !torch.int
}
