// RUN: torq-opt --split-input-file --convert-quantized-decomposed-to-stablehlo --canonicalize --mlir-print-debuginfo %s | FileCheck %s

// Signless integers are signed in StableHLO.

// CHECK-LABEL: func.func @unsigned
// CHECK-SAME: %[[Q:.*]]: tensor<4xi8>
// CHECK: %[[U:.*]] = stablehlo.bitcast_convert %[[Q]] : (tensor<4xi8>) -> tensor<4xui8> loc(#[[LOC:.*]])
// CHECK: %[[WIDE:.*]] = stablehlo.convert %[[U]] : (tensor<4xui8>) -> tensor<4xi32>
// CHECK: %[[DIFFERENCE:.*]] = stablehlo.subtract %[[WIDE]]
// CHECK: %[[FLOAT:.*]] = stablehlo.convert %[[DIFFERENCE]] : (tensor<4xi32>) -> tensor<4xf32>
// CHECK: stablehlo.multiply %[[FLOAT]]
// CHECK: #[[LOC]] = loc("dequantized")
func.func @unsigned(%q: tensor<4xi8>) -> tensor<4xf32> {
  %scale = arith.constant dense<0.5> : tensor<f32>
  %zp = arith.constant dense<7> : tensor<i8>
  %x = "quantized_decomposed.dequantize_per_tensor"(%q, %scale, %zp) {dtype = ui8, quant_max = 255 : i64, quant_min = 0 : i64} : (tensor<4xi8>, tensor<f32>, tensor<i8>) -> tensor<4xf32> loc("dequantized")
  return %x : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @groups
// CHECK-SAME: %[[Q:.*]]: tensor<2x8xi4> {{.*}}, %[[S:.*]]: tensor<2x2xf32>
// CHECK: %[[SPLIT:.*]] = stablehlo.reshape %[[Q]] : (tensor<2x8xi4>) -> tensor<2x2x4xi4>
// CHECK: stablehlo.convert %[[SPLIT]] : (tensor<2x2x4xi4>) -> tensor<2x2x4xf32>
// CHECK: %[[SCALES:.*]] = stablehlo.reshape %[[S]] : (tensor<2x2xf32>) -> tensor<2x2x1xf32>
// CHECK: stablehlo.broadcast_in_dim %[[SCALES]], dims = [0, 1, 2] : (tensor<2x2x1xf32>) -> tensor<2x2x4xf32>
// CHECK: stablehlo.reshape %{{.*}} : (tensor<2x2x4xf32>) -> tensor<2x8xf32>
func.func @groups(%q: tensor<2x8xi4>, %scales: tensor<2x2xf32>) -> tensor<2x8xf32> {
  %x = "quantized_decomposed.dequantize_per_channel_group"(%q, %scales) {dtype = si4, group_size = 4 : i64, quant_max = 7 : i64, quant_min = -8 : i64} : (tensor<2x8xi4>, tensor<2x2xf32>) -> tensor<2x8xf32>
  return %x : tensor<2x8xf32>
}

// -----

// CHECK-LABEL: func.func @choose
// CHECK: stablehlo.reduce(%{{.*}} init: %{{.*}}) applies stablehlo.minimum across dimensions = [0, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<f32>
// CHECK: stablehlo.reduce(%{{.*}} init: %{{.*}}) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<f32>
func.func @choose(%x: tensor<2x3xf32>) -> (tensor<1xf64>, tensor<1xi64>) {
  %scale, %zp = "quantized_decomposed.choose_qparams"(%x) {dtype = si8, eps = 1.0e-07 : f64, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<2x3xf32>) -> (tensor<1xf64>, tensor<1xi64>)
  return %scale, %zp : tensor<1xf64>, tensor<1xi64>
}
