// RUN: torq-opt %s --canonicalize --cse | FileCheck %s

// Operations are pure: what is not used goes, and what is computed twice is computed once.

// CHECK-LABEL: func.func @unused
// CHECK-NEXT: return %arg0
func.func @unused(%x: tensor<4x8xf32>, %s: tensor<8xf32>, %z: tensor<8xi64>, %i: tensor<4x8xi8>) -> tensor<4x8xf32> {
  %p:2 = "quantized_decomposed.choose_qparams"(%x) {quant_min = -128 : i64, quant_max = 127 : i64, eps = 1.0e-5 : f64, dtype = si8} : (tensor<4x8xf32>) -> (tensor<1xf64>, tensor<1xi64>)
  %0 = "quantized_decomposed.quantize_per_tensor"(%x, %p#0, %p#1) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x8xf32>, tensor<1xf64>, tensor<1xi64>) -> tensor<4x8xi8>
  %1 = "quantized_decomposed.dequantize_per_tensor"(%0, %p#0, %p#1) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x8xi8>, tensor<1xf64>, tensor<1xi64>) -> tensor<4x8xf32>
  %q:2 = "quantized_decomposed.choose_qparams_symmetric"(%x) {quant_min = -128 : i64, quant_max = 127 : i64, eps = 1.0e-5 : f64, dtype = si8} : (tensor<4x8xf32>) -> (tensor<1xf64>, tensor<1xi64>)
  %2 = "quantized_decomposed.quantize_per_channel"(%x, %s, %z) {axis = 1 : i64, quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xi64>) -> tensor<4x8xi8>
  %3 = "quantized_decomposed.dequantize_per_channel"(%2, %s, %z) {axis = 1 : i64, quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x8xi8>, tensor<8xf32>, tensor<8xi64>) -> tensor<4x8xf32>
  %t:2 = "quantized_decomposed.choose_qparams_per_token"(%x) {dtype = si8} : (tensor<4x8xf32>) -> (tensor<4x1xf32>, tensor<4x1xf32>)
  %4 = "quantized_decomposed.quantize_per_token"(%x, %t#0, %t#1) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x8xf32>, tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x8xi8>
  %5 = "quantized_decomposed.dequantize_per_token"(%4, %t#0, %t#1) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x8xi8>, tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %u:2 = "quantized_decomposed.choose_qparams_per_token_asymmetric"(%x) {dtype = si8} : (tensor<4x8xf32>) -> (tensor<4x1xf64>, tensor<4x1xi64>)
  %v:2 = "quantized_decomposed._choose_qparams_per_token_asymmetric_impl"(%x) {dtype = si8} : (tensor<4x8xf32>) -> (tensor<4x1xf64>, tensor<4x1xi64>)
  %6 = "quantized_decomposed.quantize_per_channel_group"(%x, %u#0, %u#1) {group_size = 8 : i64, quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x8xf32>, tensor<4x1xf64>, tensor<4x1xi64>) -> tensor<4x8xi8>
  %7 = "quantized_decomposed.dequantize_per_channel_group"(%6, %v#0, %v#1) {group_size = 8 : i64, quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x8xi8>, tensor<4x1xf64>, tensor<4x1xi64>) -> tensor<4x8xf32>
  %8 = "quantized_decomposed.fake_quant_per_channel"(%x, %s, %z) {axis = 1 : i64, quant_min = -128 : i64, quant_max = 127 : i64} : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xi64>) -> tensor<4x8xf32>
  %9 = "quantized_decomposed.convert_element_type"(%i) {dtype = f32, input_dtype = ui8} : (tensor<4x8xi8>) -> tensor<4x8xf32>
  return %x : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @twice
// CHECK: %[[SCALES:[^:,]*]]{{.*}} = "quantized_decomposed.choose_qparams_per_token_asymmetric"
// CHECK-NOT: choose_qparams
// CHECK: return %[[SCALES]]{{(#0)?}}, %{{([0-9]+#1|zero_points)}} :
func.func @twice(%x: tensor<4x8xf32>) -> (tensor<4x1xf64>, tensor<4x1xi64>) {
  %0:2 = "quantized_decomposed.choose_qparams_per_token_asymmetric"(%x) {dtype = si8} : (tensor<4x8xf32>) -> (tensor<4x1xf64>, tensor<4x1xi64>)
  %1:2 = "quantized_decomposed.choose_qparams_per_token_asymmetric"(%x) {dtype = si8} : (tensor<4x8xf32>) -> (tensor<4x1xf64>, tensor<4x1xi64>)
  return %0#0, %1#1 : tensor<4x1xf64>, tensor<4x1xi64>
}

// A dequantize of a quantize is the error that the model asks for.
// CHECK-LABEL: func.func @quantization_error
// CHECK: "quantized_decomposed.quantize_per_token"
// CHECK: "quantized_decomposed.dequantize_per_token"
// CHECK: "quantized_decomposed.quantize_per_channel_group"
// CHECK: "quantized_decomposed.dequantize_per_channel_group"
func.func @quantization_error(%x: tensor<4x8xf32>, %s: tensor<4x1xf32>) -> tensor<4x8xf32> {
  %0 = "quantized_decomposed.quantize_per_token"(%x, %s) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xi8>
  %1 = "quantized_decomposed.dequantize_per_token"(%0, %s) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x8xi8>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %2 = "quantized_decomposed.quantize_per_channel_group"(%1, %s) {group_size = 8 : i64, quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xi8>
  %3 = "quantized_decomposed.dequantize_per_channel_group"(%2, %s) {group_size = 8 : i64, quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x8xi8>, tensor<4x1xf32>) -> tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}
