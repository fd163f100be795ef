// RUN: torq-opt --torq-torch-to-stablehlo %s | FileCheck %s --check-prefix=STABLEHLO
// RUN: torq-opt --torq-torch-to-stablehlo --torq-quantized-stablehlo-to-stablehlo %s | FileCheck %s --check-prefix=INTEGER
// RUN: torq-opt --torq-torch-to-stablehlo --torq-quantized-stablehlo-to-stablehlo --torq-stablehlo-to-linalg %s | FileCheck %s --check-prefix=LINALG

// A quantized convolution with ReLU and a max pooling of stored values, which torch-mlir does not convert. Functions
// take and return unsigned tensors.

// STABLEHLO-LABEL: func.func @main
// STABLEHLO-SAME: (%[[X:.*]]: tensor<1x3x4x4xui8>) -> tensor<1x2x2x2xui8>
// STABLEHLO-NOT: torch
// STABLEHLO: %[[I:.*]] = stablehlo.bitcast_convert %[[X]] : (tensor<1x3x4x4xui8>) -> tensor<1x3x4x4xi8>
// STABLEHLO: "quantized_decomposed.dequantize_per_tensor"(%[[I]], {{.*}} {dtype = ui8,
// STABLEHLO: stablehlo.convolution({{.*}} -> tensor<1x2x4x4xf32>
// STABLEHLO: stablehlo.maximum
// STABLEHLO: "quantized_decomposed.quantize_per_tensor"({{.*}} {dtype = ui8, {{.*}} -> tensor<1x2x4x4xi8>
// STABLEHLO: stablehlo.reduce_window
// STABLEHLO: "quantized_decomposed.quantize_per_tensor"({{.*}} {dtype = ui8,

// INTEGER-LABEL: func.func @main
// INTEGER-NOT: quantized_decomposed
// INTEGER: stablehlo.convolution({{.*}} -> tensor<1x2x4x4xi32>
// INTEGER: stablehlo.shift_right_arithmetic {{.*}} tensor<1x2x4x4xi64>
// INTEGER: stablehlo.reduce_window

// LINALG-LABEL: func.func @main
// LINALG-SAME: (%{{.*}}: tensor<1x3x4x4xi8>) -> tensor<1x2x2x2xi8>
// LINALG-NOT: stablehlo
// LINALG: arith.shrsi
// LINALG-NOT: stablehlo
func.func @main(%q: !torch.vtensor<[1,3,4,4],ui8>) -> !torch.vtensor<[1,2,2,2],ui8> {
  %sx = torch.constant.float 1.000000e-01
  %zx = torch.constant.int 128
  %sw = torch.constant.float 2.000000e-02
  %i0 = torch.constant.int 0
  %i1 = torch.constant.int 1
  %i2 = torch.constant.int 2
  %none = torch.constant.none
  %false = torch.constant.bool false
  %zeros = torch.prim.ListConstruct %i0, %i0 : (!torch.int, !torch.int) -> !torch.list<int>
  %ones = torch.prim.ListConstruct %i1, %i1 : (!torch.int, !torch.int) -> !torch.list<int>
  %twos = torch.prim.ListConstruct %i2, %i2 : (!torch.int, !torch.int) -> !torch.list<int>
  %qw = torch.vtensor.literal(dense<3> : tensor<2x3x1x1xsi8>) : !torch.vtensor<[2,3,1,1],si8>
  %x = "quantized_decomposed.dequantize_per_tensor"(%q, %sx, %zx) {dtype = ui8, quant_max = 255 : i64, quant_min = 0 : i64} : (!torch.vtensor<[1,3,4,4],ui8>, !torch.float, !torch.int) -> !torch.vtensor<[1,3,4,4],f32>
  %w = "quantized_decomposed.dequantize_per_tensor"(%qw, %sw, %i0) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (!torch.vtensor<[2,3,1,1],si8>, !torch.float, !torch.int) -> !torch.vtensor<[2,3,1,1],f32>
  %y = torch.aten.convolution %x, %w, %none, %ones, %zeros, %ones, %false, %zeros, %i1 : !torch.vtensor<[1,3,4,4],f32>, !torch.vtensor<[2,3,1,1],f32>, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.list<int>, !torch.int -> !torch.vtensor<[1,2,4,4],f32>
  %r = torch.aten.relu %y : !torch.vtensor<[1,2,4,4],f32> -> !torch.vtensor<[1,2,4,4],f32>
  %o = "quantized_decomposed.quantize_per_tensor"(%r, %sx, %i0) {dtype = ui8, quant_max = 255 : i64, quant_min = 0 : i64} : (!torch.vtensor<[1,2,4,4],f32>, !torch.float, !torch.int) -> !torch.vtensor<[1,2,4,4],ui8>
  %p = torch.aten.max_pool2d %o, %twos, %twos, %zeros, %ones, %false : !torch.vtensor<[1,2,4,4],ui8>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool -> !torch.vtensor<[1,2,2,2],ui8>
  return %p : !torch.vtensor<[1,2,2,2],ui8>
}
