// RUN: torq-opt %s | torq-opt | FileCheck %s

// CHECK-LABEL: func.func @per_tensor
// CHECK: "quantized_decomposed.quantize_per_tensor"(%{{.*}}, %{{.*}}, %{{.*}}) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<1x8xf32>, tensor<f32>, tensor<i8>) -> tensor<1x8xi8>
// CHECK: "quantized_decomposed.dequantize_per_tensor"(%{{.*}}, %{{.*}}, %{{.*}}) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<1x8xi8>, tensor<f32>, tensor<i8>) -> tensor<1x8xf32>
func.func @per_tensor(%x: tensor<1x8xf32>, %scale: tensor<f32>, %zp: tensor<i8>) -> tensor<1x8xf32> {
  %0 = "quantized_decomposed.quantize_per_tensor"(%x, %scale, %zp) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x8xf32>, tensor<f32>, tensor<i8>) -> tensor<1x8xi8>
  %1 = "quantized_decomposed.dequantize_per_tensor"(%0, %scale, %zp) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x8xi8>, tensor<f32>, tensor<i8>) -> tensor<1x8xf32>
  return %1 : tensor<1x8xf32>
}

// A range narrower than the storage, division as ONNX computes it, scalar parameters, other float types.
// CHECK-LABEL: func.func @per_tensor_forms
// CHECK: "quantized_decomposed.quantize_per_tensor"{{.*}} {divide, dtype = ui8, quant_max = 127 : i64, quant_min = 0 : i64} : (tensor<?x8xbf16>, f64, i64) -> tensor<?x8xi8>
// CHECK: "quantized_decomposed.dequantize_per_tensor"{{.*}} (tensor<?x8xi8>, f64, i64) -> tensor<?x8xf16>
func.func @per_tensor_forms(%x: tensor<?x8xbf16>, %scale: f64, %zp: i64) -> tensor<?x8xf16> {
  %0 = "quantized_decomposed.quantize_per_tensor"(%x, %scale, %zp) {quant_min = 0 : i64, quant_max = 127 : i64, dtype = ui8, divide} : (tensor<?x8xbf16>, f64, i64) -> tensor<?x8xi8>
  %1 = "quantized_decomposed.dequantize_per_tensor"(%0, %scale, %zp) {quant_min = 0 : i64, quant_max = 127 : i64, dtype = ui8} : (tensor<?x8xi8>, f64, i64) -> tensor<?x8xf16>
  return %1 : tensor<?x8xf16>
}

// CHECK-LABEL: func.func @four_bits
// CHECK: {dtype = ui4, quant_max = 15 : i64, quant_min = 0 : i64} : (tensor<8xf32>, tensor<f32>, tensor<i4>) -> tensor<8xi4>
func.func @four_bits(%x: tensor<8xf32>, %scale: tensor<f32>, %zp: tensor<i4>) -> tensor<8xi4> {
  %0 = "quantized_decomposed.quantize_per_tensor"(%x, %scale, %zp) {quant_min = 0 : i64, quant_max = 15 : i64, dtype = ui4} : (tensor<8xf32>, tensor<f32>, tensor<i4>) -> tensor<8xi4>
  return %0 : tensor<8xi4>
}

// CHECK-LABEL: func.func @run_time_range
// CHECK: "quantized_decomposed.quantize_per_tensor"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) {dtype = si8} : (tensor<8xf32>, tensor<f32>, tensor<i8>, tensor<i64>, tensor<i64>) -> tensor<8xi8>
func.func @run_time_range(%x: tensor<8xf32>, %scale: tensor<f32>, %zp: tensor<i8>, %low: tensor<i64>, %high: tensor<i64>) -> tensor<8xi8> {
  %0 = "quantized_decomposed.quantize_per_tensor"(%x, %scale, %zp, %low, %high) {dtype = si8} : (tensor<8xf32>, tensor<f32>, tensor<i8>, tensor<i64>, tensor<i64>) -> tensor<8xi8>
  return %0 : tensor<8xi8>
}

