// RUN: torq-opt --split-input-file --quantized-decomposed-simplify %s | FileCheck %s
// RUN: torq-opt --split-input-file --quantized-decomposed-simplify --quantized-decomposed-simplify %s | FileCheck %s

// A slice of channels takes their parameters along.

// CHECK-LABEL: func.func @channels
// CHECK-DAG: %[[S:.*]] = arith.constant dense<[5.000000e-01, 2.000000e+00]> : tensor<2xf32>
// CHECK-DAG: %[[Z:.*]] = arith.constant dense<[2, 3]> : tensor<2xi8>
// CHECK: %[[X:.*]] = tensor.extract_slice %arg0[1, 0] [2, 3] [1, 1] : tensor<4x3xi8> to tensor<2x3xi8>
// CHECK: "quantized_decomposed.dequantize_per_channel"(%[[X]], %[[S]], %[[Z]]) {axis = 0 : i64
func.func @channels(%q: tensor<4x3xi8>) -> tensor<2x3xf32> {
  %s = arith.constant dense<[0.25, 0.5, 2.0, 1.0]> : tensor<4xf32>
  %z = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi8>
  %0 = "quantized_decomposed.dequantize_per_channel"(%q, %s, %z) {axis = 0 : i64, quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x3xi8>, tensor<4xf32>, tensor<4xi8>) -> tensor<4x3xf32>
  %1 = tensor.extract_slice %0[1, 0] [2, 3] [1, 1] : tensor<4x3xf32> to tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// -----

// Only part of a tensor is quantized when only part of it is needed.

// CHECK-LABEL: func.func @quantized_slice
// CHECK: %[[X:.*]] = tensor.extract_slice %arg0
// CHECK: "quantized_decomposed.quantize_per_tensor"(%[[X]]
func.func @quantized_slice(%x: tensor<4x3xf32>) -> tensor<2x3xi8> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %0 = tensor.extract_slice %x[1, 0] [2, 3] [1, 1] : tensor<4x3xf32> to tensor<2x3xf32>
  %1 = "quantized_decomposed.quantize_per_tensor"(%0, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<2x3xi8>
  return %1 : tensor<2x3xi8>
}

// -----

// CHECK-LABEL: func.func @concatenation
// CHECK: %[[C:.*]] = tensor.concat dim(0) %arg0, %arg1 : (tensor<2x3xi8>, tensor<1x3xi8>) -> tensor<3x3xi8>
// CHECK: "quantized_decomposed.dequantize_per_tensor"(%[[C]]
func.func @concatenation(%a: tensor<2x3xi8>, %b: tensor<1x3xi8>) -> tensor<3x3xf32> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %0 = "quantized_decomposed.dequantize_per_tensor"(%a, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
  %1 = "quantized_decomposed.dequantize_per_tensor"(%b, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x3xf32>
  %2 = tensor.concat dim(0) %0, %1 : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<3x3xf32>
  return %2 : tensor<3x3xf32>
}

// -----

// Other parameters: the real values are what is joined.

// CHECK-LABEL: func.func @other_parameters
// CHECK: tensor.concat dim(0) {{.*}} -> tensor<3x3xf32>
func.func @other_parameters(%a: tensor<2x3xi8>, %b: tensor<1x3xi8>) -> tensor<3x3xf32> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %other = arith.constant dense<4> : tensor<i8>
  %0 = "quantized_decomposed.dequantize_per_tensor"(%a, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
  %1 = "quantized_decomposed.dequantize_per_tensor"(%b, %s, %other) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x3xf32>
  %2 = tensor.concat dim(0) %0, %1 : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<3x3xf32>
  return %2 : tensor<3x3xf32>
}

// -----

// Zero is the zero point, of unsigned integers too.

// CHECK-LABEL: func.func @pad
// CHECK: %[[V:.*]] = arith.constant -56 : i8
// CHECK: %[[P:.*]] = tensor.pad %arg0 low[1, 0] high[0, 2]
// CHECK: tensor.yield %[[V]] : i8
// CHECK: "quantized_decomposed.dequantize_per_tensor"(%[[P]]
func.func @pad(%q: tensor<2x3xi8>) -> tensor<3x5xf32> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<200> : tensor<i8>
  %v = arith.constant 0.0 : f32
  %0 = "quantized_decomposed.dequantize_per_tensor"(%q, %s, %z) {quant_min = 0 : i64, quant_max = 255 : i64, dtype = ui8} : (tensor<2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
  %1 = tensor.pad %0 low[1, 0] high[0, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : f32
  } : tensor<2x3xf32> to tensor<3x5xf32>
  return %1 : tensor<3x5xf32>
}

// -----

// 0.3 lies between two integers.

// CHECK-LABEL: func.func @pad_between_integers
// CHECK: tensor.pad {{.*}}
// CHECK: } : tensor<2xf32> to tensor<3xf32>
func.func @pad_between_integers(%q: tensor<2xi8>) -> tensor<3xf32> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %v = arith.constant 0.3 : f32
  %0 = "quantized_decomposed.dequantize_per_tensor"(%q, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2xi8>, tensor<f32>, tensor<i8>) -> tensor<2xf32>
  %1 = tensor.pad %0 low[1] high[0] {
  ^bb0(%i: index):
    tensor.yield %v : f32
  } : tensor<2xf32> to tensor<3xf32>
  return %1 : tensor<3xf32>
}

// -----

// Any value can be padded with before it is rounded.

// CHECK-LABEL: func.func @quantized_pad
// CHECK: %[[V:.*]] = arith.constant 4 : i8
// CHECK: %[[Q:.*]] = "quantized_decomposed.quantize_per_tensor"(%arg0
// CHECK: tensor.pad %[[Q]] low[1] high[0]
// CHECK: tensor.yield %[[V]]
func.func @quantized_pad(%x: tensor<2xf32>) -> tensor<3xi8> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %v = arith.constant 0.3 : f32
  %0 = tensor.pad %x low[1] high[0] {
  ^bb0(%i: index):
    tensor.yield %v : f32
  } : tensor<2xf32> to tensor<3xf32>
  %1 = "quantized_decomposed.quantize_per_tensor"(%0, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<3xf32>, tensor<f32>, tensor<i8>) -> tensor<3xi8>
  return %1 : tensor<3xi8>
}

