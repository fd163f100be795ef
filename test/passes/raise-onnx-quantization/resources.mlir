// RUN: torq-opt --raise-onnx-quantization %s | FileCheck %s

// The importer of torch-mlir writes constants as resources; parameters are read from there too.

// CHECK-LABEL: func.func @resources
// CHECK: %[[S:.*]] = torch.vtensor.literal(dense<[5.000000e-01, 2.500000e-01]> : tensor<2xf32>)
// CHECK: %[[Z:.*]] = torch.vtensor.literal(dense<[3, -1]> : tensor<2xsi8>)
// CHECK: "quantized_decomposed.dequantize_per_channel"(%arg0, %[[S]], %[[Z]])
// CHECK-NOT: module
func.func @resources(%x: !torch.vtensor<[4,2],si8>) -> !torch.vtensor<[4,2],f32> {
  %s = torch.operator "onnx.Constant"() {torch.onnx.value = dense_resource<scales> : tensor<2xf32>} : () -> !torch.vtensor<[2],f32>
  %z = torch.operator "onnx.Constant"() {torch.onnx.value = dense_resource<zero_points> : tensor<2xsi8>} : () -> !torch.vtensor<[2],si8>
  %d = torch.operator "onnx.DequantizeLinear"(%x, %s, %z) : (!torch.vtensor<[4,2],si8>, !torch.vtensor<[2],f32>, !torch.vtensor<[2],si8>) -> !torch.vtensor<[4,2],f32>
  return %d : !torch.vtensor<[4,2],f32>
}

{-#
  dialect_resources: {
    builtin: {
      scales: "0x080000000000003F0000803E",
      zero_points: "0x0800000003FF"
    }
  }
#-}
