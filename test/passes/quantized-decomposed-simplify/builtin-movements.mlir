// RUN: torq-opt --split-input-file --quantized-decomposed-simplify %s | FileCheck %s

// Weights of a fully connected layer: the transposed constant, dequantized directly in front of the contraction.

// CHECK-LABEL: func.func @transposed_weight
// CHECK: %[[W:.*]] = arith.constant dense<{{\[}}[1, 4], [2, 5], [3, 6]]> : tensor<3x2xi8>
// CHECK: %[[D:.*]] = "quantized_decomposed.dequantize_per_channel"(%[[W]], {{.*}}) {axis = 1 : i64, dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64}
// CHECK-NOT: linalg.transpose
// CHECK: return %[[D]]
func.func @transposed_weight() -> tensor<3x2xf32> {
  %w = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi8>
  %s = arith.constant dense<[0.5, 0.25]> : tensor<2xf32>
  %z = arith.constant dense<0> : tensor<2xi8>
  %0 = "quantized_decomposed.dequantize_per_channel"(%w, %s, %z) {axis = 0 : i64, quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x3xi8>, tensor<2xf32>, tensor<2xi8>) -> tensor<2x3xf32>
  %e = tensor.empty() : tensor<3x2xf32>
  %1 = linalg.transpose ins(%0 : tensor<2x3xf32>) outs(%e : tensor<3x2xf32>) permutation = [1, 0]
  return %1 : tensor<3x2xf32>
}

// -----

// Weights of a depthwise convolution: the dimension of size 1 goes.

// CHECK-LABEL: func.func @collapsed_weight
// CHECK: %[[W:.*]] = arith.constant dense<{{\[\[}}[1, 2]], {{\[\[}}3, 4]]]> : tensor<2x1x2xi8>
// CHECK: "quantized_decomposed.dequantize_per_channel"(%[[W]], {{.*}}) {axis = 0 : i64,
// CHECK-NOT: collapse_shape
// CHECK: return
func.func @collapsed_weight() -> tensor<2x1x2xf32> {
  %w = arith.constant dense<[[[[1, 2]]], [[[3, 4]]]]> : tensor<2x1x1x2xi8>
  %s = arith.constant dense<[0.5, 0.25]> : tensor<2xf32>
  %z = arith.constant dense<0> : tensor<2xi8>
  %0 = "quantized_decomposed.dequantize_per_channel"(%w, %s, %z) {axis = 0 : i64, quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x1x1x2xi8>, tensor<2xf32>, tensor<2xi8>) -> tensor<2x1x1x2xf32>
  %1 = tensor.collapse_shape %0 [[0, 1], [2], [3]] : tensor<2x1x1x2xf32> into tensor<2x1x2xf32>
  return %1 : tensor<2x1x2xf32>
}

// -----

// Between activations: reshapes and a transpose move integers.

// CHECK-LABEL: func.func @activations
// CHECK: %[[Q:.*]] = "quantized_decomposed.quantize_per_tensor"(%arg0, {{.*}} -> tensor<2x6xi8>
// CHECK: %[[E:.*]] = tensor.expand_shape %[[Q]] {{\[\[}}0], [1, 2]] output_shape [2, 2, 3] : tensor<2x6xi8> into tensor<2x2x3xi8>
// CHECK: %[[I:.*]] = tensor.empty() : tensor<2x3x2xi8>
// CHECK: %[[T:.*]] = linalg.transpose ins(%[[E]] : tensor<2x2x3xi8>) outs(%[[I]] : tensor<2x3x2xi8>) permutation = [0, 2, 1]
// CHECK: %[[C:.*]] = tensor.collapse_shape %[[T]] {{\[\[}}0, 1], [2]] : tensor<2x3x2xi8> into tensor<6x2xi8>
// CHECK: "quantized_decomposed.dequantize_per_tensor"(%[[C]], {{.*}} -> tensor<6x2xf32>
func.func @activations(%x: tensor<2x6xf32>) -> tensor<6x2xf32> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %0 = tensor.expand_shape %x [[0], [1, 2]] output_shape [2, 2, 3] : tensor<2x6xf32> into tensor<2x2x3xf32>
  %1 = "quantized_decomposed.quantize_per_tensor"(%0, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<2x2x3xi8>
  %2 = "quantized_decomposed.dequantize_per_tensor"(%1, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x2x3xf32>
  %e = tensor.empty() : tensor<2x3x2xf32>
  %3 = linalg.transpose ins(%2 : tensor<2x2x3xf32>) outs(%e : tensor<2x3x2xf32>) permutation = [0, 2, 1]
  %4 = tensor.collapse_shape %3 [[0, 1], [2]] : tensor<2x3x2xf32> into tensor<6x2xf32>
  return %4 : tensor<6x2xf32>
}

// -----

// Sizes that are not known move along.

// CHECK-LABEL: func.func @dynamic_sizes
// CHECK: %[[D:.*]] = tensor.dim
// CHECK: %[[I:.*]] = tensor.empty(%[[D]]) : tensor<3x?xi8>
// CHECK: linalg.transpose ins(%arg0 : tensor<?x3xi8>) outs(%[[I]] : tensor<3x?xi8>) permutation = [1, 0]
// CHECK: "quantized_decomposed.dequantize_per_tensor"
func.func @dynamic_sizes(%q: tensor<?x3xi8>, %n: index) -> tensor<3x?xf32> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %0 = "quantized_decomposed.dequantize_per_tensor"(%q, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<?x3xi8>, tensor<f32>, tensor<i8>) -> tensor<?x3xf32>
  %e = tensor.empty(%n) : tensor<3x?xf32>
  %1 = linalg.transpose ins(%0 : tensor<?x3xf32>) outs(%e : tensor<3x?xf32>) permutation = [1, 0]
  return %1 : tensor<3x?xf32>
}

