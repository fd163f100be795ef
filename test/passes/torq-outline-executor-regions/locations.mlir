// RUN: torq-opt --torq-outline-executor-regions --mlir-print-debuginfo %s | FileCheck %s

// The function and the call are named after all that is in them; operations keep their locations.

// CHECK-DAG: #[[CONV:.*]] = loc("conv")
// CHECK-DAG: #[[ADD:.*]] = loc("add")
// CHECK-DAG: #[[BOTH:.*]] = loc(fused[#[[CONV]], #[[ADD]]])
// CHECK: func.func private @main_nss_0
// CHECK: "torq_hl.identity"{{.*}} loc(#[[CONV]])
// CHECK: "torq_hl.identity"{{.*}} loc(#[[ADD]])
// CHECK: } loc(#[[BOTH]])
// CHECK: call @main_nss_0{{.*}} loc(#[[BOTH]])
func.func @main(%x: tensor<8xi8>) -> tensor<8xi8> {
  %e = tensor.empty() : tensor<8xi8>
  %0 = "torq_hl.identity"(%e, %x) : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8> loc("conv")
  %1 = "torq_hl.identity"(%e, %0) : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8> loc("add")
  return %1 : tensor<8xi8>
}
