// RUN: torq-opt --split-input-file --torq-outline-executor-regions %s | FileCheck %s
// RUN: torq-opt --split-input-file --torq-outline-executor-regions=executors=host %s | FileCheck %s --check-prefix=HOST
// RUN: torq-opt --split-input-file --torq-outline-executor-regions %s > %t.once
// RUN: torq-opt --torq-outline-executor-regions --split-input-file %t.once | diff %t.once -
// RUN: not torq-opt --torq-outline-executor-regions=executors=gpu %s 2>&1 | FileCheck %s --check-prefix=ERROR

// ERROR: error: 'gpu' is no executor; they are nss, css, host

// What the NPU can compute before and after the host has a turn is one region, with several arguments and results.
// Constants are copied. The attribute is on the function and on the call.

// CHECK-LABEL: func.func private @main_nss_0(
// CHECK-SAME: %[[X:.*]]: tensor<8xi8>, %[[Q:.*]]: tensor<8xi8>) -> (tensor<8xi8>, tensor<8xi8>)
// CHECK-SAME: attributes {"torq-executor" = "nss"}
// CHECK: %[[E:.*]] = tensor.empty()
// CHECK: %[[Y0:.*]] = "torq_hl.identity"(%[[E]], %[[X]])
// CHECK: %[[Y1:.*]] = "torq_hl.identity"(%[[E]], %[[Y0]])
// CHECK: %[[Z:.*]] = "torq_hl.identity"(%[[E]], %[[Q]])
// CHECK: return %[[Y1]], %[[Z]]
// CHECK-LABEL: func.func @main(
// CHECK-NEXT: arith.addf
// CHECK-NEXT: %[[QUANTIZED:.*]] = arith.fptosi
// CHECK-NEXT: %[[BOTH:.*]]:2 = call @main_nss_0(%arg0, %[[QUANTIZED]]) {"torq-executor" = "nss"}
// CHECK-NEXT: %[[BACK:.*]] = arith.sitofp %[[BOTH]]#1
// CHECK-NEXT: return %[[BOTH]]#0, %[[BOTH]]#1, %[[BACK]]

// HOST-LABEL: func.func private @main_host_0(
// HOST: arith.addf
// HOST: arith.fptosi
// HOST-LABEL: func.func private @main_host_1(
// HOST: arith.sitofp
// HOST-LABEL: func.func @main(
// HOST: "torq_hl.identity"
// HOST: call @main_host_0
// HOST: call @main_host_1
func.func @main(%x: tensor<8xi8>, %f: tensor<8xf32>) -> (tensor<8xi8>, tensor<8xi8>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xi8>
  %0 = "torq_hl.identity"(%e, %x) : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8>
  %h = arith.addf %f, %f : tensor<8xf32>
  %q = arith.fptosi %h : tensor<8xf32> to tensor<8xi8>
  %1 = "torq_hl.identity"(%e, %0) : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8>
  %2 = "torq_hl.identity"(%e, %q) : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8>
  %back = arith.sitofp %2 : tensor<8xi8> to tensor<8xf32>
  return %1, %2, %back : tensor<8xi8>, tensor<8xi8>, tensor<8xf32>
}

// -----

// Two regions where one would wait for itself: the host needs the first, and the second needs the host.