// -----

// The groups of a grouped convolution are merged before its channels are quantized.

// CHECK-LABEL: func.func @grouped_convolution
// CHECK: %[[Y:.*]] = linalg.conv_2d_ngchw_gfchw
// CHECK: %[[C:.*]] = tensor.collapse_shape %[[Y]]
// CHECK: "quantized_decomposed.quantize_per_tensor"(%[[C]]
func.func @grouped_convolution(%x: tensor<1x2x3x4x4xf32>, %w: tensor<2x2x3x1x1xf32>, %init: tensor<1x2x2x4x4xf32>) -> tensor<1x4x4x4xi8> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %0 = linalg.conv_2d_ngchw_gfchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x, %w : tensor<1x2x3x4x4xf32>, tensor<2x2x3x1x1xf32>) outs(%init : tensor<1x2x2x4x4xf32>) -> tensor<1x2x2x4x4xf32>
  %1 = tensor.collapse_shape %0 [[0], [1, 2], [3], [4]] : tensor<1x2x2x4x4xf32> into tensor<1x4x4x4xf32>
  %2 = "quantized_decomposed.quantize_per_tensor"(%1, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x4x4x4xf32>, tensor<f32>, tensor<i8>) -> tensor<1x4x4x4xi8>
  return %2 : tensor<1x4x4x4xi8>
}

// -----

// Real constants are none of this pass's.

// CHECK-LABEL: func.func @real_constant
// CHECK: linalg.transpose
func.func @real_constant() -> tensor<3x2xf32> {
  %w = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %e = tensor.empty() : tensor<3x2xf32>
  %1 = linalg.transpose ins(%w : tensor<2x3xf32>) outs(%e : tensor<3x2xf32>) permutation = [1, 0]
  return %1 : tensor<3x2xf32>
}

// -----

// A function of floats moves in front of a reshape, and the quantization after it.

// CHECK-LABEL: func.func @function_of_reshaped
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<2x3x1xf32>)
// CHECK: %[[Q:.*]] = "quantized_decomposed.quantize_per_tensor"(%[[Y]]
// CHECK: %[[R:.*]] = tensor.collapse_shape %[[Q]]
// CHECK: return %[[R]]
func.func @function_of_reshaped(%x: tensor<2x3x1xf32>) -> tensor<2x3xi8> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %c = tensor.collapse_shape %x [[0], [1, 2]] : tensor<2x3x1xf32> into tensor<2x3xf32>
  %e = tensor.empty() : tensor<2x3xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%c : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %zero = arith.constant 0.0 : f32
    %r = arith.maximumf %in, %zero : f32
    linalg.yield %r : f32
  } -> tensor<2x3xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<2x3xi8>
  return %q : tensor<2x3xi8>
}

// -----

// Between two movements quantize and dequantize meet behind both: halfway would be a layout that the model does not have.

// CHECK-LABEL: func.func @meet_behind
// CHECK: %[[A:.*]] = linalg.transpose ins(%arg0 : tensor<2x3x4xi8>) {{.*}} permutation = [0, 2, 1]
// CHECK: %[[B:.*]] = linalg.transpose ins(%[[A]] : tensor<2x4x3xi8>) {{.*}} permutation = [1, 0, 2]
// CHECK: %[[D:.*]] = "quantized_decomposed.dequantize_per_tensor"(%[[B]]
// CHECK: "quantized_decomposed.quantize_per_tensor"(%[[D]]
func.func @meet_behind(%x: tensor<2x3x4xi8>) -> tensor<4x2x3xi8> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %t = arith.constant dense<0.25> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %d = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x3x4xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3x4xf32>
  %e1 = tensor.empty() : tensor<2x4x3xf32>
  %1 = linalg.transpose ins(%d : tensor<2x3x4xf32>) outs(%e1 : tensor<2x4x3xf32>) permutation = [0, 2, 1]
  %e2 = tensor.empty() : tensor<4x2x3xf32>
  %2 = linalg.transpose ins(%1 : tensor<2x4x3xf32>) outs(%e2 : tensor<4x2x3xf32>) permutation = [1, 0, 2]
  %q = "quantized_decomposed.quantize_per_tensor"(%2, %t, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<4x2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<4x2x3xi8>
  return %q : tensor<4x2x3xi8>
}
