// RUN: torq-opt --split-input-file --convert-quantized-decomposed-to-tosa --canonicalize %s | FileCheck %s

// Between choosing parameters and using them nothing is f64: the scale is an f32 in effect.

// CHECK-LABEL: func.func @dynamic
// CHECK-SAME: %[[X:.*]]: tensor<4x?xf32>
// CHECK-NOT: f64
// CHECK: %[[ROWS:.*]] = tosa.reduce_min %[[X]] {axis = 0 : i32} : (tensor<4x?xf32>) -> tensor<1x?xf32>
// CHECK: tosa.reduce_min %[[ROWS]] {axis = 1 : i32} : (tensor<1x?xf32>) -> tensor<1x1xf32>
// CHECK: tosa.reduce_max
// CHECK: %[[SCALE:.*]] = tosa.maximum
// CHECK: tosa.reciprocal
// CHECK-NOT: f64
// CHECK: return
func.func @dynamic(%x: tensor<4x?xf32>) -> tensor<4x?xi8> {
  %scale, %zp = "quantized_decomposed.choose_qparams"(%x) {dtype = si8, eps = 1.0e-07 : f64, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<4x?xf32>) -> (tensor<1xf64>, tensor<1xi64>)
  %q = "quantized_decomposed.quantize_per_tensor"(%x, %scale, %zp) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<4x?xf32>, tensor<1xf64>, tensor<1xi64>) -> tensor<4x?xi8>
  return %q : tensor<4x?xi8>
}

// -----

// CHECK-LABEL: func.func @per_token
// CHECK-SAME: %[[X:.*]]: tensor<2x8xf32>
// CHECK-DAG: %[[ZEROS:.*]] = "tosa.const"() <{values = dense<0.000000e+00> : tensor<2x1xf32>}>
// CHECK: %[[MAGNITUDE:.*]] = tosa.abs %[[X]]
// CHECK: tosa.reduce_max %[[MAGNITUDE]] {axis = 1 : i32} : (tensor<2x8xf32>) -> tensor<2x1xf32>
// CHECK: return %{{.*}}, %[[ZEROS]]
func.func @per_token(%x: tensor<2x8xf32>) -> (tensor<2x1xf32>, tensor<2x1xf32>) {
  %scales, %zps = "quantized_decomposed.choose_qparams_per_token"(%x) {dtype = si8} : (tensor<2x8xf32>) -> (tensor<2x1xf32>, tensor<2x1xf32>)
  return %scales, %zps : tensor<2x1xf32>, tensor<2x1xf32>
}
