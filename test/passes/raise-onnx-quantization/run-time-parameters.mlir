// RUN: torq-opt --split-input-file --raise-onnx-quantization %s | FileCheck %s

// Parameters that are computed are operands as constants are.

// CHECK-LABEL: func.func @per_tensor
// CHECK: "quantized_decomposed.quantize_per_tensor"(%arg0, %arg1, %arg2) {divide, dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64}
func.func @per_tensor(%x: !torch.vtensor<[4],f32>, %s: !torch.vtensor<[],f32>, %z: !torch.vtensor<[1],si8>) -> !torch.vtensor<[4],si8> {
  %y = torch.operator "onnx.QuantizeLinear"(%x, %s, %z) : (!torch.vtensor<[4],f32>, !torch.vtensor<[],f32>, !torch.vtensor<[1],si8>) -> !torch.vtensor<[4],si8>
  return %y : !torch.vtensor<[4],si8>
}

// -----

// CHECK-LABEL: func.func @per_channel
// CHECK: "quantized_decomposed.dequantize_per_channel"(%arg0, %arg1, %arg2) {axis = 1 : i64
func.func @per_channel(%x: !torch.vtensor<[2,3,4],ui8>, %s: !torch.vtensor<[3],f16>, %z: !torch.vtensor<[3],ui8>) -> !torch.vtensor<[2,3,4],f16> {
  %y = torch.operator "onnx.DequantizeLinear"(%x, %s, %z) {torch.onnx.axis = -2 : si64} : (!torch.vtensor<[2,3,4],ui8>, !torch.vtensor<[3],f16>, !torch.vtensor<[3],ui8>) -> !torch.vtensor<[2,3,4],f16>
  return %y : !torch.vtensor<[2,3,4],f16>
}

// -----

// One zero point serves all channels.

// CHECK-LABEL: func.func @one_zero_point
// CHECK: %[[ONE:.*]] = torch.operator "onnx.Reshape"(%arg2, {{.*}}) : {{.*}} -> !torch.vtensor<[1],ui8>
// CHECK: %[[ALL:.*]] = torch.operator "onnx.Expand"(%[[ONE]], {{.*}}) : {{.*}} -> !torch.vtensor<[3],ui8>
// CHECK: "quantized_decomposed.dequantize_per_channel"(%arg0, %arg1, %[[ALL]]) {axis = 1 : i64
func.func @one_zero_point(%x: !torch.vtensor<[2,3],ui8>, %s: !torch.vtensor<[3],f32>, %z: !torch.vtensor<[],ui8>) -> !torch.vtensor<[2,3],f32> {
  %y = torch.operator "onnx.DequantizeLinear"(%x, %s, %z) : (!torch.vtensor<[2,3],ui8>, !torch.vtensor<[3],f32>, !torch.vtensor<[],ui8>) -> !torch.vtensor<[2,3],f32>
  return %y : !torch.vtensor<[2,3],f32>
}

// -----

// Blocks are groups along any axis; output_dtype is the type of the result.

// CHECK-LABEL: func.func @blocked
// CHECK: "quantized_decomposed.dequantize_per_channel_group"(%arg0, %arg1, {{.*}}) {axis = 0 : i64, dtype = si4, group_size = 16 : i64, quant_max = 7 : i64, quant_min = -8 : i64}
// CHECK-SAME: -> !torch.vtensor<[32,6],f16>
func.func @blocked(%x: !torch.vtensor<[32,6],si4>, %s: !torch.vtensor<[2,6],f32>) -> !torch.vtensor<[32,6],f16> {
  %y = torch.operator "onnx.DequantizeLinear"(%x, %s) {torch.onnx.axis = 0 : si64, torch.onnx.block_size = 16 : si64, torch.onnx.output_dtype = 10 : si64} : (!torch.vtensor<[32,6],si4>, !torch.vtensor<[2,6],f32>) -> !torch.vtensor<[32,6],f16>
  return %y : !torch.vtensor<[32,6],f16>
}

