// RUN: torq-opt --split-input-file --raise-torch-quantized-decomposed --canonicalize %s | FileCheck %s

// Run-time parameters: an overload of the same operation.

// CHECK-LABEL: func.func @quantize_per_tensor_tensor
// CHECK: "quantized_decomposed.quantize_per_tensor"(%arg0, %arg1, %arg2) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64}
// CHECK-SAME: (!torch.vtensor<[2,4],f32>, !torch.vtensor<[1],f32>, !torch.vtensor<[1],si64>)
func.func @quantize_per_tensor_tensor(%x: !torch.vtensor<[2,4],f32>, %s: !torch.vtensor<[1],f32>, %z: !torch.vtensor<[1],si64>) -> !torch.vtensor<[2,4],si8> {
  %lo = torch.constant.int -128
  %hi = torch.constant.int 127
  %dtype = torch.constant.int 1
  %r = torch.operator "torch.quantized_decomposed.quantize_per_tensor.tensor"(%x, %s, %z, %lo, %hi, %dtype) : (!torch.vtensor<[2,4],f32>, !torch.vtensor<[1],f32>, !torch.vtensor<[1],si64>, !torch.int, !torch.int, !torch.int) -> !torch.vtensor<[2,4],si8>
  return %r : !torch.vtensor<[2,4],si8>
}

// -----

// Run-time bounds are operands.

// CHECK-LABEL: func.func @quantize_per_tensor_tensor2
// CHECK: "quantized_decomposed.quantize_per_tensor"(%arg0, %arg1, %arg2, %arg3, %arg4) {dtype = si8}
func.func @quantize_per_tensor_tensor2(%x: !torch.vtensor<[2,4],f32>, %s: !torch.vtensor<[1],f32>, %z: !torch.vtensor<[1],si64>, %lo: !torch.vtensor<[],si64>, %hi: !torch.vtensor<[],si64>) -> !torch.vtensor<[2,4],si8> {
  %dtype = torch.constant.int 1
  %r = torch.operator "torch.quantized_decomposed.quantize_per_tensor.tensor2"(%x, %s, %z, %lo, %hi, %dtype) : (!torch.vtensor<[2,4],f32>, !torch.vtensor<[1],f32>, !torch.vtensor<[1],si64>, !torch.vtensor<[],si64>, !torch.vtensor<[],si64>, !torch.int) -> !torch.vtensor<[2,4],si8>
  return %r : !torch.vtensor<[2,4],si8>
}

// -----

// CHECK-LABEL: func.func @dequantize_per_tensor_tensor
// CHECK: "quantized_decomposed.dequantize_per_tensor"(%arg0, %arg1, %arg2) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64}
func.func @dequantize_per_tensor_tensor(%x: !torch.vtensor<[2,4],si8>, %s: !torch.vtensor<[1],f32>, %z: !torch.vtensor<[1],si64>) -> !torch.vtensor<[2,4],f32> {
  %lo = torch.constant.int -128
  %hi = torch.constant.int 127
  %dtype = torch.constant.int 1
  %none = torch.constant.none
  %r = torch.operator "torch.quantized_decomposed.dequantize_per_tensor.tensor"(%x, %s, %z, %lo, %hi, %dtype, %none) : (!torch.vtensor<[2,4],si8>, !torch.vtensor<[1],f32>, !torch.vtensor<[1],si64>, !torch.int, !torch.int, !torch.int, !torch.none) -> !torch.vtensor<[2,4],f32>
  return %r : !torch.vtensor<[2,4],f32>
}

// -----

