// RUN: torq-opt --split-input-file --convert-linalg-to-torq-hl=explain=true %s | FileCheck %s

// Another scale is a requantization: 0.05 / 0.06 is 223696222 / 2^28; at 2^32 it would not fit.

// CHECK-LABEL: func.func @requantize
// CHECK-DAG: %[[SB:.*]] = arith.constant dense<[-3, 223696222]> : tensor<2xi32>
// CHECK: "torq_hl.fma"(%{{.*}}, %{{.*}}, %[[SB]], %arg0) {output_max = 127 : i32, output_min = -128 : i32, output_zp = 2 : i32, shift_factor = 28 : i32}
func.func @requantize(%x1: tensor<1x2x3x3xi8>, %x2: tensor<1x2x3x3xi8>) -> tensor<1x2x3x3xi8> {
  %s1 = arith.constant dense<0.05> : tensor<f32>
  %z1 = arith.constant dense<3> : tensor<i8>
  %s2 = arith.constant dense<0.04> : tensor<f32>
  %z2 = arith.constant dense<-5> : tensor<i8>
  %sy = arith.constant dense<0.06> : tensor<f32>
  %zy = arith.constant dense<2> : tensor<i8>
  %e = tensor.empty() : tensor<1x2x3x3xf32>
  %f1 = "quantized_decomposed.dequantize_per_tensor"(%x1, %s1, %z1) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3x3xf32>
  %f2 = "quantized_decomposed.dequantize_per_tensor"(%x2, %s2, %z2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3x3xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%f1, %sy, %zy) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x3x3xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x3x3xi8>
  return %q : tensor<1x2x3x3xi8>
}

// -----

// A clamp in place keeps the scale.

// CHECK-LABEL: func.func @relu
// CHECK: "torq_hl.fma"{{.*}} output_min = 3 : i32
func.func @relu(%x1: tensor<1x2x3x3xi8>, %x2: tensor<1x2x3x3xi8>) -> tensor<1x2x3x3xi8> {
  %s1 = arith.constant dense<0.05> : tensor<f32>
  %z1 = arith.constant dense<3> : tensor<i8>
  %s2 = arith.constant dense<0.04> : tensor<f32>
  %z2 = arith.constant dense<-5> : tensor<i8>
  %sy = arith.constant dense<0.05> : tensor<f32>
  %zy = arith.constant dense<3> : tensor<i8>
  %e = tensor.empty() : tensor<1x2x3x3xf32>
  %f1 = "quantized_decomposed.dequantize_per_tensor"(%x1, %s1, %z1) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3x3xf32>
  %f2 = "quantized_decomposed.dequantize_per_tensor"(%x2, %s2, %z2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3x3xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%f1 : tensor<1x2x3x3xf32>) outs(%e : tensor<1x2x3x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %lo = arith.constant 0.0 : f32
    %hi = arith.constant 1.0e30 : f32
    %a = arith.maximumf %in, %lo : f32
    %b = arith.minimumf %a, %hi : f32
    linalg.yield %b : f32
  } -> tensor<1x2x3x3xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %sy, %zy) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x3x3xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x3x3xi8>
  return %q : tensor<1x2x3x3xi8>
}

// -----

// One parameter for each channel has no elementwise operation.

// CHECK-LABEL: func.func @per_channel
// CHECK-NOT: torq_hl
// CHECK: torq_hl.refusal = "an operand is quantized per channel"
func.func @per_channel(%x: tensor<2x3xi8>) -> tensor<2x3xi8> {
  %s = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %z = arith.constant dense<0> : tensor<2xi8>
  %sy = arith.constant dense<0.5> : tensor<f32>
  %zy = arith.constant dense<-5> : tensor<i8>
  %f = "quantized_decomposed.dequantize_per_channel"(%x, %s, %z) {axis = 0 : i64, quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x3xi8>, tensor<2xf32>, tensor<2xi8>) -> tensor<2x3xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%f, %sy, %zy) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<2x3xi8>
  return %q : tensor<2x3xi8>
}