// -----

// The padding of a window belongs to it.

// CHECK-LABEL: func.func @pad_of_convolution
// CHECK: %[[D:.*]] = "quantized_decomposed.dequantize_per_tensor"(%arg0
// CHECK: tensor.pad %[[D]]
func.func @pad_of_convolution(%q: tensor<1x1x4x4xi8>, %w: tensor<1x1x3x3xf32>, %init: tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %v = arith.constant 0.0 : f32
  %0 = "quantized_decomposed.dequantize_per_tensor"(%q, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x1x4x4xi8>, tensor<f32>, tensor<i8>) -> tensor<1x1x4x4xf32>
  %1 = tensor.pad %0 low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %v : f32
  } : tensor<1x1x4x4xf32> to tensor<1x1x6x6xf32>
  %2 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%1, %w : tensor<1x1x6x6xf32>, tensor<1x1x3x3xf32>) outs(%init : tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
  return %2 : tensor<1x1x4x4xf32>
}

// -----

// CHECK-LABEL: func.func @maximum
// CHECK: %[[LOW:.*]] = arith.constant -128 : i8
// CHECK: %[[INIT:.*]] = linalg.fill ins(%[[LOW]] : i8)
// CHECK: %[[M:.*]] = linalg.pooling_nchw_max {{.*}} ins(%arg0, {{.*}} : tensor<1x1x4x4xi8>, tensor<2x2xf32>) outs(%[[INIT]] : tensor<1x1x3x3xi8>)
// CHECK: "quantized_decomposed.dequantize_per_tensor"(%[[M]]
func.func @maximum(%q: tensor<1x1x4x4xi8>, %window: tensor<2x2xf32>) -> tensor<1x1x3x3xf32> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %v = arith.constant 0xFF800000 : f32
  %0 = "quantized_decomposed.dequantize_per_tensor"(%q, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x1x4x4xi8>, tensor<f32>, tensor<i8>) -> tensor<1x1x4x4xf32>
  %e = tensor.empty() : tensor<1x1x3x3xf32>
  %1 = linalg.fill ins(%v : f32) outs(%e : tensor<1x1x3x3xf32>) -> tensor<1x1x3x3xf32>
  %2 = linalg.pooling_nchw_max {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%0, %window : tensor<1x1x4x4xf32>, tensor<2x2xf32>) outs(%1 : tensor<1x1x3x3xf32>) -> tensor<1x1x3x3xf32>
  return %2 : tensor<1x1x3x3xf32>
}