// CHECK-LABEL: func.func @dequantize_per_tensor_tensor2
// CHECK: "quantized_decomposed.dequantize_per_tensor"(%arg0, %arg1, %arg2, %arg3, %arg4) {dtype = si8}
// CHECK-SAME: -> !torch.vtensor<[2,4],bf16>
func.func @dequantize_per_tensor_tensor2(%x: !torch.vtensor<[2,4],si8>, %s: !torch.vtensor<[1],f32>, %z: !torch.vtensor<[1],si64>, %lo: !torch.vtensor<[],si64>, %hi: !torch.vtensor<[],si64>) -> !torch.vtensor<[2,4],bf16> {
  %dtype = torch.constant.int 1
  %out = torch.constant.int 15
  %r = torch.operator "torch.quantized_decomposed.dequantize_per_tensor.tensor2"(%x, %s, %z, %lo, %hi, %dtype, %out) : (!torch.vtensor<[2,4],si8>, !torch.vtensor<[1],f32>, !torch.vtensor<[1],si64>, !torch.vtensor<[],si64>, !torch.vtensor<[],si64>, !torch.int, !torch.int) -> !torch.vtensor<[2,4],bf16>
  return %r : !torch.vtensor<[2,4],bf16>
}

// -----

// Two results.

// CHECK-LABEL: func.func @choose_qparams
// CHECK: %[[R:.*]]:2 = "quantized_decomposed.choose_qparams"(%arg0) {dtype = si8, eps = 1.250000e-01 : f64, quant_max = 127 : i64, quant_min = -128 : i64}
// CHECK: return %[[R]]#0, %[[R]]#1 : !torch.vtensor<[1],f64>, !torch.vtensor<[1],si64>
func.func @choose_qparams(%x: !torch.vtensor<[2,4],f32>) -> (!torch.vtensor<[1],f64>, !torch.vtensor<[1],si64>) {
  %lo = torch.constant.int -128
  %hi = torch.constant.int 127
  %eps = torch.constant.float 1.250000e-01
  %dtype = torch.constant.int 1
  %r:2 = torch.operator "torch.quantized_decomposed.choose_qparams.tensor"(%x, %lo, %hi, %eps, %dtype) : (!torch.vtensor<[2,4],f32>, !torch.int, !torch.int, !torch.float, !torch.int) -> (!torch.vtensor<[1],f64>, !torch.vtensor<[1],si64>)
  return %r#0, %r#1 : !torch.vtensor<[1],f64>, !torch.vtensor<[1],si64>
}

// -----

// CHECK-LABEL: func.func @choose_qparams_symmetric
// CHECK: %[[R:.*]]:2 = "quantized_decomposed.choose_qparams_symmetric"(%arg0) {dtype = si8, eps = 1.250000e-01 : f64, quant_max = 127 : i64, quant_min = -128 : i64}
// CHECK: return %[[R]]#0, %[[R]]#1 : !torch.vtensor<[1],f64>, !torch.vtensor<[1],si64>
func.func @choose_qparams_symmetric(%x: !torch.vtensor<[2,4],f32>) -> (!torch.vtensor<[1],f64>, !torch.vtensor<[1],si64>) {
  %lo = torch.constant.int -128
  %hi = torch.constant.int 127
  %eps = torch.constant.float 1.250000e-01
  %dtype = torch.constant.int 1
  %r:2 = torch.operator "torch.quantized_decomposed.choose_qparams_symmetric.tensor"(%x, %lo, %hi, %eps, %dtype) : (!torch.vtensor<[2,4],f32>, !torch.int, !torch.int, !torch.float, !torch.int) -> (!torch.vtensor<[1],f64>, !torch.vtensor<[1],si64>)
  return %r#0, %r#1 : !torch.vtensor<[1],f64>, !torch.vtensor<[1],si64>
}

// -----

// CHECK-LABEL: func.func @fake_quant_per_channel
// CHECK: "quantized_decomposed.fake_quant_per_channel"(%arg0, %arg1, %arg2) {axis = 1 : i64, quant_max = 127 : i64, quant_min = -127 : i64}
func.func @fake_quant_per_channel(%x: !torch.vtensor<[2,4],f32>, %s: !torch.vtensor<[4],f32>, %z: !torch.vtensor<[4],si32>) -> !torch.vtensor<[2,4],f32> {
  %axis = torch.constant.int 1
  %lo = torch.constant.int -127
  %hi = torch.constant.int 127
  %r = torch.operator "torch.quantized_decomposed.fake_quant_per_channel"(%x, %s, %z, %axis, %lo, %hi) : (!torch.vtensor<[2,4],f32>, !torch.vtensor<[4],f32>, !torch.vtensor<[4],si32>, !torch.int, !torch.int, !torch.int) -> !torch.vtensor<[2,4],f32>
  return %r : !torch.vtensor<[2,4],f32>
}

