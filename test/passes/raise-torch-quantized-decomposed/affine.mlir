// RUN: torq-opt --split-input-file --raise-torch-quantized-decomposed --canonicalize %s | FileCheck %s

// Blocks of the size of the tensor.

// CHECK-LABEL: func.func @per_tensor
// CHECK: "quantized_decomposed.quantize_per_tensor"(%arg0, %arg1, %arg2) {dtype = si8, quant_max = 7 : i64, quant_min = -7 : i64}
func.func @per_tensor(%x: !torch.vtensor<[2,4],f32>, %s: !torch.vtensor<[],f32>, %z: !torch.vtensor<[],si32>) -> !torch.vtensor<[2,4],si8> {
  %b0 = torch.constant.int 2
  %b1 = torch.constant.int 4
  %block = torch.prim.ListConstruct %b0, %b1 : (!torch.int, !torch.int) -> !torch.list<int>
  %dtype = torch.constant.int 1
  %lo = torch.constant.int -7
  %hi = torch.constant.int 7
  %r = torch.operator "torch.torchao.quantize_affine"(%x, %block, %s, %z, %dtype, %lo, %hi) : (!torch.vtensor<[2,4],f32>, !torch.list<int>, !torch.vtensor<[],f32>, !torch.vtensor<[],si32>, !torch.int, !torch.int, !torch.int) -> !torch.vtensor<[2,4],si8>
  return %r : !torch.vtensor<[2,4],si8>
}

// -----

// Blocks of one along the axis.

// CHECK-LABEL: func.func @per_channel
// CHECK-DAG: %[[S:.*]] = torch.aten.view %arg1, {{.*}} -> !torch.vtensor<[4],f32>
// CHECK-DAG: %[[Z:.*]] = torch.aten.view %arg2, {{.*}} -> !torch.vtensor<[4],si32>
// CHECK: "quantized_decomposed.dequantize_per_channel"(%arg0, %[[S]], %[[Z]]) {axis = 1 : i64, dtype = si8, quant_max = 7 : i64, quant_min = -7 : i64}
func.func @per_channel(%x: !torch.vtensor<[2,4,3],si8>, %s: !torch.vtensor<[1,4,1],f32>, %z: !torch.vtensor<[1,4,1],si32>) -> !torch.vtensor<[2,4,3],f32> {
  %b0 = torch.constant.int 2
  %b1 = torch.constant.int 1
  %b2 = torch.constant.int 3
  %block = torch.prim.ListConstruct %b0, %b1, %b2 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %dtype = torch.constant.int 1
  %lo = torch.constant.int -7
  %hi = torch.constant.int 7
  %out = torch.constant.int 6
  %r = torch.operator "torch.torchao.dequantize_affine"(%x, %block, %s, %z, %dtype, %lo, %hi, %out) : (!torch.vtensor<[2,4,3],si8>, !torch.list<int>, !torch.vtensor<[1,4,1],f32>, !torch.vtensor<[1,4,1],si32>, !torch.int, !torch.int, !torch.int, !torch.int) -> !torch.vtensor<[2,4,3],f32>
  return %r : !torch.vtensor<[2,4,3],f32>
}

// -----

// Rows with constant scales are channels of weights,