// CHECK-LABEL: func.func @per_channel
// CHECK: "quantized_decomposed.quantize_per_channel"(%{{.*}}, %{{.*}}, %{{.*}}) {axis = 0 : i64, divide, dtype = si8, quant_max = 127 : i64, quant_min = -127 : i64} : (tensor<16x3x3x3xf32>, tensor<16xf32>, tensor<16xi8>) -> tensor<16x3x3x3xi8>
// CHECK: "quantized_decomposed.dequantize_per_channel"(%{{.*}}, %{{.*}}, %{{.*}}) {axis = -4 : i64, dtype = si8, quant_max = 127 : i64, quant_min = -127 : i64} : (tensor<16x3x3x3xi8>, tensor<16xf32>, tensor<16xi8>) -> tensor<16x3x3x3xf32>
func.func @per_channel(%x: tensor<16x3x3x3xf32>, %scales: tensor<16xf32>, %zps: tensor<16xi8>) -> tensor<16x3x3x3xf32> {
  %0 = "quantized_decomposed.quantize_per_channel"(%x, %scales, %zps) {axis = 0 : i64, quant_min = -127 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<16x3x3x3xf32>, tensor<16xf32>, tensor<16xi8>) -> tensor<16x3x3x3xi8>
  %1 = "quantized_decomposed.dequantize_per_channel"(%0, %scales, %zps) {axis = -4 : i64, quant_min = -127 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<16x3x3x3xi8>, tensor<16xf32>, tensor<16xi8>) -> tensor<16x3x3x3xf32>
  return %1 : tensor<16x3x3x3xf32>
}

// CHECK-LABEL: func.func @bias
// CHECK: "quantized_decomposed.dequantize_per_channel"{{.*}}dtype = si32{{.*}} (tensor<16xi32>, tensor<16xf32>, tensor<16xi32>) -> tensor<16xf32>
func.func @bias(%b: tensor<16xi32>, %scales: tensor<16xf32>, %zps: tensor<16xi32>) -> tensor<16xf32> {
  %0 = "quantized_decomposed.dequantize_per_channel"(%b, %scales, %zps) {axis = 0 : i64, quant_min = -2147483648 : i64, quant_max = 2147483647 : i64, dtype = si32} : (tensor<16xi32>, tensor<16xf32>, tensor<16xi32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// CHECK-LABEL: func.func @torch_tensors
// CHECK: "quantized_decomposed.quantize_per_tensor"{{.*}} (!torch.vtensor<[?,3],f32>, !torch.vtensor<[],f32>, !torch.vtensor<[],ui8>) -> !torch.vtensor<[?,3],ui8>
// CHECK: "quantized_decomposed.dequantize_per_tensor"{{.*}} (!torch.vtensor<[?,3],ui8>, !torch.float, !torch.int) -> !torch.vtensor<[?,3],f32>
// CHECK: "quantized_decomposed.quantize_per_channel"{{.*}} (!torch.vtensor<[?,3],f32>, !torch.vtensor<[3],f32>, !torch.vtensor<[3],ui8>) -> !torch.vtensor<[?,3],ui8>
func.func @torch_tensors(%x: !torch.vtensor<[?,3],f32>, %scale: !torch.vtensor<[],f32>, %zp: !torch.vtensor<[],ui8>, %f: !torch.float, %i: !torch.int, %scales: !torch.vtensor<[3],f32>, %zps: !torch.vtensor<[3],ui8>) -> !torch.vtensor<[?,3],ui8> {
  %0 = "quantized_decomposed.quantize_per_tensor"(%x, %scale, %zp) {quant_min = 0 : i64, quant_max = 255 : i64, dtype = ui8} : (!torch.vtensor<[?,3],f32>, !torch.vtensor<[],f32>, !torch.vtensor<[],ui8>) -> !torch.vtensor<[?,3],ui8>
  %1 = "quantized_decomposed.dequantize_per_tensor"(%0, %f, %i) {quant_min = 0 : i64, quant_max = 255 : i64, dtype = ui8} : (!torch.vtensor<[?,3],ui8>, !torch.float, !torch.int) -> !torch.vtensor<[?,3],f32>
  %2 = "quantized_decomposed.quantize_per_channel"(%1, %scales, %zps) {axis = 1 : i64, quant_min = 0 : i64, quant_max = 255 : i64, dtype = ui8} : (!torch.vtensor<[?,3],f32>, !torch.vtensor<[3],f32>, !torch.vtensor<[3],ui8>) -> !torch.vtensor<[?,3],ui8>
  return %2 : !torch.vtensor<[?,3],ui8>
}

// Before shape inference neither rank nor dtype may be known.
// CHECK-LABEL: func.func @unknown_shapes
// CHECK: "quantized_decomposed.quantize_per_channel"{{.*}} (!torch.vtensor<*,f32>, !torch.vtensor<[?],f32>, !torch.vtensor) -> !torch.vtensor
func.func @unknown_shapes(%x: !torch.vtensor<*,f32>, %scales: !torch.vtensor<[?],f32>, %zps: !torch.vtensor) -> !torch.vtensor {
  %0 = "quantized_decomposed.quantize_per_channel"(%x, %scales, %zps) {axis = 1 : i64, quant_min = 0 : i64, quant_max = 255 : i64, dtype = ui8} : (!torch.vtensor<*,f32>, !torch.vtensor<[?],f32>, !torch.vtensor) -> !torch.vtensor
  return %0 : !torch.vtensor
}
