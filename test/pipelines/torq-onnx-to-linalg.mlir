// RUN: torq-opt --torq-onnx-to-torch %s | FileCheck %s --check-prefix=TORCH
// RUN: torq-opt --torq-onnx-to-linalg %s | FileCheck %s --check-prefix=LINALG
// RUN: torq-opt --torq-onnx-to-linalg --mlir-print-debuginfo --mlir-print-local-scope %s | FileCheck %s --check-prefix=LOCATIONS

// A convolution of the QOperator format and a flatten at each level of the IR.

// TORCH-LABEL: func.func @main
// TORCH-SAME: (%[[X:.*]]: !torch.vtensor<[1,2,4,4],ui8>) -> !torch.vtensor<[1,12],ui8>
// TORCH-DAG: %[[XF:.*]] = "quantized_decomposed.dequantize_per_tensor"(%[[X]], {{.*}} -> !torch.vtensor<[1,2,4,4],f32>
// TORCH-DAG: %[[WF:.*]] = "quantized_decomposed.dequantize_per_channel"({{.*}} {axis = 0 : i64, {{.*}} -> !torch.vtensor<[3,2,3,3],f32>
// TORCH-DAG: %[[BF:.*]] = "quantized_decomposed.dequantize_per_channel"({{.*}} -> !torch.vtensor<[3],f32>
// TORCH: %[[Y:.*]] = torch.aten.convolution %[[XF]], %[[WF]], %[[BF]],
// TORCH: %[[Q:.*]] = "quantized_decomposed.quantize_per_tensor"(%[[Y]], {{.*}} {divide, {{.*}} -> !torch.vtensor<[1,3,2,2],ui8>
// TORCH: torch.{{.*}} %[[Q]]
// TORCH: return %{{.*}} : !torch.vtensor<[1,12],ui8>

// LINALG-LABEL: func.func @main
// LINALG-SAME: (%[[X:.*]]: tensor<1x2x4x4xi8>) -> tensor<1x12xi8>
// LINALG-NOT: torch
// LINALG-DAG: %[[XF:.*]] = "quantized_decomposed.dequantize_per_tensor"(%[[X]], {{.*}} {dtype = ui8, {{.*}} -> tensor<1x2x4x4xf32>
// LINALG-DAG: %[[WF:.*]] = "quantized_decomposed.dequantize_per_channel"({{.*}} {axis = 0 : i64, dtype = si8, {{.*}} -> tensor<3x2x3x3xf32>
// LINALG-DAG: %[[BF:.*]] = "quantized_decomposed.dequantize_per_channel"({{.*}} {axis = 0 : i64, dtype = si32, {{.*}} -> tensor<3xf32>
// LINALG-DAG: %[[B:.*]] = linalg.broadcast ins(%[[BF]] : tensor<3xf32>)
// LINALG: %[[Y:.*]] = linalg.conv_2d_nchw_fchw {{.*}} ins(%[[XF]], %[[WF]] : {{.*}} outs(%[[B]]
// LINALG: %[[Q:.*]] = "quantized_decomposed.quantize_per_tensor"(%[[Y]], {{.*}} {divide, dtype = ui8, {{.*}} -> tensor<1x3x2x2xi8>
// LINALG: %[[F:.*]] = tensor.collapse_shape %[[Q]]
// LINALG: return %[[F]]

// LOCATIONS: "quantized_decomposed.dequantize_per_tensor"{{.*}} loc("conv")
// LOCATIONS: linalg.conv_2d_nchw_fchw {{.*}} loc("conv")
// LOCATIONS: "quantized_decomposed.quantize_per_tensor"{{.*}} loc("conv")
// LOCATIONS: tensor.collapse_shape {{.*}} loc("flatten")
func.func @main(%x: !torch.vtensor<[1,2,4,4],ui8>) -> !torch.vtensor<[1,12],ui8> attributes {torch.onnx_meta.opset_version = 17 : si64} {
  %sx = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0.5> : tensor<f32>} : () -> !torch.vtensor<[],f32>
  %z = torch.operator "onnx.Constant"() {torch.onnx.value = dense<128> : tensor<ui8>} : () -> !torch.vtensor<[],ui8>
  %w = torch.operator "onnx.Constant"() {torch.onnx.value = dense<1> : tensor<3x2x3x3xsi8>} : () -> !torch.vtensor<[3,2,3,3],si8>
  %sw = torch.operator "onnx.Constant"() {torch.onnx.value = dense<[0.25, 1.0, 2.0]> : tensor<3xf32>} : () -> !torch.vtensor<[3],f32>
  %zw = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0> : tensor<3xsi8>} : () -> !torch.vtensor<[3],si8>
  %b = torch.operator "onnx.Constant"() {torch.onnx.value = dense<[10, 20, 30]> : tensor<3xsi32>} : () -> !torch.vtensor<[3],si32>
  %0 = torch.operator "onnx.QLinearConv"(%x, %sx, %z, %w, %sw, %zw, %sx, %z, %b) : (!torch.vtensor<[1,2,4,4],ui8>, !torch.vtensor<[],f32>, !torch.vtensor<[],ui8>, !torch.vtensor<[3,2,3,3],si8>, !torch.vtensor<[3],f32>, !torch.vtensor<[3],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],ui8>, !torch.vtensor<[3],si32>) -> !torch.vtensor<[1,3,2,2],ui8> loc("conv")
  %1 = torch.operator "onnx.Flatten"(%0) {torch.onnx.axis = 1 : si64} : (!torch.vtensor<[1,3,2,2],ui8>) -> !torch.vtensor<[1,12],ui8> loc("flatten")
  return %1 : !torch.vtensor<[1,12],ui8>
}
