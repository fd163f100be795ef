// RUN: torq-opt --split-input-file --convert-linalg-to-torq-hl=explain=true %s | FileCheck %s

// Inputs in another scale are requantized, the others are taken as they are.

// CHECK-LABEL: func.func @concat
// CHECK: %[[A:.*]] = "torq_hl.fma"(%{{.*}}, %{{.*}}, %{{.*}}, %arg0)
// CHECK: tensor.concat dim(1) %[[A]], %arg1 : (tensor<1x2x3x3xi8>, tensor<1x2x3x3xi8>) -> tensor<1x4x3x3xi8>
func.func @concat(%x1: tensor<1x2x3x3xi8>, %x2: tensor<1x2x3x3xi8>) -> tensor<1x4x3x3xi8> {
  %s1 = arith.constant dense<0.05> : tensor<f32>
  %z1 = arith.constant dense<3> : tensor<i8>
  %s2 = arith.constant dense<0.04> : tensor<f32>
  %z2 = arith.constant dense<-5> : tensor<i8>
  %sy = arith.constant dense<0.04> : tensor<f32>
  %zy = arith.constant dense<-5> : tensor<i8>
  %e = tensor.empty() : tensor<1x4x3x3xf32>
  %f1 = "quantized_decomposed.dequantize_per_tensor"(%x1, %s1, %z1) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3x3xf32>
  %f2 = "quantized_decomposed.dequantize_per_tensor"(%x2, %s2, %z2) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3x3xf32>
  %y = tensor.concat dim(1) %f1, %f2 : (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x4x3x3xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %sy, %zy) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x4x3x3xf32>, tensor<f32>, tensor<i8>) -> tensor<1x4x3x3xi8>
  return %q : tensor<1x4x3x3xi8>
}

// -----

// CHECK-LABEL: func.func @transpose
// CHECK: %[[Y:.*]] = "torq_hl.transpose"(%{{.*}}, %arg0) {perm = array<i64: 0, 2, 3, 1>}
// CHECK-NEXT: return %[[Y]]
func.func @transpose(%x: tensor<1x2x4x5xi8>) -> tensor<1x4x5x2xi8> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %sy = arith.constant dense<0.5> : tensor<f32>
  %zy = arith.constant dense<-5> : tensor<i8>
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x4x5xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x4x5xf32>
  %e = tensor.empty() : tensor<1x4x5x2xf32>
  %y = linalg.transpose ins(%f : tensor<1x2x4x5xf32>) outs(%e : tensor<1x4x5x2xf32>) permutation = [0, 2, 3, 1]
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %sy, %zy) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x4x5x2xf32>, tensor<f32>, tensor<i8>) -> tensor<1x4x5x2xi8>
  return %q : tensor<1x4x5x2xi8>
}

// -----

// CHECK-LABEL: func.func @reshape_requantized
// CHECK: %[[R:.*]] = tensor.collapse_shape %arg0
// CHECK: "torq_hl.fma"(%{{.*}}, %{{.*}}, %{{.*}}, %[[R]])
func.func @reshape_requantized(%x: tensor<1x2x4x5xi8>) -> tensor<1x40xi8> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %sy = arith.constant dense<0.25> : tensor<f32>
  %zy = arith.constant dense<-5> : tensor<i8>
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x4x5xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x4x5xf32>
  %y = tensor.collapse_shape %f [[0], [1, 2, 3]] : tensor<1x2x4x5xf32> into tensor<1x40xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %sy, %zy) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x40xf32>, tensor<f32>, tensor<i8>) -> tensor<1x40xi8>
  return %q : tensor<1x40xi8>
}

// -----

// CHECK-LABEL: func.func @integer_transpose
// CHECK: "torq_hl.transpose"(%{{.*}}, %arg0) {perm = array<i64: 1, 0>}
func.func @integer_transpose(%x: tensor<2x3xi8>) -> tensor<3x2xi8> {
  %e = tensor.empty() : tensor<3x2xi8>
  %y = linalg.transpose ins(%x : tensor<2x3xi8>) outs(%e : tensor<3x2xi8>) permutation = [1, 0]
  return %y : tensor<3x2xi8>
}

// -----

// Floats are nobody's business here.

// CHECK-LABEL: func.func @float_transpose
// CHECK: linalg.transpose
// CHECK-NOT: torq_hl
func.func @float_transpose(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %e = tensor.empty() : tensor<3x2xf32>
  %y = linalg.transpose ins(%x : tensor<2x3xf32>) outs(%e : tensor<3x2xf32>) permutation = [1, 0]
  return %y : tensor<3x2xf32>
}

