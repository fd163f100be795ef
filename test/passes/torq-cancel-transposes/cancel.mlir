// RUN: torq-opt --split-input-file --torq-cancel-transposes %s | FileCheck %s

// One and its inverse.

// CHECK-LABEL: func.func @inverse
// CHECK-NEXT: return %arg0
func.func @inverse(%x: tensor<1x2x3x4xi8>) -> tensor<1x2x3x4xi8> {
  %0 = tensor.empty() : tensor<1x3x4x2xi8>
  %1 = "torq_hl.transpose"(%0, %x) {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x3x4x2xi8>, tensor<1x2x3x4xi8>) -> tensor<1x3x4x2xi8>
  %2 = tensor.empty() : tensor<1x2x3x4xi8>
  %3 = "torq_hl.transpose"(%2, %1) {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x2x3x4xi8>, tensor<1x3x4x2xi8>) -> tensor<1x2x3x4xi8>
  return %3 : tensor<1x2x3x4xi8>
}

// -----

// Any two are one.

// CHECK-LABEL: func.func @composed
// CHECK: %[[Y:.*]] = "torq_hl.transpose"(%{{.*}}, %arg0) {perm = array<i64: 2, 0, 1>}
// CHECK-NEXT: return %[[Y]]
func.func @composed(%x: tensor<2x3x4xi8>) -> tensor<4x2x3xi8> {
  %0 = tensor.empty() : tensor<4x3x2xi8>
  %1 = "torq_hl.transpose"(%0, %x) {perm = array<i64: 2, 1, 0>} : (tensor<4x3x2xi8>, tensor<2x3x4xi8>) -> tensor<4x3x2xi8>
  %2 = tensor.empty() : tensor<4x2x3xi8>
  %3 = "torq_hl.transpose"(%2, %1) {perm = array<i64: 0, 2, 1>} : (tensor<4x2x3xi8>, tensor<4x3x2xi8>) -> tensor<4x2x3xi8>
  return %3 : tensor<4x2x3xi8>
}

// -----

// Dimensions of size 1 move in a reshape.

// CHECK-LABEL: func.func @view
// CHECK-NOT: torq_hl.transpose
// CHECK: tensor.expand_shape %{{.*}} output_shape [1, 8, 1, 1]
func.func @view(%x: tensor<1x1x1x8xi8>) -> tensor<1x8x1x1xi8> {
  %0 = tensor.empty() : tensor<1x8x1x1xi8>
  %1 = "torq_hl.transpose"(%0, %x) {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x8x1x1xi8>, tensor<1x1x1x8xi8>) -> tensor<1x8x1x1xi8>
  return %1 : tensor<1x8x1x1xi8>
}

// -----

// Through an activation; the result is in the layout of its operand then.

// CHECK-LABEL: func.func @through_activation
// CHECK: %[[Y:.*]] = "torq_hl.act"(%{{.*}}, %arg0) {{.*}}torq_hl.layout = array<i64: 0, 2, 3, 1>{{.*}} : {{.*}} -> tensor<1x2x3x4xi8>
// CHECK-NEXT: return %[[Y]]
func.func @through_activation(%x: tensor<1x2x3x4xi8>) -> tensor<1x2x3x4xi8> {
  %0 = tensor.empty() : tensor<1x3x4x2xi8>
  %1 = "torq_hl.transpose"(%0, %x) {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x3x4x2xi8>, tensor<1x2x3x4xi8>) -> tensor<1x3x4x2xi8>
  %2 = "torq_hl.act"(%0, %1) {name = "clamp", input_zp = 0 : i32, output_zp = 0 : i32, min_int = 0, max_int = 100, min_fp = 0.0 : f32, max_fp = 1.0 : f32} : (tensor<1x3x4x2xi8>, tensor<1x3x4x2xi8>) -> tensor<1x3x4x2xi8>
  %3 = tensor.empty() : tensor<1x2x3x4xi8>
  %4 = "torq_hl.transpose"(%3, %2) {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x2x3x4xi8>, tensor<1x3x4x2xi8>) -> tensor<1x2x3x4xi8>
  return %4 : tensor<1x2x3x4xi8>
}

// -----

// Both operands have it: there is one transpose less, whatever comes after. The layouts of constants follow.