// CHECK-LABEL: func.func private @waits_nss_0(%arg0: tensor<8xi8>) -> tensor<8xi8>
// CHECK-LABEL: func.func private @waits_nss_1(%arg0: tensor<8xi8>, %arg1: tensor<8xi8>) -> tensor<8xi8>
// CHECK: "torq_hl.identity"(%{{.*}}, %arg0)
// CHECK-LABEL: func.func @waits(
// CHECK: %[[FIRST:.*]] = call @waits_nss_0(%arg0)
// CHECK: %[[ON_HOST:.*]] = arith.negf
// CHECK: %[[BACK:.*]] = arith.fptosi %[[ON_HOST]]
// CHECK: call @waits_nss_1(%[[BACK]], %[[FIRST]])
func.func @waits(%x: tensor<8xi8>) -> tensor<8xi8> {
  %e = tensor.empty() : tensor<8xi8>
  %0 = "torq_hl.identity"(%e, %x) : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8>
  %f = arith.sitofp %0 : tensor<8xi8> to tensor<8xf32>
  %n = arith.negf %f : tensor<8xf32>
  %q = arith.fptosi %n : tensor<8xf32> to tensor<8xi8>
  %1 = "torq_hl.identity"(%e, %q) : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8>
  %2 = "torq_hl.elementwisebinary"(%e, %1, %0) {op_type = 5 : i32} : (tensor<8xi8>, tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8>
  return %2 : tensor<8xi8>
}

// -----

// Another shape belongs to the region around it, and to nobody at its border. An assignment is respected.

// CHECK-LABEL: func.func private @shapes_nss_0(
// CHECK: torq_hl.identity
// CHECK: tensor.collapse_shape
// CHECK: torq_hl.identity
// CHECK: return
// CHECK-LABEL: func.func private @shapes_css_0(
// CHECK-SAME: attributes {"torq-executor" = "css"}
// CHECK-NEXT: arith.negf
// CHECK-LABEL: func.func @shapes(
// CHECK: %[[Y:.*]] = call @shapes_nss_0(%arg0)
// CHECK: tensor.expand_shape %[[Y]]
// CHECK: call @shapes_css_0(%arg1) {"torq-executor" = "css"}
func.func @shapes(%x: tensor<2x4xi8>, %f: tensor<8xf32>) -> (tensor<4x2xi8>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<2x4xi8>
  %0 = "torq_hl.identity"(%e, %x) : (tensor<2x4xi8>, tensor<2x4xi8>) -> tensor<2x4xi8>
  %flat = tensor.collapse_shape %0 [[0, 1]] : tensor<2x4xi8> into tensor<8xi8>
  %e1 = tensor.empty() : tensor<8xi8>
  %1 = "torq_hl.identity"(%e1, %flat) : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8>
  %y = tensor.expand_shape %1 [[0, 1]] output_shape [4, 2] : tensor<8xi8> into tensor<4x2xi8>
  %n = arith.negf %f {"torq-executor" = "css"} : tensor<8xf32>
  return %y, %n : tensor<4x2xi8>, tensor<8xf32>
}

// -----

// Operations without results have an order: nothing moves.

// CHECK-LABEL: func.func @effects(
// CHECK-NOT: call
func.func @effects(%x: tensor<8xi8>, %m: memref<8xi8>) -> tensor<8xi8> {
  %e = tensor.empty() : tensor<8xi8>
  %c = arith.constant 0 : index
  %v = arith.constant 0 : i8
  memref.store %v, %m[%c] : memref<8xi8>
  %0 = "torq_hl.identity"(%e, %x) : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8>
  return %0 : tensor<8xi8>
}

// -----

// No name is given twice, and a region that has been outlined is not outlined again.

// CHECK-LABEL: func.func private @named_nss_2(
// CHECK: torq_hl.identity
// CHECK-LABEL: func.func @named(
// CHECK-NEXT: call @named_nss_0(%arg0) {"torq-executor" = "nss"}
// CHECK-NEXT: arith.negf
// CHECK-NEXT: call @named_nss_2(%arg0) {"torq-executor" = "nss"}
func.func private @named_nss_0(%x: tensor<8xi8>) -> tensor<8xf32> attributes {"torq-executor" = "nss"}
func.func private @named_nss_1()
func.func @named(%x: tensor<8xi8>) -> (tensor<8xf32>, tensor<8xi8>) {
  %0 = call @named_nss_0(%x) {"torq-executor" = "nss"} : (tensor<8xi8>) -> tensor<8xf32>
  %1 = arith.negf %0 : tensor<8xf32>
  %e = tensor.empty() : tensor<8xi8>
  %2 = "torq_hl.identity"(%e, %x) : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8>
  return %1, %2 : tensor<8xf32>, tensor<8xi8>
}
