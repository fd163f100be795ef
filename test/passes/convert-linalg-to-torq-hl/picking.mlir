// RUN: torq-opt --split-input-file --convert-linalg-to-torq-hl=explain=true %s | FileCheck %s

// Rows of a table, by numbers that are inputs. What counts negative ones from the end goes away: the operation does it.

// CHECK-LABEL: func.func @embedding
// CHECK: %[[Y:.*]] = "torq_hl.gather"(%{{.*}}, %arg0, %arg1) : (tensor<5x16xi8>, tensor<10x16xi8>, tensor<5xi64>) -> tensor<5x16xi8>
// CHECK-NEXT: return %[[Y]]
func.func @embedding(%x: tensor<10x16xi8>, %n: tensor<5xi64>) -> tensor<5x16xi8> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %c0 = arith.constant 0 : i64
  %c10 = arith.constant 10 : i64
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<10x16xi8>, tensor<f32>, tensor<i8>) -> tensor<10x16xf32>
  %e1 = tensor.empty() : tensor<5xi1>
  %e2 = tensor.empty() : tensor<5xi64>
  %e3 = tensor.empty() : tensor<5x16xf32>
  %negative = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%n : tensor<5xi64>) outs(%e1 : tensor<5xi1>) {
  ^bb0(%in: i64, %out: i1):
    %less = arith.cmpi slt, %in, %c0 : i64
    linalg.yield %less : i1
  } -> tensor<5xi1>
  %wrapped = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%n : tensor<5xi64>) outs(%e2 : tensor<5xi64>) {
  ^bb0(%in: i64, %out: i64):
    %sum = arith.addi %in, %c10 : i64
    linalg.yield %sum : i64
  } -> tensor<5xi64>
  %rows = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%negative, %wrapped, %n : tensor<5xi1>, tensor<5xi64>, tensor<5xi64>) outs(%e2 : tensor<5xi64>) {
  ^bb0(%c: i1, %a: i64, %b: i64, %out: i64):
    %row = arith.select %c, %a, %b : i64
    linalg.yield %row : i64
  } -> tensor<5xi64>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%rows : tensor<5xi64>) outs(%e3 : tensor<5x16xf32>) {
  ^bb0(%in: i64, %out: f32):
    %row = arith.index_cast %in : i64 to index
    %column = linalg.index 1 : index
    %element = tensor.extract %f[%row, %column] : tensor<10x16xf32>
    linalg.yield %element : f32
  } -> tensor<5x16xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<5x16xf32>, tensor<f32>, tensor<i8>) -> tensor<5x16xi8>
  return %q : tensor<5x16xi8>
}

// -----

// Along another dimension, into another scale.

// CHECK-LABEL: func.func @columns
// CHECK: %[[T:.*]] = "torq_hl.transpose"(%{{.*}}, %arg0) {perm = array<i64: 1, 0>}
// CHECK: %[[G:.*]] = "torq_hl.gather"(%{{.*}}, %[[T]], %arg1)
// CHECK: %[[B:.*]] = "torq_hl.transpose"(%{{.*}}, %[[G]]) {perm = array<i64: 1, 0>}
// CHECK: "torq_hl.fma"(%{{.*}}, %{{.*}}, %{{.*}}, %[[B]])
func.func @columns(%x: tensor<10x16xi8>, %n: tensor<5xi32>) -> tensor<10x5xi8> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %sy = arith.constant dense<0.25> : tensor<f32>
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<10x16xi8>, tensor<f32>, tensor<i8>) -> tensor<10x16xf32>
  %e = tensor.empty() : tensor<10x5xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%n : tensor<5xi32>) outs(%e : tensor<10x5xf32>) {
  ^bb0(%in: i32, %out: f32):
    %column = arith.index_cast %in : i32 to index
    %row = linalg.index 0 : index
    %element = tensor.extract %f[%row, %column] : tensor<10x16xf32>
    linalg.yield %element : f32
  } -> tensor<10x5xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %sy, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<10x5xf32>, tensor<f32>, tensor<i8>) -> tensor<10x5xi8>
  return %q : tensor<10x5xi8>
}

// -----

// Every element repeated alike along both dimensions of an image, however the positions are computed.

// CHECK-LABEL: func.func @nearest
// CHECK: %[[Y:.*]] = "torq_hl.ResizeNearestNeighbor"(%{{.*}}, %arg0) {scale_factor = 2 : i32}
// CHECK-NEXT: return %[[Y]]
func.func @nearest(%x: tensor<1x2x3x4xi8>) -> tensor<1x2x6x8xi8> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %half = arith.constant 0.5 : f32
  %c2 = arith.constant 2 : index
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3x4xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3x4xf32>
  %e = tensor.empty() : tensor<1x2x6x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%e : tensor<1x2x6x8xf32>) {
  ^bb0(%out: f32):
    %n = linalg.index 0 : index
    %c = linalg.index 1 : index
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %k = arith.index_cast %i : index to i64
    %r = arith.sitofp %k : i64 to f32
    %h = arith.mulf %r, %half : f32
    %l = math.floor %h : f32
    %m = arith.fptosi %l : f32 to i64
    %row = arith.index_cast %m : i64 to index
    %column = arith.floordivsi %j, %c2 : index
    %element = tensor.extract %f[%n, %c, %row, %column] : tensor<1x2x3x4xf32>
    linalg.yield %element : f32
  } -> tensor<1x2x6x8xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x6x8xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x6x8xi8>
  return %q : tensor<1x2x6x8xi8>
}

