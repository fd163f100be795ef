// RUN: torq-opt %s | torq-opt | FileCheck %s

// CHECK-LABEL: func.func @per_token
// CHECK: "quantized_decomposed.quantize_per_token"(%{{.*}}, %{{.*}}, %{{.*}}) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<2x4x8xf32>, tensor<2x4x1xf64>, tensor<2x4x1xi64>) -> tensor<2x4x8xi8>
// CHECK: "quantized_decomposed.dequantize_per_token"(%{{.*}}, %{{.*}}, %{{.*}}) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<2x4x8xi8>, tensor<2x4x1xf64>, tensor<2x4x1xi64>) -> tensor<2x4x8xbf16>
func.func @per_token(%x: tensor<2x4x8xf32>, %scales: tensor<2x4x1xf64>, %zps: tensor<2x4x1xi64>) -> tensor<2x4x8xbf16> {
  %0 = "quantized_decomposed.quantize_per_token"(%x, %scales, %zps) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x4x8xf32>, tensor<2x4x1xf64>, tensor<2x4x1xi64>) -> tensor<2x4x8xi8>
  %1 = "quantized_decomposed.dequantize_per_token"(%0, %scales, %zps) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x4x8xi8>, tensor<2x4x1xf64>, tensor<2x4x1xi64>) -> tensor<2x4x8xbf16>
  return %1 : tensor<2x4x8xbf16>
}

// Without zero points, with floating-point ones as choose_qparams_per_token gives them, with the zero point added last.
// CHECK-LABEL: func.func @per_token_forms
// CHECK: "quantized_decomposed.quantize_per_token"(%{{.*}}, %{{.*}}) {{.*}} : (tensor<?x?xf16>, tensor<?x1xf32>) -> tensor<?x?xi8>
// CHECK: "quantized_decomposed.dequantize_per_token"(%{{.*}}, %{{.*}}, %{{.*}}) {{.*}} : (tensor<?x?xi8>, tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x?xf32>
// CHECK: "quantized_decomposed.quantize_per_token"(%{{.*}}, %{{.*}}, %{{.*}}) {dtype = ui8, quant_max = 15 : i64, quant_min = 0 : i64, round_first}
func.func @per_token_forms(%x: tensor<?x?xf16>, %scales: tensor<?x1xf32>, %f: tensor<?x1xf32>, %i: tensor<?x1xi8>) -> tensor<?x?xi8> {
  %0 = "quantized_decomposed.quantize_per_token"(%x, %scales) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<?x?xf16>, tensor<?x1xf32>) -> tensor<?x?xi8>
  %1 = "quantized_decomposed.dequantize_per_token"(%0, %scales, %f) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<?x?xi8>, tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x?xf32>
  %2 = "quantized_decomposed.quantize_per_token"(%1, %scales, %i) {quant_min = 0 : i64, quant_max = 15 : i64, dtype = ui8, round_first} : (tensor<?x?xf32>, tensor<?x1xf32>, tensor<?x1xi8>) -> tensor<?x?xi8>
  return %2 : tensor<?x?xi8>
}

// CHECK-LABEL: func.func @per_channel_group
// CHECK: "quantized_decomposed.quantize_per_channel_group"(%{{.*}}, %{{.*}}, %{{.*}}) {dtype = si8, group_size = 32 : i64, quant_max = 7 : i64, quant_min = -8 : i64} : (tensor<64x128xf32>, tensor<64x4xf32>, tensor<64x4xi32>) -> tensor<64x128xi8>
// CHECK: "quantized_decomposed.dequantize_per_channel_group"(%{{.*}}, %{{.*}}, %{{.*}}) {dtype = si8, group_size = 32 : i64, quant_max = 7 : i64, quant_min = -8 : i64} : (tensor<64x128xi8>, tensor<64x4xf32>, tensor<64x4xi32>) -> tensor<64x128xf32>
func.func @per_channel_group(%x: tensor<64x128xf32>, %scales: tensor<64x4xf32>, %zps: tensor<64x4xi32>) -> tensor<64x128xf32> {
  %0 = "quantized_decomposed.quantize_per_channel_group"(%x, %scales, %zps) {quant_min = -8 : i64, quant_max = 7 : i64, dtype = si8, group_size = 32 : i64} : (tensor<64x128xf32>, tensor<64x4xf32>, tensor<64x4xi32>) -> tensor<64x128xi8>
  %1 = "quantized_decomposed.dequantize_per_channel_group"(%0, %scales, %zps) {quant_min = -8 : i64, quant_max = 7 : i64, dtype = si8, group_size = 32 : i64} : (tensor<64x128xi8>, tensor<64x4xf32>, tensor<64x4xi32>) -> tensor<64x128xf32>
  return %1 : tensor<64x128xf32>
}

