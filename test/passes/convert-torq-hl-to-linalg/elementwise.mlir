// RUN: torq-opt --split-input-file --convert-torq-hl-to-linalg %s | FileCheck %s

// Inputs broadcast by their maps. The multiplier stays, though it is one.

// CHECK-DAG: #[[X1:.*]] = affine_map<(d0, d1, d2) -> (d0, 0, d2)>
// CHECK-DAG: #[[X2:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[Y:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-LABEL: func.func @add
// CHECK-DAG: %[[W1:.*]] = arith.constant 3413 : i16
// CHECK-DAG: %[[W2:.*]] = arith.constant 2731 : i16
// CHECK-DAG: %[[W1W:.*]] = arith.extsi %[[W1]] : i16 to i32
// CHECK-DAG: %[[W2W:.*]] = arith.extsi %[[W2]] : i16 to i32
// CHECK: linalg.generic {indexing_maps = [#[[X1]], #[[X2]], #[[Y]]]
// CHECK-SAME: ins(%arg0, %arg1 : tensor<2x1x4xi8>, tensor<3x4xi8>)
// CHECK-DAG: %[[P1:.*]] = arith.muli %{{.*}}, %[[W1W]]
// CHECK-DAG: %[[P2:.*]] = arith.muli %{{.*}}, %[[W2W]]
// CHECK: arith.addi %[[P1]], %[[P2]] : i32
func.func @add(%x1: tensor<2x1x4xi8>, %x2: tensor<3x4xi8>) -> tensor<2x3x4xi8> {
  %init = tensor.empty() : tensor<2x3x4xi8>
  %w = arith.constant dense<[3413, 2731]> : tensor<2xi16>
  %scale_bias = arith.constant dense<[3416, 1]> : tensor<2xi32>
  %y = "torq_hl.add"(%init, %w, %scale_bias, %x1, %x2) {name = "add", input_zp = 0 : i32, output_zp = 2 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 12 : i32} : (tensor<2x3x4xi8>, tensor<2xi16>, tensor<2xi32>, tensor<2x1x4xi8>, tensor<3x4xi8>) -> tensor<2x3x4xi8>
  return %y : tensor<2x3x4xi8>
}

// -----

// CHECK-LABEL: func.func @add_scalar
// CHECK: %[[X2:.*]] = tensor.extract %arg1[%{{.*}}] : tensor<1xi8>
// CHECK: linalg.generic {{.*}} ins(%arg0 : tensor<4xi8>)
// CHECK: arith.extsi %[[X2]]
func.func @add_scalar(%x1: tensor<4xi8>, %x2: tensor<1xi8>, %w: tensor<2xi16>, %scale_bias: tensor<2xi32>) -> tensor<4xi8> {
  %init = tensor.empty() : tensor<4xi8>
  %y = "torq_hl.add"(%init, %w, %scale_bias, %x1, %x2) {rhs_is_scalar = true, name = "sub", input_zp = 0 : i32, output_zp = 2 : i32, output_min = -128 : i32, output_max = 127 : i32, shift_factor = 12 : i32} : (tensor<4xi8>, tensor<2xi16>, tensor<2xi32>, tensor<4xi8>, tensor<1xi8>) -> tensor<4xi8>
  return %y : tensor<4xi8>
}

// -----

// CHECK-LABEL: func.func @mul
// CHECK: linalg.generic {{.*}} ins(%arg0, %arg1 : tensor<4xi16>, tensor<4xi16>)
// CHECK: arith.extsi %{{.*}} : i16 to i64
// CHECK: arith.extsi %{{.*}} : i16 to i64
// CHECK-NEXT: arith.muli
func.func @mul(%x1: tensor<4xi16>, %x2: tensor<4xi16>) -> tensor<4xi8> {
  %init = tensor.empty() : tensor<4xi8>
  %scale_bias = arith.constant dense<[0, 143165579]> : tensor<2xi32>
  %y = "torq_hl.mul"(%init, %scale_bias, %x1, %x2) {output_zp = 2 : i32, output_min = -128 : i32, output_max = 127 : i32, shift = 32 : i8} : (tensor<4xi8>, tensor<2xi32>, tensor<4xi16>, tensor<4xi16>) -> tensor<4xi8>
  return %y : tensor<4xi8>
}

// -----