// -----

// CHECK-LABEL: func.func @quantize_per_token
// CHECK: "quantized_decomposed.quantize_per_token"(%arg0, %arg1, %arg2) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64}
func.func @quantize_per_token(%x: !torch.vtensor<[2,4],f32>, %s: !torch.vtensor<[2,1],f64>, %z: !torch.vtensor<[2,1],si64>) -> !torch.vtensor<[2,4],si8> {
  %lo = torch.constant.int -128
  %hi = torch.constant.int 127
  %dtype = torch.constant.int 1
  %r = torch.operator "torch.quantized_decomposed.quantize_per_token"(%x, %s, %z, %lo, %hi, %dtype) : (!torch.vtensor<[2,4],f32>, !torch.vtensor<[2,1],f64>, !torch.vtensor<[2,1],si64>, !torch.int, !torch.int, !torch.int) -> !torch.vtensor<[2,4],si8>
  return %r : !torch.vtensor<[2,4],si8>
}

// -----

// CHECK-LABEL: func.func @dequantize_per_token
// CHECK: "quantized_decomposed.dequantize_per_token"(%arg0, %arg1, %arg2) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64}
func.func @dequantize_per_token(%x: !torch.vtensor<[2,4],si8>, %s: !torch.vtensor<[2,1],f64>, %z: !torch.vtensor<[2,1],si64>) -> !torch.vtensor<[2,4],f32> {
  %lo = torch.constant.int -128
  %hi = torch.constant.int 127
  %dtype = torch.constant.int 1
  %out = torch.constant.int 6
  %r = torch.operator "torch.quantized_decomposed.dequantize_per_token"(%x, %s, %z, %lo, %hi, %dtype, %out) : (!torch.vtensor<[2,4],si8>, !torch.vtensor<[2,1],f64>, !torch.vtensor<[2,1],si64>, !torch.int, !torch.int, !torch.int, !torch.int) -> !torch.vtensor<[2,4],f32>
  return %r : !torch.vtensor<[2,4],f32>
}

// -----

// CHECK-LABEL: func.func @choose_qparams_per_token_asymmetric
// CHECK: "quantized_decomposed.choose_qparams_per_token_asymmetric"(%arg0) {dtype = si8}
func.func @choose_qparams_per_token_asymmetric(%x: !torch.vtensor<[2,4],f32>) -> (!torch.vtensor<[2,1],f64>, !torch.vtensor<[2,1],si64>) {
  %dtype = torch.constant.int 1
  %r:2 = torch.operator "torch.quantized_decomposed.choose_qparams_per_token_asymmetric"(%x, %dtype) : (!torch.vtensor<[2,4],f32>, !torch.int) -> (!torch.vtensor<[2,1],f64>, !torch.vtensor<[2,1],si64>)
  return %r#0, %r#1 : !torch.vtensor<[2,1],f64>, !torch.vtensor<[2,1],si64>
}

// -----

// CHECK-LABEL: func.func @choose_qparams_per_token_asymmetric_impl
// CHECK: "quantized_decomposed._choose_qparams_per_token_asymmetric_impl"(%arg0) {dtype = si8}
func.func @choose_qparams_per_token_asymmetric_impl(%x: !torch.vtensor<[2,4],f32>) -> (!torch.vtensor<[2,1],f64>, !torch.vtensor<[2,1],si64>) {
  %dtype = torch.constant.int 1
  %r:2 = torch.operator "torch.quantized_decomposed._choose_qparams_per_token_asymmetric_impl"(%x, %dtype) : (!torch.vtensor<[2,4],f32>, !torch.int) -> (!torch.vtensor<[2,1],f64>, !torch.vtensor<[2,1],si64>)
  return %r#0, %r#1 : !torch.vtensor<[2,1],f64>, !torch.vtensor<[2,1],si64>
}

// -----