// -----

// Signless integers are compared as signed ones.

// CHECK-LABEL: func.func @unsigned_maximum
// CHECK: linalg.pooling_nchw_max {{.*}} -> tensor<1x1x3x3xf32>
func.func @unsigned_maximum(%q: tensor<1x1x4x4xi8>, %window: tensor<2x2xf32>, %init: tensor<1x1x3x3xf32>) -> tensor<1x1x3x3xf32> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %0 = "quantized_decomposed.dequantize_per_tensor"(%q, %s, %z) {quant_min = 0 : i64, quant_max = 255 : i64, dtype = ui8} : (tensor<1x1x4x4xi8>, tensor<f32>, tensor<i8>) -> tensor<1x1x4x4xf32>
  %1 = linalg.pooling_nchw_max {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%0, %window : tensor<1x1x4x4xf32>, tensor<2x2xf32>) outs(%init : tensor<1x1x3x3xf32>) -> tensor<1x1x3x3xf32>
  return %1 : tensor<1x1x3x3xf32>
}

// -----

// What is repeated is quantized once.

// CHECK-LABEL: func.func @broadcast
// CHECK: %[[Q:.*]] = "quantized_decomposed.quantize_per_tensor"(%arg0, {{.*}} -> tensor<3xi8>
// CHECK: %[[E:.*]] = tensor.empty() : tensor<2x3xi8>
// CHECK: %[[B:.*]] = linalg.broadcast ins(%[[Q]] : tensor<3xi8>) outs(%[[E]] : tensor<2x3xi8>) dimensions = [0]
// CHECK: return %[[B]]
func.func @broadcast(%x: tensor<3xf32>) -> tensor<2x3xi8> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<3> : tensor<i8>
  %e = tensor.empty() : tensor<2x3xf32>
  %0 = linalg.broadcast ins(%x : tensor<3xf32>) outs(%e : tensor<2x3xf32>) dimensions = [0]
  %1 = "quantized_decomposed.quantize_per_tensor"(%0, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<2x3xi8>
  return %1 : tensor<2x3xi8>
}

// -----

// Parameters of tokens are of the shape of what they belong to, and move along.

// CHECK-LABEL: func.func @tokens
// CHECK-DAG: %[[X:.*]] = tensor.collapse_shape %arg0 {{.*}} : tensor<2x3x4xi8> into tensor<6x4xi8>
// CHECK-DAG: %[[S:.*]] = tensor.collapse_shape %arg1 {{.*}} into tensor<6x1xf32>
// CHECK: "quantized_decomposed.dequantize_per_token"(%[[X]], %[[S]])
func.func @tokens(%q: tensor<2x3x4xi8>, %s: tensor<2x3x1xf32>) -> tensor<6x4xf32> {
  %0 = "quantized_decomposed.dequantize_per_token"(%q, %s) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x3x4xi8>, tensor<2x3x1xf32>) -> tensor<2x3x4xf32>
  %1 = tensor.collapse_shape %0 [[0, 1], [2]] : tensor<2x3x4xf32> into tensor<6x4xf32>
  return %1 : tensor<6x4xf32>
}