// Four bits and no zero points; a group longer than the axis takes all of it.
// CHECK-LABEL: func.func @four_bits
// CHECK: "quantized_decomposed.dequantize_per_channel_group"(%{{.*}}, %{{.*}}) {{.*}} : (tensor<64x128xi4>, tensor<64x4xbf16>) -> tensor<64x128xbf16>
// CHECK: "quantized_decomposed.dequantize_per_channel_group"(%{{.*}}, %{{.*}}) {{.*}}group_size = 1000 : i64{{.*}} : (tensor<64x128xi4>, tensor<64x1xbf16>) -> tensor<64x128xbf16>
func.func @four_bits(%w: tensor<64x128xi4>, %scales: tensor<64x4xbf16>, %one: tensor<64x1xbf16>) -> (tensor<64x128xbf16>, tensor<64x128xbf16>) {
  %0 = "quantized_decomposed.dequantize_per_channel_group"(%w, %scales) {quant_min = 0 : i64, quant_max = 15 : i64, dtype = ui4, group_size = 32 : i64} : (tensor<64x128xi4>, tensor<64x4xbf16>) -> tensor<64x128xbf16>
  %1 = "quantized_decomposed.dequantize_per_channel_group"(%w, %one) {quant_min = -8 : i64, quant_max = 7 : i64, dtype = si4, group_size = 1000 : i64} : (tensor<64x128xi4>, tensor<64x1xbf16>) -> tensor<64x128xbf16>
  return %0, %1 : tensor<64x128xbf16>, tensor<64x128xbf16>
}

// Blocks as ONNX has them: along any axis, of any rank.
// CHECK-LABEL: func.func @blocks
// CHECK: "quantized_decomposed.quantize_per_channel_group"(%{{.*}}, %{{.*}}, %{{.*}}) {axis = 0 : i64, divide, dtype = ui8, group_size = 2 : i64, quant_max = 255 : i64, quant_min = 0 : i64, round_first} : (tensor<4x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x5xi8>) -> tensor<4x3x5xi8>
// CHECK: "quantized_decomposed.dequantize_per_channel_group"(%{{.*}}, %{{.*}}, %{{.*}}) {axis = -3 : i64, {{.*}} : (tensor<4x3x5xi8>, tensor<2x3x5xf32>, tensor<2x3x5xi8>) -> tensor<4x3x5xf32>
func.func @blocks(%x: tensor<4x3x5xf32>, %scales: tensor<2x3x5xf32>, %zps: tensor<2x3x5xi8>) -> tensor<4x3x5xf32> {
  %0 = "quantized_decomposed.quantize_per_channel_group"(%x, %scales, %zps) {quant_min = 0 : i64, quant_max = 255 : i64, dtype = ui8, group_size = 2 : i64, axis = 0 : i64, divide, round_first} : (tensor<4x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x5xi8>) -> tensor<4x3x5xi8>
  %1 = "quantized_decomposed.dequantize_per_channel_group"(%0, %scales, %zps) {quant_min = 0 : i64, quant_max = 255 : i64, dtype = ui8, group_size = 2 : i64, axis = -3 : i64} : (tensor<4x3x5xi8>, tensor<2x3x5xf32>, tensor<2x3x5xi8>) -> tensor<4x3x5xf32>
  return %1 : tensor<4x3x5xf32>
}