// CHECK-LABEL: func.func @mul_bf16
// CHECK: %[[PRODUCT:.*]] = arith.mulf %{{.*}} : f32
// CHECK: %[[SUM:.*]] = arith.addf %[[PRODUCT]], %{{.*}} : f32
// CHECK: arith.truncf %[[SUM]] : f32 to bf16
func.func @mul_bf16(%x1: tensor<4xbf16>, %x2: tensor<4xbf16>, %bias: tensor<1xf32>) -> tensor<4xbf16> {
  %init = tensor.empty() : tensor<4xbf16>
  %y = "torq_hl.mul"(%init, %bias, %x1, %x2) {output_zp = 0 : i32, output_min = 0 : i32, output_max = 0 : i32, shift = 0 : i8} : (tensor<4xbf16>, tensor<1xf32>, tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xbf16>
  return %y : tensor<4xbf16>
}

// -----

// A weight for each channel, one pair for all; the output is wider.

// CHECK-DAG: #[[CHANNEL:.*]] = affine_map<(d0, d1, d2) -> (d1)>
// CHECK-LABEL: func.func @fma
// CHECK: linalg.generic {indexing_maps = [{{.*}}, #[[CHANNEL]], {{.*}}], {{.*}} ins(%arg0, %arg1 : tensor<1x3x4xi8>, tensor<3xi8>)
// CHECK: arith.extui %{{.*}} : i8 to i32
// CHECK: arith.extsi %{{.*}} : i8 to i32
// CHECK: arith.trunci %{{.*}} : i64 to i16
func.func @fma(%x: tensor<1x3x4xi8>, %w: tensor<3xi8>, %scale_bias: tensor<2xi32>) -> tensor<1x3x4xi16> {
  %init = tensor.empty() : tensor<1x3x4xi16>
  %y = "torq_hl.fma"(%init, %w, %scale_bias, %x) {input_unsigned = true, output_zp = 2 : i32, output_min = -32768 : i32, output_max = 32767 : i32, shift_factor = 0 : i32} : (tensor<1x3x4xi16>, tensor<3xi8>, tensor<2xi32>, tensor<1x3x4xi8>) -> tensor<1x3x4xi16>
  return %y : tensor<1x3x4xi16>
}

// -----

// The values of the entries are taken out ahead of the loop.

// CHECK-LABEL: func.func @table
// CHECK: %[[VALUES:.*]] = linalg.generic {{.*}} ins(%arg1 : tensor<256xi32>) outs(%{{.*}} : tensor<256xi8>)
// CHECK: arith.trunci %{{.*}} : i32 to i16
// CHECK: arith.shrsi %{{.*}} : i16
// CHECK: arith.trunci %{{.*}} : i16 to i8
// CHECK: linalg.generic {{.*}} ins(%arg0 : tensor<4xi8>)
// CHECK: %[[I:.*]] = arith.index_cast %{{.*}} : i8 to index
// CHECK: %[[ENTRY:.*]] = arith.addi %[[I]], %{{.*}} : index
// CHECK: tensor.extract %[[VALUES]][%[[ENTRY]]] : tensor<256xi8>
func.func @table(%x: tensor<4xi8>, %table: tensor<256xi32>) -> tensor<4xi8> {
  %init = tensor.empty() : tensor<4xi8>
  %scale_bias = arith.constant dense<[-128, 128]> : tensor<2xi32>
  %y = "torq_hl.table"(%init, %scale_bias, %x, %table) : (tensor<4xi8>, tensor<2xi32>, tensor<4xi8>, tensor<256xi32>) -> tensor<4xi8>
  return %y : tensor<4xi8>
}

// -----

// CHECK-LABEL: func.func @acts
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// CHECK: math.roundeven %{{.*}} : f64
// CHECK: arith.fptosi %{{.*}} : f64 to i8
// CHECK: arith.sitofp %{{.*}} : i64 to f32
// CHECK: math.tanh %{{.*}} : f64
func.func @acts(%x: tensor<4xf32>, %q: tensor<4xi8>) -> (tensor<4xbf16>, tensor<4xi8>, tensor<4xf32>, tensor<4xf32>) {
  %bf16 = tensor.empty() : tensor<4xbf16>
  %i8 = tensor.empty() : tensor<4xi8>
  %f32 = tensor.empty() : tensor<4xf32>
  %0 = "torq_hl.act"(%bf16, %x) {name = "f2f", input_zp = 0 : i32, output_zp = 0 : i32, min_int = 0 : i64, max_int = 0 : i64, min_fp = 0.0 : f32, max_fp = 0.0 : f32} : (tensor<4xbf16>, tensor<4xf32>) -> tensor<4xbf16>
  %1 = "torq_hl.act"(%i8, %x) {name = "f2i", input_zp = 0 : i32, output_zp = 0 : i32, min_int = 0 : i64, max_int = 0 : i64, min_fp = 0.0 : f32, max_fp = 0.0 : f32} : (tensor<4xi8>, tensor<4xf32>) -> tensor<4xi8>
  %2 = "torq_hl.act"(%f32, %q) {name = "i2f", input_zp = 3 : i32, output_zp = 0 : i32, min_int = 0 : i64, max_int = 0 : i64, min_fp = 0.0 : f32, max_fp = 0.0 : f32} : (tensor<4xf32>, tensor<4xi8>) -> tensor<4xf32>
  %3 = "torq_hl.act"(%f32, %x) {name = "tanh", input_zp = 0 : i32, output_zp = 0 : i32, min_int = 0 : i64, max_int = 0 : i64, min_fp = 0.0 : f32, max_fp = 0.0 : f32} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2, %3 : tensor<4xbf16>, tensor<4xi8>, tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @integer_acts
// CHECK: arith.maxsi %{{.*}} : i64
// CHECK: arith.minsi %{{.*}} : i64
// CHECK: arith.trunci %{{.*}} : i64 to i8
// CHECK: arith.subi %{{.*}} : i64
func.func @integer_acts(%q: tensor<4xi8>) -> (tensor<4xi8>, tensor<4xi8>) {
  %init = tensor.empty() : tensor<4xi8>
  %0 = "torq_hl.act"(%init, %q) {name = "clamp", input_zp = 0 : i32, output_zp = 0 : i32, min_int = -5 : i64, max_int = 5 : i64, min_fp = 0.0 : f32, max_fp = 0.0 : f32} : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  %1 = "torq_hl.act"(%init, %q) {name = "negate", input_zp = 3 : i32, output_zp = 1 : i32, min_int = 0 : i64, max_int = 0 : i64, min_fp = 0.0 : f32, max_fp = 0.0 : f32} : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  return %0, %1 : tensor<4xi8>, tensor<4xi8>
}

// -----

// CHECK-LABEL: func.func @elementwisebinary
// CHECK: arith.maxui %{{.*}} : i8
// CHECK: arith.cmpi sgt, %{{.*}} : i8
// CHECK: arith.cmpf oeq, %{{.*}} : f32
func.func @elementwisebinary(%q: tensor<4xi8>, %x: tensor<4xf32>) -> (tensor<4xi8>, tensor<4xi1>, tensor<4xi1>) {
  %i8 = tensor.empty() : tensor<4xi8>
  %i1 = tensor.empty() : tensor<4xi1>
  %0 = "torq_hl.elementwisebinary"(%i8, %q, %q) {op_type = 5 : i32, is_unsigned = true} : (tensor<4xi8>, tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  %1 = "torq_hl.elementwisebinary"(%i1, %q, %q) {op_type = 6 : i32} : (tensor<4xi1>, tensor<4xi8>, tensor<4xi8>) -> tensor<4xi1>
  %2 = "torq_hl.elementwisebinary"(%i1, %x, %x) {op_type = 8 : i32} : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %0, %1, %2 : tensor<4xi8>, tensor<4xi1>, tensor<4xi1>
}

// -----

// CHECK-LABEL: func.func @convert
// CHECK: arith.minsi %{{.*}} : i32
// CHECK: arith.trunci %{{.*}} : i32 to i8
// CHECK: arith.extui %{{.*}} : i1 to i8
func.func @convert(%x: tensor<4xi32>, %b: tensor<4xi1>) -> (tensor<4xi8>, tensor<4xi8>) {
  %init = tensor.empty() : tensor<4xi8>
  %0 = "torq_hl.convert"(%init, %x) : (tensor<4xi8>, tensor<4xi32>) -> tensor<4xi8>
  %1 = "torq_hl.convert"(%init, %b) : (tensor<4xi8>, tensor<4xi1>) -> tensor<4xi8>
  return %0, %1 : tensor<4xi8>, tensor<4xi8>
}