// -----

// Packed weights `[N, K]` are multiplied as `[K, N]`: the groups are along the other axis then.

// CHECK-LABEL: func.func @groups
// CHECK-DAG: %[[W:.*]] = arith.constant dense<{{\[}}[1, 5], [2, 6], [3, 7], [4, -8]]> : tensor<4x2xi4>
// CHECK-DAG: %[[S:.*]] = linalg.transpose ins(%arg0 : tensor<2x2xf32>)
// CHECK: "quantized_decomposed.dequantize_per_channel_group"(%[[W]], %[[S]]) {axis = 0 : i64, dtype = si4, group_size = 2 : i64
func.func @groups(%s: tensor<2x2xf32>) -> tensor<4x2xf32> {
  %q = arith.constant dense<[[1, 2, 3, 4], [5, 6, 7, -8]]> : tensor<2x4xi4>
  %0 = "quantized_decomposed.dequantize_per_channel_group"(%q, %s) {group_size = 2 : i64, axis = 1 : i64, quant_min = -8 : i64, quant_max = 7 : i64, dtype = si4} : (tensor<2x4xi4>, tensor<2x2xf32>) -> tensor<2x4xf32>
  %e = tensor.empty() : tensor<4x2xf32>
  %1 = linalg.transpose ins(%0 : tensor<2x4xf32>) outs(%e : tensor<4x2xf32>) permutation = [1, 0]
  return %1 : tensor<4x2xf32>
}

// -----

// A dimension is split between groups: their parameters are reshaped like the groups.

// CHECK-LABEL: func.func @split_between_groups
// CHECK-DAG: %[[X:.*]] = tensor.expand_shape %arg0 {{.*}} : tensor<2x4xi8> into tensor<2x2x2xi8>
// CHECK-DAG: %[[S:.*]] = tensor.expand_shape %arg1 {{.*}} : tensor<2x2xf32> into tensor<2x2x1xf32>
// CHECK: "quantized_decomposed.dequantize_per_channel_group"(%[[X]], %[[S]]) {axis = 2 : i64, dtype = si8, group_size = 2 : i64
func.func @split_between_groups(%q: tensor<2x4xi8>, %s: tensor<2x2xf32>) -> tensor<2x2x2xf32> {
  %0 = "quantized_decomposed.dequantize_per_channel_group"(%q, %s) {group_size = 2 : i64, axis = 1 : i64, quant_min = -8 : i64, quant_max = 7 : i64, dtype = si8} : (tensor<2x4xi8>, tensor<2x2xf32>) -> tensor<2x4xf32>
  %1 = tensor.expand_shape %0 [[0], [1, 2]] output_shape [2, 2, 2] : tensor<2x4xf32> into tensor<2x2x2xf32>
  return %1 : tensor<2x2x2xf32>
}

// -----

// Half of a group has no group of its own.

// CHECK-LABEL: func.func @split_group
// CHECK: tensor.expand_shape {{.*}} : tensor<2x8xf32> into tensor<2x4x2xf32>
func.func @split_group(%q: tensor<2x8xi8>, %s: tensor<2x2xf32>) -> tensor<2x4x2xf32> {
  %0 = "quantized_decomposed.dequantize_per_channel_group"(%q, %s) {group_size = 4 : i64, axis = 1 : i64, quant_min = -8 : i64, quant_max = 7 : i64, dtype = si8} : (tensor<2x8xi8>, tensor<2x2xf32>) -> tensor<2x8xf32>
  %1 = tensor.expand_shape %0 [[0], [1, 2]] output_shape [2, 4, 2] : tensor<2x8xf32> into tensor<2x4x2xf32>
  return %1 : tensor<2x4x2xf32>
}

// -----

// One channel, without its dimension, has the parameters of a whole tensor.