// -----

// CHECK-LABEL: func.func @slice
// CHECK: %[[Y:.*]] = tensor.extract_slice %arg0[0, 1] [2, 2] [1, 1] : tensor<2x4xi8> to tensor<2x2xi8>
// CHECK-NEXT: return %[[Y]]
func.func @slice(%x: tensor<2x4xi8>) -> tensor<2x2xi8> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x4xi8>, tensor<f32>, tensor<i8>) -> tensor<2x4xf32>
  %y = tensor.extract_slice %f[0, 1] [2, 2] [1, 1] : tensor<2x4xf32> to tensor<2x2xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<2x2xf32>, tensor<f32>, tensor<i8>) -> tensor<2x2xi8>
  return %q : tensor<2x2xi8>
}

// -----

// A dimension of size 1 that is repeated is dropped and added again.

// CHECK-LABEL: func.func @repeat
// CHECK: %[[C:.*]] = tensor.collapse_shape %arg0
// CHECK: "torq_hl.broadcast"(%{{.*}}, %{{.*}}) {dimensions = array<i64: 1>} : (tensor<2x3x4xi8>, tensor<2x4xi8>) -> tensor<2x3x4xi8>
func.func @repeat(%x: tensor<2x1x4xi8>) -> tensor<2x3x4xi8> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x1x4xi8>, tensor<f32>, tensor<i8>) -> tensor<2x1x4xf32>
  %e = tensor.empty() : tensor<2x3x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, 0, c)>, affine_map<(a, b, c) -> (a, b, c)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%f : tensor<2x1x4xf32>) outs(%e : tensor<2x3x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<2x3x4xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<2x3x4xf32>, tensor<f32>, tensor<i8>) -> tensor<2x3x4xi8>
  return %q : tensor<2x3x4xi8>
}

// -----

// Stored integers that are repeated, as a named operation and as a generic, along a new dimension and one of size 1.

// CHECK-LABEL: func.func @repeated_integers
// CHECK: "torq_hl.broadcast"(%{{.*}}, %arg0) {dimensions = array<i64: 0>} {{.*}} -> tensor<4x3xi8>
// CHECK: %[[C:.*]] = tensor.collapse_shape %arg1 {{.*}} into tensor<2xi8>
// CHECK: "torq_hl.broadcast"(%{{.*}}, %[[C]]) {dimensions = array<i64: 1>} {{.*}} -> tensor<2x3xi8>
func.func @repeated_integers(%x: tensor<3xi8>, %y: tensor<2x1xi8>) -> (tensor<4x3xi8>, tensor<2x3xi8>) {
  %e = tensor.empty() : tensor<4x3xi8>
  %r = linalg.broadcast ins(%x : tensor<3xi8>) outs(%e : tensor<4x3xi8>) dimensions = [0]
  %f = tensor.empty() : tensor<2x3xi8>
  %s = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, 0)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<2x1xi8>) outs(%f : tensor<2x3xi8>) {
  ^bb0(%in: i8, %out: i8):
    linalg.yield %in : i8
  } -> tensor<2x3xi8>
  return %r, %s : tensor<4x3xi8>, tensor<2x3xi8>
}

// -----

// A number that is taken out of a tensor and repeated.

// CHECK-LABEL: func.func @repeated_number
// CHECK: "torq_hl.broadcast"(%{{.*}}, %{{.*}}) {dimensions = array<i64: 0, 1>} {{.*}} -> tensor<2x3xi8>
func.func @repeated_number(%x: tensor<1xi8>) -> tensor<2x3xi8> {
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<2x3xi8>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<2x3xi8>) {
  ^bb0(%out: i8):
    %number = tensor.extract %x[%c0] : tensor<1xi8>
    linalg.yield %number : i8
  } -> tensor<2x3xi8>
  return %r : tensor<2x3xi8>
}

// -----

// Channels to blocks of pixels, in both orders.

