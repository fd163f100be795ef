// RUN: torq-opt --split-input-file --raise-torch-quantized-decomposed --canonicalize %s | FileCheck %s

// Scales and zero points stay operands, scalars too. PyTorch multiplies by the reciprocal of the scale: there is no
// `divide`. What the torch dialect does not have comes as torch.operator, with the same operands.

// CHECK-LABEL: func.func @quantize_per_tensor_opaque
// CHECK-DAG: %[[S:.*]] = torch.constant.float 5.000000e-01
// CHECK-DAG: %[[Z:.*]] = torch.constant.int 3
// CHECK: "quantized_decomposed.quantize_per_tensor"(%arg0, %[[S]], %[[Z]]) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64}
// CHECK-SAME: (!torch.vtensor<[2,4],f32>, !torch.float, !torch.int) -> !torch.vtensor<[2,4],si8>
func.func @quantize_per_tensor_opaque(%x: !torch.vtensor<[2,4],f32>) -> !torch.vtensor<[2,4],si8> {
  %s = torch.constant.float 5.000000e-01
  %z = torch.constant.int 3
  %lo = torch.constant.int -128
  %hi = torch.constant.int 127
  %dtype = torch.constant.int 1
  %r = torch.operator "torch.quantized_decomposed.quantize_per_tensor"(%x, %s, %z, %lo, %hi, %dtype) : (!torch.vtensor<[2,4],f32>, !torch.float, !torch.int, !torch.int, !torch.int, !torch.int) -> !torch.vtensor<[2,4],si8>
  return %r : !torch.vtensor<[2,4],si8>
}

// -----

// CHECK-LABEL: func.func @quantize_per_tensor
// CHECK-DAG: %[[S:.*]] = torch.constant.float 5.000000e-01
// CHECK-DAG: %[[Z:.*]] = torch.constant.int 3
// CHECK: "quantized_decomposed.quantize_per_tensor"(%arg0, %[[S]], %[[Z]]) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64}
// CHECK-SAME: (!torch.vtensor<[2,4],f32>, !torch.float, !torch.int) -> !torch.vtensor<[2,4],si8>
func.func @quantize_per_tensor(%x: !torch.vtensor<[2,4],f32>) -> !torch.vtensor<[2,4],si8> {
  %s = torch.constant.float 5.000000e-01
  %z = torch.constant.int 3
  %lo = torch.constant.int -128
  %hi = torch.constant.int 127
  %dtype = torch.constant.int 1
  %r = torch.quantized_decomposed.quantize_per_tensor %x, %s, %z, %lo, %hi, %dtype : !torch.vtensor<[2,4],f32>, !torch.float, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[2,4],si8>
  return %r : !torch.vtensor<[2,4],si8>
}

// -----

// CHECK-LABEL: func.func @dequantize_per_tensor_opaque
// CHECK: "quantized_decomposed.dequantize_per_tensor"(%arg0, %{{.*}}, %{{.*}}) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64}
// CHECK-SAME: -> !torch.vtensor<[2,4],f32>
func.func @dequantize_per_tensor_opaque(%x: !torch.vtensor<[2,4],si8>) -> !torch.vtensor<[2,4],f32> {
  %s = torch.constant.float 5.000000e-01
  %z = torch.constant.int 3
  %lo = torch.constant.int -128
  %hi = torch.constant.int 127
  %dtype = torch.constant.int 1
  %none = torch.constant.none
  %r = torch.operator "torch.quantized_decomposed.dequantize_per_tensor"(%x, %s, %z, %lo, %hi, %dtype, %none) : (!torch.vtensor<[2,4],si8>, !torch.float, !torch.int, !torch.int, !torch.int, !torch.int, !torch.none) -> !torch.vtensor<[2,4],f32>
  return %r : !torch.vtensor<[2,4],f32>
}

// -----

// CHECK-LABEL: func.func @dequantize_per_tensor
// CHECK: "quantized_decomposed.dequantize_per_tensor"(%arg0, %{{.*}}, %{{.*}}) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64}
// CHECK-SAME: -> !torch.vtensor<[2,4],f32>
func.func @dequantize_per_tensor(%x: !torch.vtensor<[2,4],si8>) -> !torch.vtensor<[2,4],f32> {
  %s = torch.constant.float 5.000000e-01
  %z = torch.constant.int 3
  %lo = torch.constant.int -128
  %hi = torch.constant.int 127
  %dtype = torch.constant.int 1
  %none = torch.constant.none
  %r = torch.quantized_decomposed.dequantize_per_tensor %x, %s, %z, %lo, %hi, %dtype, %none : !torch.vtensor<[2,4],si8>, !torch.float, !torch.int, !torch.int, !torch.int, !torch.int, !torch.none -> !torch.vtensor<[2,4],f32>
  return %r : !torch.vtensor<[2,4],f32>
}