// CHECK-LABEL: func.func @selected_channel
// CHECK-DAG: %[[S:.*]] = torch.vtensor.literal(dense<5.000000e-01> : tensor<f32>)
// CHECK-DAG: %[[Z:.*]] = torch.vtensor.literal(dense<-5> : tensor<si8>)
// CHECK: %[[X:.*]] = torch.aten.select.int %arg0, {{.*}} -> !torch.vtensor<[2],si8>
// CHECK: "quantized_decomposed.dequantize_per_tensor"(%[[X]], %[[S]], %[[Z]]) {dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64}
func.func @selected_channel(%q: !torch.vtensor<[2,3],si8>) -> !torch.vtensor<[2],f32> {
  %s = torch.vtensor.literal(dense<[0.25, 0.5, 1.0]> : tensor<3xf32>) : !torch.vtensor<[3],f32>
  %z = torch.vtensor.literal(dense<[3, -5, 4]> : tensor<3xsi8>) : !torch.vtensor<[3],si8>
  %0 = "quantized_decomposed.dequantize_per_channel"(%q, %s, %z) {axis = 1 : i64, quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (!torch.vtensor<[2,3],si8>, !torch.vtensor<[3],f32>, !torch.vtensor<[3],si8>) -> !torch.vtensor<[2,3],f32>
  %one = torch.constant.int 1
  %minus_two = torch.constant.int -2
  %1 = torch.aten.select.int %0, %one, %minus_two : !torch.vtensor<[2,3],f32>, !torch.int, !torch.int -> !torch.vtensor<[2],f32>
  return %1 : !torch.vtensor<[2],f32>
}

// -----

// CHECK-LABEL: func.func @only_channel
// CHECK-DAG: %[[S:.*]] = arith.constant dense<5.000000e-01> : tensor<f32>
// CHECK-DAG: %[[X:.*]] = tensor.collapse_shape %arg0 {{.*}} : tensor<1x3xi8> into tensor<3xi8>
// CHECK: "quantized_decomposed.dequantize_per_tensor"(%[[X]], %[[S]],
func.func @only_channel(%q: tensor<1x3xi8>) -> tensor<3xf32> {
  %s = arith.constant dense<0.5> : tensor<1xf32>
  %z = arith.constant dense<3> : tensor<1xi8>
  %0 = "quantized_decomposed.dequantize_per_channel"(%q, %s, %z) {axis = 0 : i64, quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x3xi8>, tensor<1xf32>, tensor<1xi8>) -> tensor<1x3xf32>
  %1 = tensor.collapse_shape %0 [[0, 1]] : tensor<1x3xf32> into tensor<3xf32>
  return %1 : tensor<3xf32>
}

// -----

// Groups of images are shuffled as the images are.

// CHECK-LABEL: func.func @shuffled_groups_of_images
// CHECK-DAG: %[[X:.*]] = torch.aten.pixel_shuffle %arg0, {{.*}} -> !torch.vtensor<[4,1,4,4],si8>
// CHECK-DAG: %[[S:.*]] = torch.aten.pixel_shuffle %arg1, {{.*}} -> !torch.vtensor<[2,1,4,4],f32>
// CHECK: "quantized_decomposed.dequantize_per_channel_group"(%[[X]], %[[S]]) {axis = 0 : i64, dtype = si8, group_size = 2 : i64
func.func @shuffled_groups_of_images(%q: !torch.vtensor<[4,4,2,2],si8>, %s: !torch.vtensor<[2,4,2,2],f32>) -> !torch.vtensor<[4,1,4,4],f32> {
  %0 = "quantized_decomposed.dequantize_per_channel_group"(%q, %s) {group_size = 2 : i64, axis = 0 : i64, quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (!torch.vtensor<[4,4,2,2],si8>, !torch.vtensor<[2,4,2,2],f32>) -> !torch.vtensor<[4,4,2,2],f32>
  %two = torch.constant.int 2
  %1 = torch.aten.pixel_shuffle %0, %two : !torch.vtensor<[4,4,2,2],f32>, !torch.int -> !torch.vtensor<[4,1,4,4],f32>
  return %1 : !torch.vtensor<[4,1,4,4],f32>
}
