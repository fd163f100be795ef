// RUN: torq-opt --raise-onnx-quantization --mlir-print-debuginfo --mlir-print-local-scope %s | FileCheck %s

// Every operation that stands for a node has the location of the node.

// CHECK: "quantized_decomposed.dequantize_per_tensor"{{.*}} loc("node/with name")
// CHECK: torch.operator "onnx.Sigmoid"{{.*}} loc("node/with name")
// CHECK: "quantized_decomposed.quantize_per_tensor"{{.*}} loc("node/with name")
func.func @location(%a: !torch.vtensor<[2,4],si8>) -> !torch.vtensor<[2,4],si8> {
  %s = torch.operator "onnx.Constant"() {torch.onnx.value = dense<0.5> : tensor<f32>} : () -> !torch.vtensor<[],f32>
  %z = torch.operator "onnx.Constant"() {torch.onnx.value = dense<1> : tensor<si8>} : () -> !torch.vtensor<[],si8>
  %0 = torch.operator "onnx.QLinearSigmoid"(%a, %s, %z, %s, %z) : (!torch.vtensor<[2,4],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>) -> !torch.vtensor<[2,4],si8> loc("node/with name")
  return %0 : !torch.vtensor<[2,4],si8>
}