// -----

// CHECK-LABEL: func.func @quantize_per_channel_opaque
// CHECK: "quantized_decomposed.quantize_per_channel"(%arg0, %arg1, %arg2) {axis = -1 : i64, dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64}
func.func @quantize_per_channel_opaque(%x: !torch.vtensor<[2,4],f32>, %s: !torch.vtensor<[4],f32>, %z: !torch.vtensor<[4],si64>) -> !torch.vtensor<[2,4],si8> {
  %axis = torch.constant.int -1
  %lo = torch.constant.int -128
  %hi = torch.constant.int 127
  %dtype = torch.constant.int 1
  %r = torch.operator "torch.quantized_decomposed.quantize_per_channel"(%x, %s, %z, %axis, %lo, %hi, %dtype) : (!torch.vtensor<[2,4],f32>, !torch.vtensor<[4],f32>, !torch.vtensor<[4],si64>, !torch.int, !torch.int, !torch.int, !torch.int) -> !torch.vtensor<[2,4],si8>
  return %r : !torch.vtensor<[2,4],si8>
}

// -----

// CHECK-LABEL: func.func @quantize_per_channel
// CHECK: "quantized_decomposed.quantize_per_channel"(%arg0, %arg1, %arg2) {axis = -1 : i64, dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64}
func.func @quantize_per_channel(%x: !torch.vtensor<[2,4],f32>, %s: !torch.vtensor<[4],f32>, %z: !torch.vtensor<[4],si64>) -> !torch.vtensor<[2,4],si8> {
  %axis = torch.constant.int -1
  %lo = torch.constant.int -128
  %hi = torch.constant.int 127
  %dtype = torch.constant.int 1
  %r = torch.quantized_decomposed.quantize_per_channel %x, %s, %z, %axis, %lo, %hi, %dtype : !torch.vtensor<[2,4],f32>, !torch.vtensor<[4],f32>, !torch.vtensor<[4],si64>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[2,4],si8>
  return %r : !torch.vtensor<[2,4],si8>
}

// -----

// CHECK-LABEL: func.func @dequantize_per_channel_opaque
// CHECK: "quantized_decomposed.dequantize_per_channel"(%arg0, %arg1, %arg2) {axis = 0 : i64, dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64}
// CHECK-SAME: -> !torch.vtensor<[2,4],f16>
func.func @dequantize_per_channel_opaque(%x: !torch.vtensor<[2,4],si8>, %s: !torch.vtensor<[2],f32>, %z: !torch.vtensor<[2],si64>) -> !torch.vtensor<[2,4],f16> {
  %axis = torch.constant.int 0
  %lo = torch.constant.int -128
  %hi = torch.constant.int 127
  %dtype = torch.constant.int 1
  %out = torch.constant.int 5
  %r = torch.operator "torch.quantized_decomposed.dequantize_per_channel"(%x, %s, %z, %axis, %lo, %hi, %dtype, %out) : (!torch.vtensor<[2,4],si8>, !torch.vtensor<[2],f32>, !torch.vtensor<[2],si64>, !torch.int, !torch.int, !torch.int, !torch.int, !torch.int) -> !torch.vtensor<[2,4],f16>
  return %r : !torch.vtensor<[2,4],f16>
}

// -----

// CHECK-LABEL: func.func @dequantize_per_channel
// CHECK: "quantized_decomposed.dequantize_per_channel"(%arg0, %arg1, %arg2) {axis = 0 : i64, dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64}
// CHECK-SAME: -> !torch.vtensor<[2,4],f16>
func.func @dequantize_per_channel(%x: !torch.vtensor<[2,4],si8>, %s: !torch.vtensor<[2],f32>, %z: !torch.vtensor<[2],si64>) -> !torch.vtensor<[2,4],f16> {
  %axis = torch.constant.int 0
  %lo = torch.constant.int -128
  %hi = torch.constant.int 127
  %dtype = torch.constant.int 1
  %out = torch.constant.int 5
  %r = torch.quantized_decomposed.dequantize_per_channel %x, %s, %z, %axis, %lo, %hi, %dtype, %out : !torch.vtensor<[2,4],si8>, !torch.vtensor<[2],f32>, !torch.vtensor<[2],si64>, !torch.int, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[2,4],f16>
  return %r : !torch.vtensor<[2,4],f16>
}

// -----

