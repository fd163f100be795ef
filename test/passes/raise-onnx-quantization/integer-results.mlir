// RUN: torq-opt --split-input-file --raise-onnx-quantization %s | FileCheck %s

// Sums of integers are computed in integers; a zero point of each row is a column.

// CHECK-LABEL: func.func @matmul
// CHECK-DAG: %[[ROWS:.*]] = torch.operator "onnx.Reshape"(%arg2, {{.*}}) : {{.*}} -> !torch.vtensor<[2,1],ui8>
// CHECK-DAG: %[[A:.*]] = torch.operator "onnx.Cast"(%arg0) {torch.onnx.to = 6 : si64} : {{.*}} -> !torch.vtensor<[2,3],si32>
// CHECK-DAG: %[[ZA:.*]] = torch.operator "onnx.Cast"(%[[ROWS]]) {torch.onnx.to = 6 : si64}
// CHECK: %[[LEFT:.*]] = torch.operator "onnx.Sub"(%[[A]], %[[ZA]])
// CHECK: %[[B:.*]] = torch.operator "onnx.Cast"(%arg1)
// CHECK: %[[ZB:.*]] = torch.operator "onnx.Cast"(%arg3)
// CHECK: %[[RIGHT:.*]] = torch.operator "onnx.Sub"(%[[B]], %[[ZB]])
// CHECK: torch.operator "onnx.MatMul"(%[[LEFT]], %[[RIGHT]]) : {{.*}} -> !torch.vtensor<[2,4],si32>
func.func @matmul(%a: !torch.vtensor<[2,3],ui8>, %b: !torch.vtensor<[3,4],si8>, %za: !torch.vtensor<[2],ui8>, %zb: !torch.vtensor<[4],si8>) -> !torch.vtensor<[2,4],si32> {
  %y = torch.operator "onnx.MatMulInteger"(%a, %b, %za, %zb) : (!torch.vtensor<[2,3],ui8>, !torch.vtensor<[3,4],si8>, !torch.vtensor<[2],ui8>, !torch.vtensor<[4],si8>) -> !torch.vtensor<[2,4],si32>
  return %y : !torch.vtensor<[2,4],si32>
}

// -----

// A zero point that is absent, or zero, is not subtracted.

// CHECK-LABEL: func.func @conv
// CHECK-NOT: onnx.Sub
// CHECK: torch.operator "onnx.Conv"({{.*}}, {{.*}}) {torch.onnx.pads = [1 : si64, 1 : si64, 1 : si64, 1 : si64]}
func.func @conv(%x: !torch.vtensor<[1,2,3,3],ui8>, %w: !torch.vtensor<[2,2,3,3],ui8>) -> !torch.vtensor<[1,2,3,3],si32> {
  %z = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0> : tensor<ui8>} : () -> !torch.vtensor<[],ui8>
  %y = torch.operator "onnx.ConvInteger"(%x, %w, %z) {torch.onnx.pads = [1 : si64, 1 : si64, 1 : si64, 1 : si64]} : (!torch.vtensor<[1,2,3,3],ui8>, !torch.vtensor<[2,2,3,3],ui8>, !torch.vtensor<[],ui8>) -> !torch.vtensor<[1,2,3,3],si32>
  return %y : !torch.vtensor<[1,2,3,3],si32>
}

// -----

// Packed weights are unpacked, and remain integers; the type of the result is inferred.

// CHECK-LABEL: func.func @packed
// CHECK: %[[W:.*]] = torch.vtensor.literal(dense<{{.*}}[1, 2, 3, 4], [5, 6, 7, 8]{{.*}}> : tensor<2x4xui4>)
// CHECK: %[[D:.*]] = "quantized_decomposed.dequantize_per_channel_group"(%[[W]], {{.*}}) {axis = 1 : i64, dtype = ui4, group_size = 2 : i64
// CHECK: %[[T:.*]] = torch.operator "onnx.Transpose"(%[[D]])
// CHECK: torch.operator "onnx.MatMul"(%arg0, %[[T]]) : {{.*}} -> !torch.vtensor<[3,2],f32>
func.func @packed(%x: !torch.vtensor<[3,4],f32>, %s: !torch.vtensor<[4],f32>) -> !torch.vtensor<[3,2],f32> {
  %b = torch.operator "onnx.Constant"() {torch.onnx.value = dense<[[[33], [67]], [[101], [135]]]> : tensor<2x2x1xui8>} : () -> !torch.vtensor<[2,2,1],ui8>
  %y = torch.operator "onnx.MatMulNBits"(%x, %b, %s) {torch.onnx.K = 4 : si64, torch.onnx.N = 2 : si64, torch.onnx.bits = 4 : si64, torch.onnx.block_size = 2 : si64} : (!torch.vtensor<[3,4],f32>, !torch.vtensor<[2,2,1],ui8>, !torch.vtensor<[4],f32>) -> !torch.none
  %z = torch.operator "onnx.Identity"(%y) : (!torch.none) -> !torch.vtensor<[3,2],f32>
  return %z : !torch.vtensor<[3,2],f32>
}

// -----

// The input is rounded as DynamicQuantizeLinear does; the float bias is added in the end.

// CHECK-LABEL: func.func @dynamic
// CHECK: %[[Q:.*]] = "quantized_decomposed.quantize_per_tensor"(%arg0, %[[S:.*]], %[[Z:.*]]) {divide, dtype = ui8
// CHECK: %[[X:.*]] = "quantized_decomposed.dequantize_per_tensor"(%[[Q]], %[[S]], %[[Z]])
// CHECK: %[[W:.*]] = "quantized_decomposed.dequantize_per_channel"(%arg1, %arg2, {{.*}}) {axis = 1 : i64
// CHECK: %[[P:.*]] = torch.operator "onnx.MatMul"(%[[X]], %[[W]])
// CHECK: torch.operator "onnx.Add"(%[[P]], %arg3)
func.func @dynamic(%x: !torch.vtensor<[3,4],f32>, %b: !torch.vtensor<[4,2],si8>, %s: !torch.vtensor<[2],f32>, %bias: !torch.vtensor<[2],f32>) -> !torch.vtensor<[3,2],f32> {
  %none = torch.constant.none
  %y = torch.operator "onnx.DynamicQuantizeMatMul"(%x, %b, %s, %none, %bias) : (!torch.vtensor<[3,4],f32>, !torch.vtensor<[4,2],si8>, !torch.vtensor<[2],f32>, !torch.none, !torch.vtensor<[2],f32>) -> !torch.vtensor<[3,2],f32>
  return %y : !torch.vtensor<[3,2],f32>
}
