// RUN: torq-opt --split-input-file --convert-quantized-decomposed-to-tosa --canonicalize --mlir-print-debuginfo %s | FileCheck %s

// CHECK-LABEL: func.func @per_tensor
// CHECK-SAME: %[[Q:.*]]: tensor<4xi8>
// CHECK-DAG: %[[S:.*]] = "tosa.const"() <{values = dense<5.000000e-01> : tensor<1xf32>}>
// CHECK-DAG: %[[Z:.*]] = "tosa.const"() <{values = dense<-3> : tensor<1xi32>}>
// CHECK: %[[WIDE:.*]] = tosa.cast %[[Q]] : (tensor<4xi8>) -> tensor<4xi32> loc(#[[LOC:.*]])
// CHECK: %[[DIFFERENCE:.*]] = tosa.sub %[[WIDE]], %[[Z]]
// CHECK: %[[FLOAT:.*]] = tosa.cast %[[DIFFERENCE]] : (tensor<4xi32>) -> tensor<4xf32>
// CHECK: tosa.mul %[[FLOAT]], %[[S]], {{.*}} loc(#[[LOC]])
// CHECK: #[[LOC]] = loc("dequantized")
func.func @per_tensor(%q: tensor<4xi8>) -> tensor<4xf32> {
  %scale = arith.constant dense<0.5> : tensor<f32>
  %zp = arith.constant dense<-3> : tensor<i8>
  %x = "quantized_decomposed.dequantize_per_tensor"(%q, %scale, %zp) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<4xi8>, tensor<f32>, tensor<i8>) -> tensor<4xf32> loc("dequantized")
  return %x : tensor<4xf32>
}

// -----

// Unsigned values lose the bits that the sign made.

// CHECK-LABEL: func.func @unsigned
// CHECK-DAG: %[[MASK:.*]] = "tosa.const"() <{values = dense<255> : tensor<1xi32>}>
// CHECK: %[[WIDE:.*]] = tosa.cast %{{.*}} : (tensor<4xi8>) -> tensor<4xi32>
// CHECK: %[[VALUE:.*]] = tosa.bitwise_and %[[WIDE]], %[[MASK]]
// CHECK-NOT: tosa.sub
// CHECK: tosa.cast %[[VALUE]] : (tensor<4xi32>) -> tensor<4xf32>
func.func @unsigned(%q: tensor<4xi8>) -> tensor<4xf32> {
  %scale = arith.constant dense<0.5> : tensor<f32>
  %zp = arith.constant dense<0> : tensor<i8>
  %x = "quantized_decomposed.dequantize_per_tensor"(%q, %scale, %zp) {dtype = ui8, quant_max = 255 : i64, quant_min = 0 : i64} : (tensor<4xi8>, tensor<f32>, tensor<i8>) -> tensor<4xf32>
  return %x : tensor<4xf32>
}

// -----

// The axis of the groups is split; scales are not repeated.

// CHECK-LABEL: func.func @groups
// CHECK-SAME: %[[Q:.*]]: tensor<2x8xi8> {{.*}}, %[[S:.*]]: tensor<2x2xf32>
// CHECK: %[[SPLIT:.*]] = tosa.reshape %[[Q]], %{{.*}} -> tensor<2x2x4xi8>
// CHECK: %[[FLOAT:.*]] = tosa.cast %[[SPLIT]] : (tensor<2x2x4xi8>) -> tensor<2x2x4xf32>
// CHECK: %[[SCALES:.*]] = tosa.reshape %[[S]], %{{.*}} -> tensor<2x2x1xf32>
// CHECK: %[[PRODUCT:.*]] = tosa.mul %[[FLOAT]], %[[SCALES]]
// CHECK: tosa.reshape %[[PRODUCT]], %{{.*}} -> tensor<2x8xf32>
func.func @groups(%q: tensor<2x8xi8>, %scales: tensor<2x2xf32>) -> tensor<2x8xf32> {
  %x = "quantized_decomposed.dequantize_per_channel_group"(%q, %scales) {dtype = si8, group_size = 4 : i64, quant_max = 7 : i64, quant_min = -8 : i64} : (tensor<2x8xi8>, tensor<2x2xf32>) -> tensor<2x8xf32>
  return %x : tensor<2x8xf32>
}

// -----

// Where PyTorch computes in f64, so does the result, though TOSA's specification has no such type.

// CHECK-LABEL: func.func @tokens
// CHECK: tosa.mul %{{.*}}, %{{.*}} -> tensor<2x4xf64>
// CHECK: tosa.cast %{{.*}} : (tensor<2x4xf64>) -> tensor<2x4xf32>
func.func @tokens(%q: tensor<2x4xi8>, %scales: tensor<2x1xf64>, %zps: tensor<2x1xi64>) -> tensor<2x4xf32> {
  %x = "quantized_decomposed.dequantize_per_token"(%q, %scales, %zps) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<2x4xi8>, tensor<2x1xf64>, tensor<2x1xi64>) -> tensor<2x4xf32>
  return %x : tensor<2x4xf32>
}
