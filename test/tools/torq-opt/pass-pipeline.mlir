// Python and C++ passes mixed and nested; neighbours on the same op run as one pipeline, as in mlir-opt.

// RUN: torq-opt %s --pass-pipeline='builtin.module(func.func(cse),func.func(torq-signed-storage, canonicalize),symbol-dce,builtin.module(func.func(torq-fuse-quantized-ops{explain})))' \
// RUN:   -dump-pass-pipeline 2>&1 | FileCheck %s
// RUN: torq-opt %s --pass-pipeline='any(cse,any(torq-signed-storage))' | FileCheck %s --check-prefix=ANY
// RUN: torq-opt %s --pass-pipeline='builtin.module()' | FileCheck %s --check-prefix=NONE
// RUN: torq-opt %s --pass-pipeline='builtin.module(torq-linalg-to-torq-hl)' -dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=NAMED

// CHECK:      Pass Manager with 3 passes:
// CHECK-NEXT: builtin.module(
// CHECK-NEXT:   func.func(
// CHECK-NEXT:     cse,
// CHECK-NEXT:     torq-signed-storage,
// CHECK-NEXT:     canonicalize{{{.*}}}
// CHECK-NEXT:   ),
// CHECK-NEXT:   symbol-dce,
// CHECK-NEXT:   builtin.module(
// CHECK-NEXT:     func.func(
// CHECK-NEXT:       torq-fuse-quantized-ops{explain=true}
// CHECK-NEXT:     )
// CHECK-NEXT:   )
// CHECK-NEXT: )
// CHECK:        arith.addi
// CHECK-NOT:    arith.addi
// CHECK-NOT:    @unused

// NAMED: torq-fuse-quantized-ops{explain=false},
// NAMED-NEXT: convert-linalg-to-torq-hl

// ANY: arith.addi
// ANY-NOT: arith.addi
// NONE-COUNT-2: arith.addi
func.func @f(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  %1 = arith.addi %a, %a : i32
  %2 = arith.muli %0, %1 : i32
  return %2 : i32
}
func.func private @unused(i32)