// -----

// Elements at equal distances are a slice, one row is too.

// CHECK-LABEL: func.func @every_other
// CHECK: tensor.extract_slice %arg0[2, 0] [1, 8] [1, 1] : tensor<4x8xi8> to tensor<1x8xi8>
// CHECK: tensor.extract_slice %{{.*}}[0, 1] [1, 4] [1, 2] : tensor<1x8xi8> to tensor<1x4xi8>
// CHECK-NOT: torq_hl
func.func @every_other(%x: tensor<4x8xi8>) -> tensor<1x4xi8> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x8xi8>, tensor<f32>, tensor<i8>) -> tensor<4x8xf32>
  %e = tensor.empty() : tensor<1x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<1x4xf32>) {
  ^bb0(%out: f32):
    %j = linalg.index 1 : index
    %twice = arith.muli %j, %c2 : index
    %column = arith.addi %twice, %c1 : index
    %element = tensor.extract %f[%c2, %column] : tensor<4x8xf32>
    linalg.yield %element : f32
  } -> tensor<1x4xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x4xf32>, tensor<f32>, tensor<i8>) -> tensor<1x4xi8>
  return %q : tensor<1x4xi8>
}

// -----

// Others are gathered, from the tensor with the dimensions before in the first one.

// CHECK-LABEL: func.func @backwards
// CHECK: %[[N:.*]] = arith.constant dense<[3, 2, 1, 0, 7, 6, 5, 4]> : tensor<8xi32>
// CHECK: %[[F:.*]] = tensor.collapse_shape %arg0 {{.*}} into tensor<8xi8>
// CHECK: %[[G:.*]] = "torq_hl.gather"(%{{.*}}, %[[F]], %[[N]])
// CHECK: tensor.expand_shape %[[G]]
func.func @backwards(%x: tensor<2x4xi8>) -> tensor<2x4xi8> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %c3 = arith.constant 3 : index
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x4xi8>, tensor<f32>, tensor<i8>) -> tensor<2x4xf32>
  %e = tensor.empty() : tensor<2x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<2x4xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %column = arith.subi %c3, %j : index
    %element = tensor.extract %f[%i, %column] : tensor<2x4xf32>
    linalg.yield %element : f32
  } -> tensor<2x4xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<2x4xf32>, tensor<f32>, tensor<i8>) -> tensor<2x4xi8>
  return %q : tensor<2x4xi8>
}

// -----

// Where positions do not follow the dimensions, elements are gathered one by one.

// CHECK-LABEL: func.func @diagonal
// CHECK: %[[N:.*]] = arith.constant dense<[0, 4, 8]> : tensor<3xi32>
// CHECK: %[[F:.*]] = tensor.collapse_shape %arg0
// CHECK: "torq_hl.gather"(%{{.*}}, %[[F]], %[[N]])
func.func @diagonal(%x: tensor<3x3xi8>) -> tensor<3xi8> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<3x3xi8>, tensor<f32>, tensor<i8>) -> tensor<3x3xf32>
  %e = tensor.empty() : tensor<3xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e : tensor<3xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %element = tensor.extract %f[%i, %i] : tensor<3x3xf32>
    linalg.yield %element : f32
  } -> tensor<3xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<3xf32>, tensor<f32>, tensor<i8>) -> tensor<3xi8>
  return %q : tensor<3xi8>
}

// -----

// Stored integers are moved as they are.

// CHECK-LABEL: func.func @integers
// CHECK: "torq_hl.gather"
// CHECK-NOT: linalg.generic
func.func @integers(%x: tensor<4xi8>) -> tensor<4xi8> {
  %c3 = arith.constant 3 : index
  %e = tensor.empty() : tensor<4xi8>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e : tensor<4xi8>) {
  ^bb0(%out: i8):
    %i = linalg.index 0 : index
    %j = arith.subi %c3, %i : index
    %element = tensor.extract %x[%j] : tensor<4xi8>
    linalg.yield %element : i8
  } -> tensor<4xi8>
  return %y : tensor<4xi8>
}

// -----

// What computes with the elements it reads stays, and is nobody's here.

// CHECK-LABEL: func.func @computes
// CHECK: linalg.generic
// CHECK-NOT: torq_hl
func.func @computes(%x: tensor<4xi8>) -> tensor<4xi8> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %c3 = arith.constant 3 : index
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4xi8>, tensor<f32>, tensor<i8>) -> tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e : tensor<4xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = arith.subi %c3, %i : index
    %a = tensor.extract %f[%j] : tensor<4xf32>
    %b = tensor.extract %f[%i] : tensor<4xf32>
    %element = arith.mulf %a, %b : f32
    linalg.yield %element : f32
  } -> tensor<4xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  return %q : tensor<4xi8>
}
