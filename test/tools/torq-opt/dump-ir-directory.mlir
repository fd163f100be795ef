// One numbered file after each pass, in the order in which the passes ran.

// RUN: rm -rf %t
// RUN: torq-opt %s --pass-pipeline='builtin.module(cse,func.func(canonicalize),torq-signed-storage)' --dump-ir-directory=%t -o /dev/null
// RUN: ls %t | FileCheck %s --check-prefix=FILES
// RUN: FileCheck %s < %t/002_canonicalize_f.mlir

//      FILES: 001_cse.mlir
// FILES-NEXT: 002_canonicalize_f.mlir
// FILES-NEXT: 003_canonicalize_g.mlir
// FILES-NEXT: 004_torq-signed-storage.mlir

// CHECK:     func.func @f
// CHECK-NOT:   arith.addi
// CHECK:     func.func @g
// CHECK:       arith.addi
func.func @f(%a: i32) -> i32 {
  %0 = arith.constant 0 : i32
  %1 = arith.addi %a, %0 : i32
  return %1 : i32
}
func.func @g(%a: i32) -> i32 {
  %0 = arith.constant 0 : i32
  %1 = arith.addi %a, %0 : i32
  return %1 : i32
}
