// RUN: torq-opt --quantized-decomposed-simplify --mlir-print-debuginfo --mlir-print-local-scope %s | FileCheck %s

// What moves keeps its location.

// CHECK: "quantized_decomposed.quantize_per_tensor"(%arg0{{.*}} loc("quantize")
// CHECK: torch.aten.t {{.*}} loc("transpose")
// CHECK: torch.aten.t {{.*}} loc("again")
// CHECK: "quantized_decomposed.dequantize_per_tensor"{{.*}} loc("dequantize")
func.func @locations(%x: !torch.vtensor<[2,3],f32>) -> !torch.vtensor<[2,3],f32> {
  %s = torch.vtensor.literal(dense<0.5> : tensor<f32>) : !torch.vtensor<[],f32>
  %z = torch.vtensor.literal(dense<3> : tensor<ui8>) : !torch.vtensor<[],ui8>
  %0 = torch.aten.t %x : !torch.vtensor<[2,3],f32> -> !torch.vtensor<[3,2],f32> loc("transpose")
  %1 = "quantized_decomposed.quantize_per_tensor"(%0, %s, %z) {divide, quant_min = 0 : i64, quant_max = 255 : i64, dtype = ui8} : (!torch.vtensor<[3,2],f32>, !torch.vtensor<[],f32>, !torch.vtensor<[],ui8>) -> !torch.vtensor<[3,2],ui8> loc("quantize")
  %2 = "quantized_decomposed.dequantize_per_tensor"(%1, %s, %z) {quant_min = 0 : i64, quant_max = 255 : i64, dtype = ui8} : (!torch.vtensor<[3,2],ui8>, !torch.vtensor<[],f32>, !torch.vtensor<[],ui8>) -> !torch.vtensor<[3,2],f32> loc("dequantize")
  %3 = torch.aten.t %2 : !torch.vtensor<[3,2],f32> -> !torch.vtensor<[2,3],f32> loc("again")
  return %3 : !torch.vtensor<[2,3],f32>
}