// CHECK-LABEL: func.func @quantize_per_channel_group_opaque
// CHECK: "quantized_decomposed.quantize_per_channel_group"(%arg0, %arg1, %arg2) {dtype = si8, group_size = 2 : i64, quant_max = 7 : i64, quant_min = -8 : i64}
func.func @quantize_per_channel_group_opaque(%x: !torch.vtensor<[2,4],f32>, %s: !torch.vtensor<[2,2],f32>, %z: !torch.vtensor<[2,2],si32>) -> !torch.vtensor<[2,4],si8> {
  %lo = torch.constant.int -8
  %hi = torch.constant.int 7
  %dtype = torch.constant.int 1
  %group = torch.constant.int 2
  %r = torch.operator "torch.quantized_decomposed.quantize_per_channel_group"(%x, %s, %z, %lo, %hi, %dtype, %group) : (!torch.vtensor<[2,4],f32>, !torch.vtensor<[2,2],f32>, !torch.vtensor<[2,2],si32>, !torch.int, !torch.int, !torch.int, !torch.int) -> !torch.vtensor<[2,4],si8>
  return %r : !torch.vtensor<[2,4],si8>
}

// -----

// CHECK-LABEL: func.func @quantize_per_channel_group
// CHECK: "quantized_decomposed.quantize_per_channel_group"(%arg0, %arg1, %arg2) {dtype = si8, group_size = 2 : i64, quant_max = 7 : i64, quant_min = -8 : i64}
func.func @quantize_per_channel_group(%x: !torch.vtensor<[2,4],f32>, %s: !torch.vtensor<[2,2],f32>, %z: !torch.vtensor<[2,2],si32>) -> !torch.vtensor<[2,4],si8> {
  %lo = torch.constant.int -8
  %hi = torch.constant.int 7
  %dtype = torch.constant.int 1
  %group = torch.constant.int 2
  %r = torch.quantized_decomposed.quantize_per_channel_group %x, %s, %z, %lo, %hi, %dtype, %group : !torch.vtensor<[2,4],f32>, !torch.vtensor<[2,2],f32>, !torch.vtensor<[2,2],si32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[2,4],si8>
  return %r : !torch.vtensor<[2,4],si8>
}

// -----

// CHECK-LABEL: func.func @dequantize_per_channel_group_opaque
// CHECK: "quantized_decomposed.dequantize_per_channel_group"(%arg0, %arg1, %arg2) {dtype = si8, group_size = 2 : i64, quant_max = 7 : i64, quant_min = -8 : i64}
func.func @dequantize_per_channel_group_opaque(%x: !torch.vtensor<[2,4],si8>, %s: !torch.vtensor<[2,2],f32>, %z: !torch.vtensor<[2,2],si32>) -> !torch.vtensor<[2,4],f32> {
  %lo = torch.constant.int -8
  %hi = torch.constant.int 7
  %dtype = torch.constant.int 1
  %group = torch.constant.int 2
  %out = torch.constant.int 6
  %r = torch.operator "torch.quantized_decomposed.dequantize_per_channel_group"(%x, %s, %z, %lo, %hi, %dtype, %group, %out) : (!torch.vtensor<[2,4],si8>, !torch.vtensor<[2,2],f32>, !torch.vtensor<[2,2],si32>, !torch.int, !torch.int, !torch.int, !torch.int, !torch.int) -> !torch.vtensor<[2,4],f32>
  return %r : !torch.vtensor<[2,4],f32>
}

// -----

// CHECK-LABEL: func.func @dequantize_per_channel_group
// CHECK: "quantized_decomposed.dequantize_per_channel_group"(%arg0, %arg1, %arg2) {dtype = si8, group_size = 2 : i64, quant_max = 7 : i64, quant_min = -8 : i64}
func.func @dequantize_per_channel_group(%x: !torch.vtensor<[2,4],si8>, %s: !torch.vtensor<[2,2],f32>, %z: !torch.vtensor<[2,2],si32>) -> !torch.vtensor<[2,4],f32> {
  %lo = torch.constant.int -8
  %hi = torch.constant.int 7
  %dtype = torch.constant.int 1
  %group = torch.constant.int 2
  %out = torch.constant.int 6
  %r = torch.quantized_decomposed.dequantize_per_channel_group %x, %s, %z, %lo, %hi, %dtype, %group, %out : !torch.vtensor<[2,4],si8>, !torch.vtensor<[2,2],f32>, !torch.vtensor<[2,2],si32>, !torch.int, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[2,4],f32>
  return %r : !torch.vtensor<[2,4],f32>
}
