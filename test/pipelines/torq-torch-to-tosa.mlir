// RUN: torq-opt --torq-torch-to-tosa %s | FileCheck %s --check-prefix=TOSA
// RUN: torq-opt --torq-torch-to-tosa --torq-quantized-tosa-to-tosa %s | FileCheck %s --check-prefix=INTEGER
// RUN: torq-opt --torq-torch-to-tosa --torq-quantized-tosa-to-tosa --torq-tosa-to-linalg %s | FileCheck %s --check-prefix=LINALG

// A quantized convolution with ReLU and a max pooling of unsigned values, which TOSA does not have.

// TOSA-LABEL: func.func @main
// TOSA-SAME: (%[[X:.*]]: tensor<1x3x4x4xi8>) -> tensor<1x2x2x2xi8>
// TOSA-NOT: torch
// TOSA: "quantized_decomposed.dequantize_per_tensor"(%[[X]], {{.*}} {dtype = ui8,
// TOSA: tosa.conv2d {{.*}} -> tensor<1x4x4x2xf32>
// TOSA: tosa.clamp
// TOSA: "quantized_decomposed.quantize_per_tensor"({{.*}} {dtype = ui8, {{.*}} -> tensor<1x2x4x4xi8>
// TOSA: tosa.max_pool2d {{.*}} -> tensor<1x2x2x2xf32>
// TOSA: "quantized_decomposed.quantize_per_tensor"({{.*}} {dtype = ui8,

// INTEGER-LABEL: func.func @main
// INTEGER-NOT: quantized_decomposed
// INTEGER: tosa.conv2d {{.*}} -> tensor<1x4x4x2xi32>
// INTEGER: tosa.rescale {{.*}} rounding_mode = SINGLE_ROUND
// INTEGER: tosa.max_pool2d {{.*}} -> tensor<1x2x2x2xf32>

// LINALG-LABEL: func.func @main
// LINALG-NOT: tosa
// LINALG: linalg.conv_2d_nhwc_fhwc {{.*}} -> tensor<1x4x4x2xi32>
// LINALG: linalg.pooling_nhwc_max
// LINALG-NOT: tosa
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
