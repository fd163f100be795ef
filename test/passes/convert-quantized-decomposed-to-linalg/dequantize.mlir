// RUN: torq-opt --split-input-file --convert-quantized-decomposed-to-linalg --mlir-print-debuginfo %s | FileCheck %s

// CHECK: #[[LOC:.*]] = loc("dequantized")
// CHECK-LABEL: func.func @per_tensor
// CHECK-SAME: %[[Q:.*]]: tensor<4xi8>
// CHECK-DAG: %[[S:.*]] = arith.constant 5.000000e-01 : f32
// CHECK-DAG: %[[Z:.*]] = arith.constant -3 : i32
// CHECK: linalg.generic {{.*}} ins(%[[Q]] : tensor<4xi8>)
// CHECK-NEXT: ^bb0(%[[IN:.*]]: i8 {{.*}}, %{{.*}}: f32 {{.*}}):
// CHECK-NEXT: %[[WIDE:.*]] = arith.extsi %[[IN]] : i8 to i32
// CHECK-NEXT: %[[DIFFERENCE:.*]] = arith.subi %[[WIDE]], %[[Z]]
// CHECK-NEXT: %[[FLOAT:.*]] = arith.sitofp %[[DIFFERENCE]] : i32 to f32
// CHECK-NEXT: %[[X:.*]] = arith.mulf %[[FLOAT]], %[[S]]
// CHECK-NEXT: linalg.yield %[[X]]
// CHECK: } -> tensor<4xf32> loc(#[[LOC]])
func.func @per_tensor(%q: tensor<4xi8>) -> tensor<4xf32> {
  %scale = arith.constant dense<0.5> : tensor<f32>
  %zp = arith.constant dense<-3> : tensor<i8>
  %x = "quantized_decomposed.dequantize_per_tensor"(%q, %scale, %zp) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<4xi8>, tensor<f32>, tensor<i8>) -> tensor<4xf32> loc("dequantized")
  return %x : tensor<4xf32>
}

// -----

// A zero point of zero subtracts nothing.

// CHECK-LABEL: func.func @unsigned
// CHECK: arith.extui %{{.*}} : i8 to i32
// CHECK-NOT: arith.subi
// CHECK: arith.sitofp
func.func @unsigned(%q: tensor<4xi8>) -> tensor<4xf32> {
  %scale = arith.constant dense<0.5> : tensor<f32>
  %zp = arith.constant dense<0> : tensor<i8>
  %x = "quantized_decomposed.dequantize_per_tensor"(%q, %scale, %zp) {dtype = ui8, quant_max = 255 : i64, quant_min = 0 : i64} : (tensor<4xi8>, tensor<f32>, tensor<i8>) -> tensor<4xf32>
  return %x : tensor<4xf32>
}

// -----

// CHECK-DAG: #[[ALL:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[AXIS:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @per_channel
// CHECK-SAME: %[[Q:.*]]: tensor<2x?xi8> {{.*}}, %[[S:.*]]: tensor<2xf32>
// CHECK: %[[Z:.*]] = arith.constant dense<[0, 253]> : tensor<2xi32>
// CHECK: linalg.generic {indexing_maps = [#[[ALL]], #[[AXIS]], #[[AXIS]], #[[ALL]]]
// CHECK-SAME: ins(%[[Q]], %[[S]], %[[Z]] : tensor<2x?xi8>, tensor<2xf32>, tensor<2xi32>)
// CHECK: ^bb0(%[[IN:.*]]: i8 {{.*}}, %[[SC:.*]]: f32 {{.*}}, %[[ZC:.*]]: i32 {{.*}}, %{{.*}}: f32
// CHECK: %[[WIDE:.*]] = arith.extui %[[IN]] : i8 to i32
// CHECK: arith.subi %[[WIDE]], %[[ZC]]
// CHECK: arith.mulf %{{.*}}, %[[SC]]
func.func @per_channel(%q: tensor<2x?xi8>, %scales: tensor<2xf32>) -> tensor<2x?xf32> {
  %zps = arith.constant dense<[0, -3]> : tensor<2xi8>
  %x = "quantized_decomposed.dequantize_per_channel"(%q, %scales, %zps) {axis = 0 : i64, dtype = ui8, quant_max = 255 : i64, quant_min = 0 : i64} : (tensor<2x?xi8>, tensor<2xf32>, tensor<2xi8>) -> tensor<2x?xf32>
  return %x : tensor<2x?xf32>
}

// -----

// The product is one of f32, rounded once.

// CHECK-LABEL: func.func @bf16
// CHECK: %[[PRODUCT:.*]] = arith.mulf %{{.*}} : f32
// CHECK: arith.truncf %[[PRODUCT]] : f32 to bf16
func.func @bf16(%q: tensor<4xi8>) -> tensor<4xbf16> {
  %scale = arith.constant dense<0.5> : tensor<f32>
  %zp = arith.constant dense<0> : tensor<i8>
  %x = "quantized_decomposed.dequantize_per_tensor"(%q, %scale, %zp) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (tensor<4xi8>, tensor<f32>, tensor<i8>) -> tensor<4xbf16>
  return %x : tensor<4xbf16>
}

// -----

// The difference of two i32 may not be one: PyTorch converts before it subtracts.

// CHECK-LABEL: func.func @int32
// CHECK-DAG: %[[Z:.*]] = arith.constant 7.000000e+00 : f32
// CHECK: %[[FLOAT:.*]] = arith.sitofp %{{.*}} : i32 to f32
// CHECK: arith.subf %[[FLOAT]], %[[Z]] : f32
func.func @int32(%q: tensor<4xi32>) -> tensor<4xf32> {
  %scale = arith.constant dense<0.5> : tensor<f32>
  %zp = arith.constant dense<7> : tensor<i32>
  %x = "quantized_decomposed.dequantize_per_tensor"(%q, %scale, %zp) {dtype = si32, quant_max = 2147483647 : i64, quant_min = -2147483648 : i64} : (tensor<4xi32>, tensor<f32>, tensor<i32>) -> tensor<4xf32>
  return %x : tensor<4xf32>
}

// -----

// Torch tensors have no signless storage: what is on them stays.

// CHECK-LABEL: func.func @torch
// CHECK: "quantized_decomposed.dequantize_per_tensor"
func.func @torch(%q: !torch.vtensor<[4],si8>, %scale: !torch.float, %zp: !torch.int) -> !torch.vtensor<[4],f32> {
  %x = "quantized_decomposed.dequantize_per_tensor"(%q, %scale, %zp) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64} : (!torch.vtensor<[4],si8>, !torch.float, !torch.int) -> !torch.vtensor<[4],f32>
  return %x : !torch.vtensor<[4],f32>
}

// -----

// CHECK-LABEL: func.func @others
// CHECK: "torq_hl.identity"
// CHECK: math.exp
func.func @others(%x: tensor<4xf32>) -> tensor<4xf32> {
  %init = tensor.empty() : tensor<4xf32>
  %y = "torq_hl.identity"(%init, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %z = math.exp %y : tensor<4xf32>
  return %z : tensor<4xf32>
}