// CHECK-LABEL: func.func @convert_element_type
// CHECK: "quantized_decomposed.convert_element_type"(%arg0) {dtype = f16, input_dtype = ui8}
func.func @convert_element_type(%x: !torch.vtensor<[2,4],ui8>) -> !torch.vtensor<[2,4],f16> {
  %dtype = torch.constant.int 5
  %r = torch.operator "torch.quantized_decomposed.convert_element_type.no_fuse"(%x, %dtype) : (!torch.vtensor<[2,4],ui8>, !torch.int) -> !torch.vtensor<[2,4],f16>
  return %r : !torch.vtensor<[2,4],f16>
}

// -----

// A zero point that is absent is 0: an operand per channel, left out per group.

// CHECK-LABEL: func.func @absent_zero_points
// CHECK: %[[Z:.*]] = torch.vtensor.literal(dense<0> : tensor<2xsi64>)
// CHECK: "quantized_decomposed.dequantize_per_channel"(%arg0, %arg1, %[[Z]])
func.func @absent_zero_points(%x: !torch.vtensor<[2,4],si8>, %s: !torch.vtensor<[2],f32>) -> !torch.vtensor<[2,4],f32> {
  %z = torch.constant.none
  %axis = torch.constant.int 0
  %lo = torch.constant.int -128
  %hi = torch.constant.int 127
  %dtype = torch.constant.int 1
  %none = torch.constant.none
  %r = torch.operator "torch.quantized_decomposed.dequantize_per_channel"(%x, %s, %z, %axis, %lo, %hi, %dtype, %none) : (!torch.vtensor<[2,4],si8>, !torch.vtensor<[2],f32>, !torch.none, !torch.int, !torch.int, !torch.int, !torch.int, !torch.none) -> !torch.vtensor<[2,4],f32>
  return %r : !torch.vtensor<[2,4],f32>
}

// -----

// CHECK-LABEL: func.func @absent_zero_points_of_groups
// CHECK: "quantized_decomposed.dequantize_per_channel_group"(%arg0, %arg1) {
func.func @absent_zero_points_of_groups(%x: !torch.vtensor<[2,4],si8>, %s: !torch.vtensor<[2,2],f32>) -> !torch.vtensor<[2,4],f32> {
  %z = torch.constant.none
  %lo = torch.constant.int -8
  %hi = torch.constant.int 7
  %dtype = torch.constant.int 1
  %group = torch.constant.int 2
  %out = torch.constant.int 6
  %r = torch.operator "torch.quantized_decomposed.dequantize_per_channel_group"(%x, %s, %z, %lo, %hi, %dtype, %group, %out) : (!torch.vtensor<[2,4],si8>, !torch.vtensor<[2,2],f32>, !torch.none, !torch.int, !torch.int, !torch.int, !torch.int, !torch.int) -> !torch.vtensor<[2,4],f32>
  return %r : !torch.vtensor<[2,4],f32>
}

// -----

// A signless byte next to unsigned values is unsigned: signed zero points become wider.

// CHECK-LABEL: func.func @zero_points_of_other_sign
// CHECK: %[[Z:.*]] = torch.aten.to.dtype %arg2, %int4
// CHECK: "quantized_decomposed.dequantize_per_channel"(%arg0, %arg1, %[[Z]]) {{.*}} (!torch.vtensor<[2,4],ui8>, !torch.vtensor<[2],f32>, !torch.vtensor<[2],si64>)
func.func @zero_points_of_other_sign(%x: !torch.vtensor<[2,4],ui8>, %s: !torch.vtensor<[2],f32>, %z: !torch.vtensor<[2],si8>) -> !torch.vtensor<[2,4],f32> {
  %axis = torch.constant.int 0
  %lo = torch.constant.int 0
  %hi = torch.constant.int 255
  %dtype = torch.constant.int 0
  %none = torch.constant.none
  %r = torch.operator "torch.quantized_decomposed.dequantize_per_channel"(%x, %s, %z, %axis, %lo, %hi, %dtype, %none) : (!torch.vtensor<[2,4],ui8>, !torch.vtensor<[2],f32>, !torch.vtensor<[2],si8>, !torch.int, !torch.int, !torch.int, !torch.int, !torch.none) -> !torch.vtensor<[2,4],f32>
  return %r : !torch.vtensor<[2,4],f32>
}