// -----

// The scale of the bias is a product, in the graph when its factors are.

// CHECK-LABEL: func.func @bias
// CHECK: %[[SCALE:.*]] = torch.operator "onnx.Mul"(%arg1, %arg3) : {{.*}} -> !torch.vtensor<[6],f32>
// CHECK: "quantized_decomposed.dequantize_per_channel"(%arg4, %[[SCALE]], {{.*}}) {axis = 0 : i64, dtype = si32
func.func @bias(%x: !torch.vtensor<[1,4,3,3],ui8>, %sx: !torch.vtensor<[],f32>, %w: !torch.vtensor<[6,4,1,1],si8>, %sw: !torch.vtensor<[6],f32>, %b: !torch.vtensor<[6],si32>) -> !torch.vtensor<[1,6,3,3],ui8> {
  %z = torch.operator "onnx.Constant"() {torch.onnx.value = dense<3> : tensor<ui8>} : () -> !torch.vtensor<[],ui8>
  %zw = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0> : tensor<si8>} : () -> !torch.vtensor<[],si8>
  %y = torch.operator "onnx.QLinearConv"(%x, %sx, %z, %w, %sw, %zw, %sx, %z, %b) : (!torch.vtensor<[1,4,3,3],ui8>, !torch.vtensor<[],f32>, !torch.vtensor<[],ui8>, !torch.vtensor<[6,4,1,1],si8>, !torch.vtensor<[6],f32>, !torch.vtensor<[],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],ui8>, !torch.vtensor<[6],si32>) -> !torch.vtensor<[1,6,3,3],ui8>
  return %y : !torch.vtensor<[1,6,3,3],ui8>
}

// -----

// The range of the values with zero is 255 steps wide; the zero point is where zero is among them.

// CHECK-LABEL: func.func @dynamic
// CHECK: %[[LOW:.*]] = torch.operator "onnx.ReduceMin"(%arg0) {torch.onnx.keepdims = 0 : si64}
// CHECK: %[[LEAST:.*]] = torch.operator "onnx.Min"(%[[LOW]],
// CHECK: %[[HIGH:.*]] = torch.operator "onnx.ReduceMax"(%arg0) {torch.onnx.keepdims = 0 : si64}
// CHECK: %[[GREATEST:.*]] = torch.operator "onnx.Max"(%[[HIGH]],
// CHECK: %[[WIDTH:.*]] = torch.operator "onnx.Sub"(%[[GREATEST]], %[[LEAST]])
// CHECK: %[[STEP:.*]] = torch.operator "onnx.Div"(%[[WIDTH]],
// CHECK: %[[SCALE:.*]] = torch.operator "onnx.Where"({{.*}}, {{.*}}, %[[STEP]])
// CHECK: %[[NEGATED:.*]] = torch.operator "onnx.Neg"(%[[LEAST]])
// CHECK: %[[ZERO:.*]] = "quantized_decomposed.quantize_per_tensor"(%[[NEGATED]], %[[SCALE]], {{.*}}) {divide, dtype = ui8
// CHECK: %[[Q:.*]] = "quantized_decomposed.quantize_per_tensor"(%arg0, %[[SCALE]], %[[ZERO]]) {divide, dtype = ui8
// CHECK: return %[[Q]], %[[SCALE]], %[[ZERO]]
func.func @dynamic(%x: !torch.vtensor<[4],f32>) -> (!torch.vtensor<[4],ui8>, !torch.vtensor<[],f32>, !torch.vtensor<[],ui8>) {
  %y, %s, %z = torch.operator "onnx.DynamicQuantizeLinear"(%x) : (!torch.vtensor<[4],f32>) -> (!torch.vtensor<[4],ui8>, !torch.vtensor<[],f32>, !torch.vtensor<[],ui8>)
  return %y, %s, %z : !torch.vtensor<[4],ui8>, !torch.vtensor<[],f32>, !torch.vtensor<[],ui8>
}
