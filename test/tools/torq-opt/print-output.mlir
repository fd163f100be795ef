// How the output is printed.

// RUN: torq-opt %s -mlir-print-op-generic --mlir-elide-elementsattrs-if-larger=2 | FileCheck %s --check-prefix=GENERIC
// RUN: torq-opt %s --mlir-print-debuginfo --mlir-print-local-scope --mlir-elide-resource-strings-if-larger=4 \
// RUN:   | FileCheck %s --check-prefix=DEBUG
// RUN: torq-opt %s --mlir-pretty-debuginfo --mlir-print-debuginfo --mlir-use-nameloc-as-prefix \
// RUN:   | FileCheck %s --check-prefix=PRETTY
// RUN: torq-opt %s --mlir-print-skip-regions | FileCheck %s --check-prefix=SKIP

// GENERIC:     "builtin.module"() ({
// GENERIC:       "func.func"()
// GENERIC:         "arith.constant"() <{value = dense_resource<__elided__> : tensor<3xi8>}>
// GENERIC-NOT: dense<

// DEBUG:     func.func @f() -> tensor<3xi8> {
// DEBUG:       arith.constant dense<[1, 2, 3]> : tensor<3xi8> loc("weights")
// DEBUG:       return {{.*}} loc("{{.*}}print-output.mlir":[[@LINE+16]]:3)
// DEBUG-NOT: 0x01000000

// PRETTY: %weights = arith.constant dense<[1, 2, 3]> : tensor<3xi8> "weights"

// SKIP:     module {...}
// SKIP-NOT: func.func

func.func private @resource() -> tensor<4xi8> {
  %0 = arith.constant dense_resource<blob> : tensor<4xi8>
  return %0 : tensor<4xi8>
}
func.func @f() -> tensor<3xi8> {
  %0 = arith.constant dense<[1, 2, 3]> : tensor<3xi8> loc("weights")
  %1 = tensor.empty() : tensor<3xi8>

  return %0 : tensor<3xi8>
}

{-# dialect_resources: { builtin: { blob: "0x0100000001020304" } } #-}
