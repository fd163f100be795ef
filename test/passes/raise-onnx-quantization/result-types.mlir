// RUN: torq-opt --split-input-file --raise-onnx-quantization %s | FileCheck %s

// An importer that does not know the operators of com.microsoft leaves their results, and all that follow, untyped.

// CHECK-LABEL: func.func @untyped
// CHECK: torch.operator "onnx.Add"({{.*}}) : (!torch.vtensor<[1,6,4,4],f32>, !torch.vtensor<[6,1,1],f32>) -> !torch.vtensor<[1,6,4,4],f32>
// CHECK: torch.operator "onnx.MaxPool"({{.*}}) {{.*}} : (!torch.vtensor<[1,6,4,4],f32>) -> !torch.vtensor<[1,6,2,2],f32>
// CHECK: torch.operator "onnx.GlobalAveragePool"({{.*}}) : (!torch.vtensor<[1,6,2,2],f32>) -> !torch.vtensor<[1,6,1,1],f32>
// CHECK: torch.operator "onnx.Reshape"({{.*}}) : (!torch.vtensor<[1,6,1,1],ui8>, !torch.vtensor<[2],si64>) -> !torch.vtensor<[1,6],ui8>
// CHECK: torch.operator "onnx.Gemm"({{.*}}) {torch.onnx.transB = 1 : si64} : (!torch.vtensor<[1,6],f32>, !torch.vtensor<[3,6],f32>) -> !torch.vtensor<[1,3],f32>
func.func @untyped(%x: !torch.vtensor<[1,6,4,4],ui8>) -> !torch.vtensor<[1,3],f32> attributes {torch.onnx_meta.opset_version = 17 : si64} {
  %s = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0.5> : tensor<f32>} : () -> !torch.vtensor<[],f32>
  %z = torch.operator "onnx.Constant"() {torch.onnx.value = dense<1> : tensor<ui8>} : () -> !torch.vtensor<[],ui8>
  %b = torch.operator "onnx.Constant"() {torch.onnx.value = dense<1> : tensor<6x1x1xui8>} : () -> !torch.vtensor<[6,1,1],ui8>
  %shape = torch.operator "onnx.Constant"() {torch.onnx.value = dense<[1, -1]> : tensor<2xsi64>} : () -> !torch.vtensor<[2],si64>
  %w = torch.operator "onnx.Constant"() {torch.onnx.value = dense<1> : tensor<3x6xsi8>} : () -> !torch.vtensor<[3,6],si8>
  %zw = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0> : tensor<si8>} : () -> !torch.vtensor<[],si8>
  %0 = torch.operator "onnx.QLinearAdd"(%x, %s, %z, %b, %s, %z, %s, %z) : (!torch.vtensor<[1,6,4,4],ui8>, !torch.vtensor<[],f32>, !torch.vtensor<[],ui8>, !torch.vtensor<[6,1,1],ui8>, !torch.vtensor<[],f32>, !torch.vtensor<[],ui8>, !torch.vtensor<[],f32>, !torch.vtensor<[],ui8>) -> !torch.none
  %1 = torch.operator "onnx.MaxPool"(%0) {torch.onnx.kernel_shape = [2 : si64, 2 : si64], torch.onnx.strides = [2 : si64, 2 : si64]} : (!torch.none) -> !torch.none
  %2 = torch.operator "onnx.QLinearGlobalAveragePool"(%1, %s, %z, %s, %z) {torch.onnx.channels_last = 0 : si64} : (!torch.none, !torch.vtensor<[],f32>, !torch.vtensor<[],ui8>, !torch.vtensor<[],f32>, !torch.vtensor<[],ui8>) -> !torch.none
  %3 = torch.operator "onnx.Reshape"(%2, %shape) : (!torch.none, !torch.vtensor<[2],si64>) -> !torch.none
  %4 = torch.operator "onnx.QGemm"(%3, %s, %z, %w, %s, %zw) {torch.onnx.transB = 1 : si64} : (!torch.none, !torch.vtensor<[],f32>, !torch.vtensor<[],ui8>, !torch.vtensor<[3,6],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>) -> !torch.vtensor<[1,3],f32>
  return %4 : !torch.vtensor<[1,3],f32>
}
