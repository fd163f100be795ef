// RUN: torq-opt --torq-fx-to-torch %s | FileCheck %s --check-prefix=TORCH
// RUN: torq-opt --torq-fx-to-linalg %s | FileCheck %s --check-prefix=LINALG
// RUN: torq-opt --torq-fx-to-torq-hl %s | FileCheck %s --check-prefix=HL
// RUN: torq-opt --torq-fx-to-torq-hl --mlir-print-debuginfo --mlir-print-local-scope %s | FileCheck %s --check-prefix=LOCATIONS

// A linear layer with a ReLU between quantized tensors, as PT2E exports it, at each level of the IR.

// TORCH-LABEL: func.func @main
// TORCH-NOT: torch.quantized_decomposed
// TORCH: %[[Q:.*]] = "quantized_decomposed.quantize_per_tensor"(%arg0, {{.*}} {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64}
// TORCH: %[[X:.*]] = "quantized_decomposed.dequantize_per_tensor"(%[[Q]],
// TORCH: %[[W:.*]] = "quantized_decomposed.dequantize_per_channel"({{.*}} {axis = 1 : i64, {{.*}} -> !torch.vtensor<[4,2],f32>
// TORCH: %[[Y:.*]] = torch.aten.mm %[[X]], %[[W]]
// TORCH: torch.aten.relu
// TORCH: "quantized_decomposed.quantize_per_tensor"

// LINALG-LABEL: func.func @main
// LINALG-SAME: (%arg0: tensor<3x4xf32>) -> tensor<3x2xi8>
// LINALG-NOT: torch
// LINALG: "quantized_decomposed.quantize_per_tensor"(%arg0, {{.*}} : (tensor<3x4xf32>, f64, i64) -> tensor<3x4xi8>
// LINALG: linalg.matmul
// LINALG: "quantized_decomposed.quantize_per_tensor"

// HL-LABEL: func.func @main
// HL-NOT: linalg.matmul
// HL: "torq_hl.fully_connected"({{.*}}input_zp = 3 : i32, {{.*}}output_zp = -128 : i32
// HL-SAME: -> tensor<3x2xi8>

// LOCATIONS: "torq_hl.fully_connected"{{.*}} loc(fused["linear", "relu", "quantize_per_tensor_1"])

func.func @main(%x: !torch.vtensor<[3,4],f32>) -> !torch.vtensor<[3,2],si8> {
  %weight = torch.vtensor.literal(dense<[[1, -2, 3, -4], [5, 6, -7, 127]]> : tensor<2x4xsi8>) : !torch.vtensor<[2,4],si8> loc("weight")
  %scales = torch.vtensor.literal(dense<[0.5, 0.25]> : tensor<2xf32>) : !torch.vtensor<[2],f32> loc("weight")
  %zeros = torch.vtensor.literal(dense<0> : tensor<2xsi64>) : !torch.vtensor<[2],si64> loc("weight")
  %bias = torch.vtensor.literal(dense<[1.0, -2.0]> : tensor<2xf32>) : !torch.vtensor<[2],f32> loc("linear")
  %scale = torch.constant.float 1.250000e-01
  %zp = torch.constant.int 3
  %scale_1 = torch.constant.float 2.500000e-01
  %int-128 = torch.constant.int -128
  %int127 = torch.constant.int 127
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %none = torch.constant.none
  %0 = torch.quantized_decomposed.quantize_per_tensor %x, %scale, %zp, %int-128, %int127, %int1 : !torch.vtensor<[3,4],f32>, !torch.float, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[3,4],si8> loc("quantize_per_tensor")
  %1 = torch.quantized_decomposed.dequantize_per_tensor %0, %scale, %zp, %int-128, %int127, %int1, %none : !torch.vtensor<[3,4],si8>, !torch.float, !torch.int, !torch.int, !torch.int, !torch.int, !torch.none -> !torch.vtensor<[3,4],f32> loc("dequantize_per_tensor")
  %2 = torch.quantized_decomposed.dequantize_per_channel %weight, %scales, %zeros, %int0, %int-128, %int127, %int1, %none : !torch.vtensor<[2,4],si8>, !torch.vtensor<[2],f32>, !torch.vtensor<[2],si64>, !torch.int, !torch.int, !torch.int, !torch.int, !torch.none -> !torch.vtensor<[2,4],f32> loc("weight")
  %3 = torch.prim.ListConstruct %int1, %int0 : (!torch.int, !torch.int) -> !torch.list<int> loc("linear")
  %4 = torch.aten.permute %2, %3 : !torch.vtensor<[2,4],f32>, !torch.list<int> -> !torch.vtensor<[4,2],f32> loc("linear")
  %5 = torch.aten.mm %1, %4 : !torch.vtensor<[3,4],f32>, !torch.vtensor<[4,2],f32> -> !torch.vtensor<[3,2],f32> loc("linear")
  %6 = torch.aten.add.Tensor %5, %bias, %int1 : !torch.vtensor<[3,2],f32>, !torch.vtensor<[2],f32>, !torch.int -> !torch.vtensor<[3,2],f32> loc("linear")
  %7 = torch.aten.relu %6 : !torch.vtensor<[3,2],f32> -> !torch.vtensor<[3,2],f32> loc("relu")
  %8 = torch.quantized_decomposed.quantize_per_tensor %7, %scale_1, %int-128, %int-128, %int127, %int1 : !torch.vtensor<[3,2],f32>, !torch.float, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[3,2],si8> loc("quantize_per_tensor_1")
  return %8 : !torch.vtensor<[3,2],si8>
}