// CHECK-LABEL: func.func @sum
// CHECK: %[[C:.*]] = arith.constant dense<{{\[\[\[\[}}1]], {{\[\[}}2]]]]> : tensor<1x2x1x1xi8>
// CHECK: %[[SUM:.*]] = "torq_hl.elementwisebinary"(%{{.*}}, %arg0, %arg1)
// CHECK: %[[MAX:.*]] = "torq_hl.elementwisebinary"(%{{.*}}, %[[SUM]], %[[C]])
// CHECK: %[[MIN:.*]] = "torq_hl.elementwisebinary"(%{{.*}}, %[[MAX]], %arg2)
// CHECK: "torq_hl.transpose"(%{{.*}}, %[[MIN]]) {perm = array<i64: 0, 2, 3, 1>}
// CHECK-NOT: torq_hl.transpose
func.func @sum(%a: tensor<1x2x3x4xi8>, %b: tensor<1x2x3x4xi8>, %d: tensor<1x2x3x4xi8>) -> tensor<1x3x4x2xi8> {
  %c = arith.constant dense<[1, 2]> : tensor<2xi8>
  %0 = tensor.empty() : tensor<1x3x4x2xi8>
  %1 = "torq_hl.transpose"(%0, %a) {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x3x4x2xi8>, tensor<1x2x3x4xi8>) -> tensor<1x3x4x2xi8>
  %2 = "torq_hl.transpose"(%0, %b) {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x3x4x2xi8>, tensor<1x2x3x4xi8>) -> tensor<1x3x4x2xi8>
  %3 = "torq_hl.elementwisebinary"(%0, %1, %2) {op_type = 14 : i32} : (tensor<1x3x4x2xi8>, tensor<1x3x4x2xi8>, tensor<1x3x4x2xi8>) -> tensor<1x3x4x2xi8>
  %4 = "torq_hl.elementwisebinary"(%0, %3, %c) {op_type = 5 : i32} : (tensor<1x3x4x2xi8>, tensor<1x3x4x2xi8>, tensor<2xi8>) -> tensor<1x3x4x2xi8>
  %5 = "torq_hl.transpose"(%0, %d) {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x3x4x2xi8>, tensor<1x2x3x4xi8>) -> tensor<1x3x4x2xi8>
  %6 = "torq_hl.elementwisebinary"(%0, %4, %5) {op_type = 4 : i32} : (tensor<1x3x4x2xi8>, tensor<1x3x4x2xi8>, tensor<1x3x4x2xi8>) -> tensor<1x3x4x2xi8>
  return %6 : tensor<1x3x4x2xi8>
}

// -----

// A concatenation along the channels, and a slice of them.

// CHECK-LABEL: func.func @concat_and_slice
// CHECK: %[[Y:.*]] = tensor.concat dim(1) %arg0, %arg1
// CHECK: %[[S:.*]] = tensor.extract_slice %[[Y]][0, 1, 0, 0] [1, 3, 3, 4] [1, 1, 1, 1]
// CHECK-NEXT: return %[[S]]
func.func @concat_and_slice(%a: tensor<1x2x3x4xi8>, %b: tensor<1x2x3x4xi8>) -> tensor<1x3x3x4xi8> {
  %0 = tensor.empty() : tensor<1x3x4x2xi8>
  %1 = "torq_hl.transpose"(%0, %a) {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x3x4x2xi8>, tensor<1x2x3x4xi8>) -> tensor<1x3x4x2xi8>
  %2 = "torq_hl.transpose"(%0, %b) {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x3x4x2xi8>, tensor<1x2x3x4xi8>) -> tensor<1x3x4x2xi8>
  %3 = tensor.concat dim(3) %1, %2 : (tensor<1x3x4x2xi8>, tensor<1x3x4x2xi8>) -> tensor<1x3x4x4xi8>
  %4 = tensor.extract_slice %3[0, 0, 0, 1] [1, 3, 4, 3] [1, 1, 1, 1] : tensor<1x3x4x4xi8> to tensor<1x3x4x3xi8>
  %5 = tensor.empty() : tensor<1x3x3x4xi8>
  %6 = "torq_hl.transpose"(%5, %4) {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x3x3x4xi8>, tensor<1x3x4x3xi8>) -> tensor<1x3x3x4xi8>
  return %6 : tensor<1x3x3x4xi8>
}

// -----

// There is nothing to cancel with: all stays where it is.

// CHECK-LABEL: func.func @alone
// CHECK: %[[T:.*]] = "torq_hl.transpose"(%{{.*}}, %arg0)
// CHECK: "torq_hl.elementwisebinary"(%{{.*}}, %[[T]], %arg1)
func.func @alone(%x: tensor<2x3xi8>, %y: tensor<3x2xi8>) -> tensor<3x2xi8> {
  %0 = tensor.empty() : tensor<3x2xi8>
  %1 = "torq_hl.transpose"(%0, %x) {perm = array<i64: 1, 0>} : (tensor<3x2xi8>, tensor<2x3xi8>) -> tensor<3x2xi8>
  %2 = "torq_hl.elementwisebinary"(%0, %1, %y) {op_type = 14 : i32} : (tensor<3x2xi8>, tensor<3x2xi8>, tensor<3x2xi8>) -> tensor<3x2xi8>
  return %2 : tensor<3x2xi8>
}

// -----

// The channels of an fma with a weight for each are the second dimension, or the last one.

// CHECK-LABEL: func.func @channels
// CHECK: "torq_hl.transpose"
// CHECK: "torq_hl.fma"
// CHECK: "torq_hl.transpose"
func.func @channels(%x: tensor<2x3xi8>, %w: tensor<2xi8>, %s: tensor<4xi32>) -> tensor<2x3xi8> {
  %0 = tensor.empty() : tensor<3x2xi8>
  %1 = "torq_hl.transpose"(%0, %x) {perm = array<i64: 1, 0>} : (tensor<3x2xi8>, tensor<2x3xi8>) -> tensor<3x2xi8>
  %2 = "torq_hl.fma"(%0, %w, %s, %1) {output_zp = 0 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 0 : i32} : (tensor<3x2xi8>, tensor<2xi8>, tensor<4xi32>, tensor<3x2xi8>) -> tensor<3x2xi8>
  %3 = tensor.empty() : tensor<2x3xi8>
  %4 = "torq_hl.transpose"(%3, %2) {perm = array<i64: 1, 0>} : (tensor<2x3xi8>, tensor<3x2xi8>) -> tensor<2x3xi8>
  return %4 : tensor<2x3xi8>
}