// A zero point that is wider than the storage is signed, another one is as the storage.
// CHECK-LABEL: func.func @torch_tensors
// CHECK: "quantized_decomposed.quantize_per_token"{{.*}} (!torch.vtensor<[?,8],f32>, !torch.vtensor<[?,1],f64>, !torch.vtensor<[?,1],si64>) -> !torch.vtensor<[?,8],ui8>
// CHECK: "quantized_decomposed.dequantize_per_token"{{.*}} (!torch.vtensor<[?,8],ui8>, !torch.vtensor<[?,1],f64>, !torch.vtensor<[?,1],ui8>) -> !torch.vtensor<[?,8],f32>
// CHECK: "quantized_decomposed.quantize_per_channel_group"{{.*}} (!torch.vtensor<[?,8],f32>, !torch.vtensor<[?,2],f32>) -> !torch.vtensor<[?,8],si8>
// CHECK: "quantized_decomposed.dequantize_per_channel_group"{{.*}} (!torch.vtensor<[?,8],si8>, !torch.vtensor<[?,2],f32>, !torch.vtensor<[?,2],f32>) -> !torch.vtensor<[?,8],f16>
func.func @torch_tensors(%x: !torch.vtensor<[?,8],f32>, %scales: !torch.vtensor<[?,1],f64>, %wide: !torch.vtensor<[?,1],si64>, %narrow: !torch.vtensor<[?,1],ui8>, %groups: !torch.vtensor<[?,2],f32>) -> !torch.vtensor<[?,8],f16> {
  %0 = "quantized_decomposed.quantize_per_token"(%x, %scales, %wide) {quant_min = 0 : i64, quant_max = 255 : i64, dtype = ui8} : (!torch.vtensor<[?,8],f32>, !torch.vtensor<[?,1],f64>, !torch.vtensor<[?,1],si64>) -> !torch.vtensor<[?,8],ui8>
  %1 = "quantized_decomposed.dequantize_per_token"(%0, %scales, %narrow) {quant_min = 0 : i64, quant_max = 255 : i64, dtype = ui8} : (!torch.vtensor<[?,8],ui8>, !torch.vtensor<[?,1],f64>, !torch.vtensor<[?,1],ui8>) -> !torch.vtensor<[?,8],f32>
  %2 = "quantized_decomposed.quantize_per_channel_group"(%1, %groups) {quant_min = -8 : i64, quant_max = 7 : i64, dtype = si8, group_size = 4 : i64} : (!torch.vtensor<[?,8],f32>, !torch.vtensor<[?,2],f32>) -> !torch.vtensor<[?,8],si8>
  %3 = "quantized_decomposed.dequantize_per_channel_group"(%2, %groups, %groups) {quant_min = -8 : i64, quant_max = 7 : i64, dtype = si8, group_size = 4 : i64} : (!torch.vtensor<[?,8],si8>, !torch.vtensor<[?,2],f32>, !torch.vtensor<[?,2],f32>) -> !torch.vtensor<[?,8],f16>
  return %3 : !torch.vtensor<[?,8],f16>
}

// Before shape inference neither rank nor dtype may be known.
// CHECK-LABEL: func.func @unknown_shapes
// CHECK: "quantized_decomposed.quantize_per_channel_group"{{.*}} (!torch.vtensor<*,f32>, !torch.vtensor<[?,?],f32>, !torch.vtensor) -> !torch.vtensor
// CHECK: "quantized_decomposed.dequantize_per_token"{{.*}} (!torch.vtensor, !torch.vtensor<[?,?],f32>) -> !torch.vtensor<*,f32>
func.func @unknown_shapes(%x: !torch.vtensor<*,f32>, %scales: !torch.vtensor<[?,?],f32>, %zps: !torch.vtensor) -> !torch.vtensor<*,f32> {
  %0 = "quantized_decomposed.quantize_per_channel_group"(%x, %scales, %zps) {quant_min = 0 : i64, quant_max = 255 : i64, dtype = ui8, group_size = 4 : i64} : (!torch.vtensor<*,f32>, !torch.vtensor<[?,?],f32>, !torch.vtensor) -> !torch.vtensor
  %1 = "quantized_decomposed.dequantize_per_token"(%0, %scales) {quant_min = 0 : i64, quant_max = 255 : i64, dtype = ui8} : (!torch.vtensor, !torch.vtensor<[?,?],f32>) -> !torch.vtensor<*,f32>
  return %1 : !torch.vtensor<*,f32>
}