// CHECK-LABEL: func.func @depth_to_space
// CHECK: "torq_hl.DepthToSpace"(%{{.*}}, %{{.*}}, %arg0) {blockSize = 2 : i32, mode_type = 0 : i32}
// CHECK: "torq_hl.DepthToSpace"(%{{.*}}, %{{.*}}, %arg0) {blockSize = 2 : i32, mode_type = 1 : i32}
// CHECK-NOT: torq_hl.transpose
func.func @depth_to_space(%x: tensor<1x12x4x5xi8>) -> (tensor<1x3x8x10xi8>, tensor<1x3x8x10xi8>) {
  %a = tensor.expand_shape %x [[0], [1, 2, 3], [4], [5]] output_shape [1, 2, 2, 3, 4, 5] : tensor<1x12x4x5xi8> into tensor<1x2x2x3x4x5xi8>
  %e = tensor.empty() : tensor<1x3x4x2x5x2xi8>
  %b = linalg.transpose ins(%a : tensor<1x2x2x3x4x5xi8>) outs(%e : tensor<1x3x4x2x5x2xi8>) permutation = [0, 3, 4, 1, 5, 2]
  %c = tensor.collapse_shape %b [[0], [1], [2, 3], [4, 5]] : tensor<1x3x4x2x5x2xi8> into tensor<1x3x8x10xi8>
  %d = tensor.expand_shape %x [[0], [1, 2, 3], [4], [5]] output_shape [1, 3, 2, 2, 4, 5] : tensor<1x12x4x5xi8> into tensor<1x3x2x2x4x5xi8>
  %f = linalg.transpose ins(%d : tensor<1x3x2x2x4x5xi8>) outs(%e : tensor<1x3x4x2x5x2xi8>) permutation = [0, 1, 4, 2, 5, 3]
  %g = tensor.collapse_shape %f [[0], [1], [2, 3], [4, 5]] : tensor<1x3x4x2x5x2xi8> into tensor<1x3x8x10xi8>
  return %c, %g : tensor<1x3x8x10xi8>, tensor<1x3x8x10xi8>
}

// -----

// Blocks of channels that something else reads before they are joined.

// CHECK-LABEL: func.func @blocks_with_two_readers
// CHECK-NOT: torq_hl.DepthToSpace
// CHECK: %[[T:.*]] = "torq_hl.transpose"
// CHECK: return %{{.*}}, %[[T]]
func.func @blocks_with_two_readers(%x: tensor<1x8x2x3xi8>) -> (tensor<1x2x4x6xi8>, tensor<1x2x2x2x3x2xi8>) {
  %s = tensor.expand_shape %x [[0], [1, 2, 3], [4], [5]] output_shape [1, 2, 2, 2, 2, 3] : tensor<1x8x2x3xi8> into tensor<1x2x2x2x2x3xi8>
  %e = tensor.empty() : tensor<1x2x2x2x3x2xi8>
  %t = linalg.transpose ins(%s : tensor<1x2x2x2x2x3xi8>) outs(%e : tensor<1x2x2x2x3x2xi8>) permutation = [0, 1, 4, 2, 5, 3]
  %c = tensor.collapse_shape %t [[0], [1], [2, 3], [4, 5]] : tensor<1x2x2x2x3x2xi8> into tensor<1x2x4x6xi8>
  return %c, %t : tensor<1x2x4x6xi8>, tensor<1x2x2x2x3x2xi8>
}

// -----

// Constants at other places are constants, such as weights that are flipped, unless they get more.

// CHECK-LABEL: func.func @flipped_constant
// CHECK: arith.constant dense<{{\[\[}}3, 2, 1], [6, 5, 4]]> : tensor<2x3xi8>
// CHECK-NEXT: return
func.func @flipped_constant() -> tensor<2x3xi8> {
  %c2 = arith.constant 2 : index
  %w = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi8>
  %e = tensor.empty() : tensor<2x3xi8>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<2x3xi8>) {
  ^bb0(%out: i8):
    %a = linalg.index 0 : index
    %b = linalg.index 1 : index
    %c = arith.subi %c2, %b : index
    %v = tensor.extract %w[%a, %c] : tensor<2x3xi8>
    linalg.yield %v : i8
  } -> tensor<2x3xi8>
  return %y : tensor<2x3xi8>
}

// CHECK-LABEL: func.func @repeated_constant
// CHECK: torq_hl.gather
func.func @repeated_constant() -> tensor<4x3xi8> {
  %c2 = arith.constant 2 : index
  %w = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi8>
  %e = tensor.empty() : tensor<4x3xi8>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x3xi8>) {
  ^bb0(%out: i8):
    %a = linalg.index 0 : index
    %b = linalg.index 1 : index
    %half = arith.divui %a, %c2 : index
    %c = arith.subi %c2, %b : index
    %v = tensor.extract %w[%half, %c] : tensor<2x3xi8>
    linalg.yield %v : i8
  } -> tensor<4x3xi8>
  return %y : tensor<4x3xi8>
}
