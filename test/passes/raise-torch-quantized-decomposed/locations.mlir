// RUN: torq-opt --raise-torch-quantized-decomposed --mlir-print-debuginfo --mlir-print-local-scope %s | FileCheck %s

// Every operation that stands for a call has the location of the call; other calls are left alone.

// CHECK: torch.vtensor.literal{{.*}} loc("weights")
// CHECK: "quantized_decomposed.dequantize_per_channel"{{.*}} loc("weights")
// CHECK: torch.operator "torch.other.quantize"{{.*}} loc("other")
func.func @location(%q: !torch.vtensor<[2,4],si8>, %s: !torch.vtensor<[2],f32>) -> !torch.vtensor<[2,4],f32> {
  %zero = torch.constant.int 0
  %lo = torch.constant.int -128
  %hi = torch.constant.int 127
  %dtype = torch.constant.int 1
  %none = torch.constant.none
  %x = torch.operator "torch.quantized_decomposed.dequantize_per_channel"(%q, %s, %none, %zero, %lo, %hi, %dtype, %none) : (!torch.vtensor<[2,4],si8>, !torch.vtensor<[2],f32>, !torch.none, !torch.int, !torch.int, !torch.int, !torch.int, !torch.none) -> !torch.vtensor<[2,4],f32> loc("weights")
  %y = torch.operator "torch.other.quantize"(%x) : (!torch.vtensor<[2,4],f32>) -> !torch.vtensor<[2,4],f32> loc("other")
  return %y : !torch.vtensor<[2,4],f32>
}