// CHECK-LABEL: func.func @rows_of_a_constant
// CHECK-DAG: %[[S:.*]] = torch.vtensor.literal(dense<5.000000e-01> : tensor<2xf32>)
// CHECK-DAG: %[[Z:.*]] = torch.vtensor.literal(dense<0> : tensor<2xsi64>)
// CHECK: "quantized_decomposed.dequantize_per_channel"(%arg0, %[[S]], %[[Z]]) {axis = 0 : i64, dtype = si8, quant_max = 7 : i64, quant_min = -7 : i64}
func.func @rows_of_a_constant(%x: !torch.vtensor<[2,4],si8>) -> !torch.vtensor<[2,4],f32> {
  %s = torch.vtensor.literal(dense<0.5> : tensor<2xf32>) : !torch.vtensor<[2],f32>
  %z = torch.constant.none
  %b0 = torch.constant.int 1
  %b1 = torch.constant.int 4
  %block = torch.prim.ListConstruct %b0, %b1 : (!torch.int, !torch.int) -> !torch.list<int>
  %dtype = torch.constant.int 1
  %lo = torch.constant.int -7
  %hi = torch.constant.int 7
  %out = torch.constant.int 6
  %r = torch.operator "torch.torchao.dequantize_affine"(%x, %block, %s, %z, %dtype, %lo, %hi, %out) : (!torch.vtensor<[2,4],si8>, !torch.list<int>, !torch.vtensor<[2],f32>, !torch.none, !torch.int, !torch.int, !torch.int, !torch.int) -> !torch.vtensor<[2,4],f32>
  return %r : !torch.vtensor<[2,4],f32>
}

// -----

// and those with run-time scales are tokens. The zero point is added after rounding.

// CHECK-LABEL: func.func @rows
// CHECK-DAG: %[[S:.*]] = torch.aten.view %arg1, {{.*}} -> !torch.vtensor<[2,1],f32>
// CHECK-DAG: %[[Z:.*]] = torch.aten.view %arg2, {{.*}} -> !torch.vtensor<[2,1],si32>
// CHECK: "quantized_decomposed.quantize_per_token"(%arg0, %[[S]], %[[Z]]) {dtype = si8, quant_max = 7 : i64, quant_min = -7 : i64, round_first}
func.func @rows(%x: !torch.vtensor<[2,4],f32>, %s: !torch.vtensor<[2],f32>, %z: !torch.vtensor<[2],si32>) -> !torch.vtensor<[2,4],si8> {
  %b0 = torch.constant.int 1
  %b1 = torch.constant.int 4
  %block = torch.prim.ListConstruct %b0, %b1 : (!torch.int, !torch.int) -> !torch.list<int>
  %dtype = torch.constant.int 1
  %lo = torch.constant.int -7
  %hi = torch.constant.int 7
  %r = torch.operator "torch.torchao.quantize_affine"(%x, %block, %s, %z, %dtype, %lo, %hi) : (!torch.vtensor<[2,4],f32>, !torch.list<int>, !torch.vtensor<[2],f32>, !torch.vtensor<[2],si32>, !torch.int, !torch.int, !torch.int) -> !torch.vtensor<[2,4],si8>
  return %r : !torch.vtensor<[2,4],si8>
}

// -----

// CHECK-LABEL: func.func @rows_of_batches
// CHECK: "quantized_decomposed.dequantize_per_token"(%arg0, %arg1, %arg2) {dtype = si8, quant_max = 7 : i64, quant_min = -7 : i64}
func.func @rows_of_batches(%x: !torch.vtensor<[2,3,4],si8>, %s: !torch.vtensor<[2,3,1],f32>, %z: !torch.vtensor<[2,3,1],si8>) -> !torch.vtensor<[2,3,4],f32> {
  %b0 = torch.constant.int 1
  %b1 = torch.constant.int 1
  %b2 = torch.constant.int 4
  %block = torch.prim.ListConstruct %b0, %b1, %b2 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %dtype = torch.constant.int 1
  %lo = torch.constant.int -7
  %hi = torch.constant.int 7
  %out = torch.constant.int 6
  %r = torch.operator "torch.torchao.dequantize_affine"(%x, %block, %s, %z, %dtype, %lo, %hi, %out) : (!torch.vtensor<[2,3,4],si8>, !torch.list<int>, !torch.vtensor<[2,3,1],f32>, !torch.vtensor<[2,3,1],si8>, !torch.int, !torch.int, !torch.int, !torch.int) -> !torch.vtensor<[2,3,4],f32>
  return %r : !torch.vtensor<[2,3,4],f32>
}

// -----

// Blocks that divide one dimension.

