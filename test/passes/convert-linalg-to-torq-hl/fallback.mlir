// RUN: torq-opt --split-input-file --convert-linalg-to-torq-hl='float=bf16 explain=true' %s | FileCheck %s

// A quantization that nothing takes in: to bf16, times 1 / scale plus the zero point, to an integer, clamped and narrowed.
// A dequantization: less the zero point in bf16, times the scale, to f32.

// CHECK-LABEL: func.func @boundary
// CHECK-DAG: %[[S:.*]] = arith.constant dense<5.000000e-01> : tensor<1xbf16>
// CHECK-DAG: %[[R:.*]] = arith.constant dense<2.000000e+00> : tensor<1xbf16>
// CHECK-DAG: %[[Z:.*]] = arith.constant dense<-5.000000e+00> : tensor<1xf32>
// CHECK: %[[A:.*]] = "torq_hl.act"(%{{.*}}, %arg0) {{.*}}name = "f2f"{{.*}} -> tensor<1x8xbf16>
// CHECK: %[[B:.*]] = "torq_hl.mul"(%{{.*}}, %[[Z]], %[[A]], %[[R]])
// CHECK: %[[C:.*]] = "torq_hl.act"(%{{.*}}, %[[B]]) {{.*}}name = "f2i"{{.*}} -> tensor<1x8xi32>
// CHECK: %[[Q:.*]] = "torq_hl.fma"(%{{.*}}, %{{.*}}, %{{.*}}, %[[C]]) {output_max = 127 : i32, output_min = -128 : i32, output_zp = 0 : i32, shift_factor = 0 : i32}
// CHECK: %[[D:.*]] = "torq_hl.act"(%{{.*}}, %[[Q]]) {input_zp = -5 : i32, {{.*}}name = "i2f"{{.*}} -> tensor<1x8xbf16>
// CHECK: %[[E:.*]] = "torq_hl.mul"(%{{.*}}, %{{.*}}, %[[D]], %[[S]])
// CHECK: "torq_hl.act"(%{{.*}}, %[[E]]) {{.*}}name = "f2f"{{.*}} -> tensor<1x8xf32>
func.func @boundary(%x: tensor<1x8xf32>) -> tensor<1x8xf32> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %q = "quantized_decomposed.quantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x8xf32>, tensor<f32>, tensor<i8>) -> tensor<1x8xi8>
  %f = "quantized_decomposed.dequantize_per_tensor"(%q, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x8xi8>, tensor<f32>, tensor<i8>) -> tensor<1x8xf32>
  return %f : tensor<1x8xf32>
}

// -----

// What another operation takes in is never converted on its own.

// CHECK-LABEL: func.func @taken_in
// CHECK-NOT: torq_hl.act
// CHECK: "torq_hl.fma"(%{{.*}}, %{{.*}}, %{{.*}}, %arg0)
// CHECK-NOT: torq_hl.act
func.func @taken_in(%x: tensor<1x8xi8>) -> tensor<1x8xi8> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %t = arith.constant dense<0.25> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x8xi8>, tensor<f32>, tensor<i8>) -> tensor<1x8xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%f, %t, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x8xf32>, tensor<f32>, tensor<i8>) -> tensor<1x8xi8>
  return %q : tensor<1x8xi8>
}

// -----

// Parameters for each channel are not for one multiplication.

// CHECK-LABEL: func.func @per_channel
// CHECK-NOT: torq_hl.
// CHECK: quantized_decomposed.dequantize_per_channel
func.func @per_channel(%x: tensor<2x8xi8>) -> tensor<2x8xf32> {
  %s = arith.constant dense<[0.5, 0.25]> : tensor<2xf32>
  %z = arith.constant dense<-5> : tensor<2xi8>
  %f = "quantized_decomposed.dequantize_per_channel"(%x, %s, %z) {axis = 0 : i64, quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x8xi8>, tensor<2xf32>, tensor<2xi8>) -> tensor<2x8xf32>
  return %f : tensor<2x8xf32>
}