// CHECK-LABEL: func.func @groups
// CHECK: "quantized_decomposed.dequantize_per_channel_group"(%arg0, %{{.*}}, %{{.*}}) {axis = 1 : i64, dtype = si8, group_size = 2 : i64, quant_max = 7 : i64, quant_min = -7 : i64}
func.func @groups(%x: !torch.vtensor<[2,4],si8>) -> !torch.vtensor<[2,4],f32> {
  %s = torch.vtensor.literal(dense<0.5> : tensor<2x2xf32>) : !torch.vtensor<[2,2],f32>
  %z = torch.constant.none
  %b0 = torch.constant.int 1
  %b1 = torch.constant.int 2
  %block = torch.prim.ListConstruct %b0, %b1 : (!torch.int, !torch.int) -> !torch.list<int>
  %dtype = torch.constant.int 1
  %lo = torch.constant.int -7
  %hi = torch.constant.int 7
  %out = torch.constant.int 6
  %r = torch.operator "torch.torchao.dequantize_affine"(%x, %block, %s, %z, %dtype, %lo, %hi, %out) : (!torch.vtensor<[2,4],si8>, !torch.list<int>, !torch.vtensor<[2,2],f32>, !torch.none, !torch.int, !torch.int, !torch.int, !torch.int) -> !torch.vtensor<[2,4],f32>
  return %r : !torch.vtensor<[2,4],f32>
}

// -----

// CHECK-LABEL: func.func @groups_of_rows
// CHECK: "quantized_decomposed.quantize_per_channel_group"(%arg0, %arg1, %arg2) {axis = 0 : i64, dtype = si8, group_size = 2 : i64, quant_max = 7 : i64, quant_min = -7 : i64, round_first}
func.func @groups_of_rows(%x: !torch.vtensor<[4,3],f32>, %s: !torch.vtensor<[2,3],f32>, %z: !torch.vtensor<[2,3],si32>) -> !torch.vtensor<[4,3],si8> {
  %b0 = torch.constant.int 2
  %b1 = torch.constant.int 1
  %block = torch.prim.ListConstruct %b0, %b1 : (!torch.int, !torch.int) -> !torch.list<int>
  %dtype = torch.constant.int 1
  %lo = torch.constant.int -7
  %hi = torch.constant.int 7
  %r = torch.operator "torch.torchao.quantize_affine"(%x, %block, %s, %z, %dtype, %lo, %hi) : (!torch.vtensor<[4,3],f32>, !torch.list<int>, !torch.vtensor<[2,3],f32>, !torch.vtensor<[2,3],si32>, !torch.int, !torch.int, !torch.int) -> !torch.vtensor<[4,3],si8>
  return %r : !torch.vtensor<[4,3],si8>
}

// -----

// The bounds are those of the dtype where the call has none.

// CHECK-LABEL: func.func @default_bounds
// CHECK: "quantized_decomposed.quantize_per_tensor"(%arg0, %arg1, %arg2) {dtype = ui8, quant_max = 255 : i64, quant_min = 0 : i64}
func.func @default_bounds(%x: !torch.vtensor<[2,4],f32>, %s: !torch.vtensor<[],f32>, %z: !torch.vtensor<[],si32>) -> !torch.vtensor<[2,4],ui8> {
  %b0 = torch.constant.int 2
  %b1 = torch.constant.int 4
  %block = torch.prim.ListConstruct %b0, %b1 : (!torch.int, !torch.int) -> !torch.list<int>
  %dtype = torch.constant.int 0
  %lo = torch.constant.none
  %hi = torch.constant.none
  %r = torch.operator "torch.torchao.quantize_affine"(%x, %block, %s, %z, %dtype, %lo, %hi) : (!torch.vtensor<[2,4],f32>, !torch.list<int>, !torch.vtensor<[],f32>, !torch.vtensor<[],si32>, !torch.int, !torch.none, !torch.none) -> !torch.vtensor<[2,4],ui8>
  return %r : !torch.vtensor<[2,4],ui8>
}
