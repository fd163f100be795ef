// RUN: torq-opt --split-input-file --convert-linalg-to-torq-hl=explain=true %s | FileCheck %s

// The whole sandwich is one operation: padding with the zero point folds into it, the correction -3 * 54 = -162 is in
// the bias, 0.125 / 0.5 is 2^30 / 2^32.

// CHECK-LABEL: func.func @conv2d
// CHECK-DAG: %[[W:.*]] = arith.constant dense<2> : tensor<4x3x3x3xi8>
// CHECK-DAG: %[[SB:.*]] = arith.constant dense<[-162, 1073741824, -162, 1073741824, -162, 1073741824, -162, 1073741824]> : tensor<8xi32>
// CHECK: %[[E:.*]] = tensor.empty() : tensor<1x4x4x8xi8>
// CHECK: %[[Y:.*]] = "torq_hl.conv2d"(%[[E]], %[[W]], %[[SB]], %arg0)
// CHECK-SAME: dilation = array<i64: 1, 1>, groups = 1 : i32, input_zp = 3 : i32, output_max = 127 : i32, output_min = -128 : i32, output_zp = -5 : i32
// CHECK-SAME: pad = array<i64: 0, 2, 1, 1>, shift_factor = 32 : i32, stride = array<i64: 2, 1>, vectorization_mode = 0 : i32, weight_zp = 0 : i32
// CHECK-NEXT: return %[[Y]]
func.func @conv2d(%x: tensor<1x3x8x8xi8>) -> tensor<1x4x4x8xi8> {
  %zero = arith.constant 0 : i32
  %zx = arith.constant 3 : i32
  %zpad = arith.constant 3 : i8
  %other = arith.constant 0 : i8
  %scale = arith.constant 0.125 : f64
  %sy = arith.constant dense<0.5> : tensor<f32>
  %zy = arith.constant dense<-5> : tensor<i8>
  %w = arith.constant dense<2> : tensor<4x3x3x3xi8>
  %e = tensor.empty() : tensor<1x4x4x8xf32>
  %ei = tensor.empty() : tensor<1x4x4x8xi32>
  %padded = tensor.pad %x low[0, 0, 1, 0] high[0, 0, 1, 2] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zpad : i8
  } : tensor<1x3x8x8xi8> to tensor<1x3x10x10xi8>
  %init = linalg.fill ins(%zero : i32) outs(%ei : tensor<1x4x4x8xi32>) -> tensor<1x4x4x8xi32>
  %acc = linalg.conv_2d_nchw_fchw_q {dilations = dense<1> : vector<2xi64>, strides = dense<[2, 1]> : vector<2xi64>} ins(%padded, %w, %zx, %zero : tensor<1x3x10x10xi8>, tensor<4x3x3x3xi8>, i32, i32) outs(%init : tensor<1x4x4x8xi32>) -> tensor<1x4x4x8xi32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%acc : tensor<1x4x4x8xi32>) outs(%e : tensor<1x4x4x8xf32>) {
  ^bb0(%in: i32, %out: f32):
    %f = arith.sitofp %in : i32 to f64
    %p = arith.mulf %f, %scale : f64
    %t = arith.truncf %p : f64 to f32
    linalg.yield %t : f32
  } -> tensor<1x4x4x8xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %sy, %zy) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x4x4x8xf32>, tensor<f32>, tensor<i8>) -> tensor<1x4x4x8xi8>
  return %q : tensor<1x4x4x8xi8>
}

// -----

// A clamp in float is a pair of bounds: 0 / 0.5 - 5 and 6 / 0.5 - 5.

// CHECK-LABEL: func.func @conv2d_relu6
// CHECK: "torq_hl.conv2d"{{.*}} output_max = 7 : i32, output_min = -5 : i32
func.func @conv2d_relu6(%x: tensor<1x3x8x8xi8>) -> tensor<1x4x4x8xi8> {
  %zero = arith.constant 0 : i32
  %zx = arith.constant 3 : i32
  %zpad = arith.constant 3 : i8
  %other = arith.constant 0 : i8
  %scale = arith.constant 0.125 : f64
  %sy = arith.constant dense<0.5> : tensor<f32>
  %zy = arith.constant dense<-5> : tensor<i8>
  %w = arith.constant dense<2> : tensor<4x3x3x3xi8>
  %e = tensor.empty() : tensor<1x4x4x8xf32>
  %ei = tensor.empty() : tensor<1x4x4x8xi32>
  %padded = tensor.pad %x low[0, 0, 1, 0] high[0, 0, 1, 2] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zpad : i8
  } : tensor<1x3x8x8xi8> to tensor<1x3x10x10xi8>
  %init = linalg.fill ins(%zero : i32) outs(%ei : tensor<1x4x4x8xi32>) -> tensor<1x4x4x8xi32>
  %acc = linalg.conv_2d_nchw_fchw_q {dilations = dense<1> : vector<2xi64>, strides = dense<[2, 1]> : vector<2xi64>} ins(%padded, %w, %zx, %zero : tensor<1x3x10x10xi8>, tensor<4x3x3x3xi8>, i32, i32) outs(%init : tensor<1x4x4x8xi32>) -> tensor<1x4x4x8xi32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%acc : tensor<1x4x4x8xi32>) outs(%e : tensor<1x4x4x8xf32>) {
  ^bb0(%in: i32, %out: f32):
    %f = arith.sitofp %in : i32 to f64
    %p = arith.mulf %f, %scale : f64
    %t = arith.truncf %p : f64 to f32
    linalg.yield %t : f32
  } -> tensor<1x4x4x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y : tensor<1x4x4x8xf32>) outs(%e : tensor<1x4x4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %lo = arith.constant 0.0 : f32
    %hi = arith.constant 6.0 : f32
    %a = arith.maximumf %in, %lo : f32
    %b = arith.minimumf %a, %hi : f32
    linalg.yield %b : f32
  } -> tensor<1x4x4x8xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%r, %sy, %zy) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x4x4x8xf32>, tensor<f32>, tensor<i8>) -> tensor<1x4x4x8xi8>
  return %q : tensor<1x4x4x8xi8>
}

// -----

// Padding with anything but the zero point stays.

// CHECK-LABEL: func.func @conv2d_other_padding
// CHECK: %[[P:.*]] = tensor.pad
// CHECK: "torq_hl.conv2d"(%{{.*}}, %{{.*}}, %{{.*}}, %[[P]]){{.*}} pad = array<i64: 0, 0, 0, 0>
func.func @conv2d_other_padding(%x: tensor<1x3x8x8xi8>) -> tensor<1x4x4x8xi8> {
  %zero = arith.constant 0 : i32
  %zx = arith.constant 3 : i32
  %zpad = arith.constant 3 : i8
  %other = arith.constant 0 : i8
  %scale = arith.constant 0.125 : f64
  %sy = arith.constant dense<0.5> : tensor<f32>
  %zy = arith.constant dense<-5> : tensor<i8>
  %w = arith.constant dense<2> : tensor<4x3x3x3xi8>
  %e = tensor.empty() : tensor<1x4x4x8xf32>
  %ei = tensor.empty() : tensor<1x4x4x8xi32>
  %padded = tensor.pad %x low[0, 0, 1, 0] high[0, 0, 1, 2] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %other : i8
  } : tensor<1x3x8x8xi8> to tensor<1x3x10x10xi8>
  %init = linalg.fill ins(%zero : i32) outs(%ei : tensor<1x4x4x8xi32>) -> tensor<1x4x4x8xi32>
  %acc = linalg.conv_2d_nchw_fchw_q {dilations = dense<1> : vector<2xi64>, strides = dense<[2, 1]> : vector<2xi64>} ins(%padded, %w, %zx, %zero : tensor<1x3x10x10xi8>, tensor<4x3x3x3xi8>, i32, i32) outs(%init : tensor<1x4x4x8xi32>) -> tensor<1x4x4x8xi32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%acc : tensor<1x4x4x8xi32>) outs(%e : tensor<1x4x4x8xf32>) {
  ^bb0(%in: i32, %out: f32):
    %f = arith.sitofp %in : i32 to f64
    %p = arith.mulf %f, %scale : f64
    %t = arith.truncf %p : f64 to f32
    linalg.yield %t : f32
  } -> tensor<1x4x4x8xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %sy, %zy) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x4x4x8xf32>, tensor<f32>, tensor<i8>) -> tensor<1x4x4x8xi8>
  return %q : tensor<1x4x4x8xi8>
}

// -----

// A zero point known at run time only has no place in the operation.

// CHECK-LABEL: func.func @conv2d_runtime_zero_point
// CHECK: linalg.conv_2d_nchw_fchw_q
// CHECK: "quantized_decomposed.quantize_per_tensor"{{.*}} torq_hl.refusal = "a zero point is not constant"
// CHECK-NOT: "torq_hl.
func.func @conv2d_runtime_zero_point(%x: tensor<1x3x8x8xi8>, %z: i32) -> tensor<1x4x4x8xi8> {
  %zero = arith.constant 0 : i32
  %zx = arith.constant 3 : i32
  %zpad = arith.constant 3 : i8
  %other = arith.constant 0 : i8
  %scale = arith.constant 0.125 : f64
  %sy = arith.constant dense<0.5> : tensor<f32>
  %zy = arith.constant dense<-5> : tensor<i8>
  %w = arith.constant dense<2> : tensor<4x3x3x3xi8>
  %e = tensor.empty() : tensor<1x4x4x8xf32>
  %ei = tensor.empty() : tensor<1x4x4x8xi32>
  %padded = tensor.pad %x low[0, 0, 1, 0] high[0, 0, 1, 2] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zpad : i8
  } : tensor<1x3x8x8xi8> to tensor<1x3x10x10xi8>
  %init = linalg.fill ins(%zero : i32) outs(%ei : tensor<1x4x4x8xi32>) -> tensor<1x4x4x8xi32>
  %acc = linalg.conv_2d_nchw_fchw_q {dilations = dense<1> : vector<2xi64>, strides = dense<[2, 1]> : vector<2xi64>} ins(%padded, %w, %z, %zero : tensor<1x3x10x10xi8>, tensor<4x3x3x3xi8>, i32, i32) outs(%init : tensor<1x4x4x8xi32>) -> tensor<1x4x4x8xi32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%acc : tensor<1x4x4x8xi32>) outs(%e : tensor<1x4x4x8xf32>) {
  ^bb0(%in: i32, %out: f32):
    %f = arith.sitofp %in : i32 to f64
    %p = arith.mulf %f, %scale : f64
    %t = arith.truncf %p : f64 to f32
    linalg.yield %t : f32
  } -> tensor<1x4x4x8xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %sy, %zy) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x4x4x8xf32>, tensor<f32>, tensor<i8>) -> tensor<1x4x4x8xi8>
  return %q : tensor<1x4x4x8xi8>
}

// -----

// Two consumers of the accumulator: the convolution is not duplicated, it gives i32 that each requantizes.

// CHECK-LABEL: func.func @conv2d_two_consumers
// CHECK-DAG: %[[PAIR:.*]] = arith.constant dense<[0, 1073741824]> : tensor<2xi32>
// CHECK-DAG: %[[SB:.*]] = arith.constant dense<[-162, 1, -162, 1, -162, 1, -162, 1]> : tensor<8xi32>
// CHECK: %[[ACC:.*]] = "torq_hl.conv2d"(%{{.*}}, %{{.*}}, %[[SB]], %arg0) {{.*}}shift_factor = 0 : i32{{.*}} -> tensor<1x4x4x8xi32>
// CHECK: "torq_hl.fma"(%{{.*}}, %{{.*}}, %[[PAIR]], %[[ACC]]) {output_max = 127 : i32, output_min = -128 : i32, output_zp = -5 : i32, shift_factor = 32 : i32}
// CHECK: "torq_hl.fma"(%{{.*}}, %{{.*}}, %[[PAIR]], %[[ACC]]) {output_max = 7 : i32, output_min = -5 : i32, output_zp = -5 : i32, shift_factor = 32 : i32}
// CHECK-NOT: linalg
func.func @conv2d_two_consumers(%x: tensor<1x3x8x8xi8>) -> (tensor<1x4x4x8xi8>, tensor<1x4x4x8xi8>) {
  %zero = arith.constant 0 : i32
  %zx = arith.constant 3 : i32
  %zpad = arith.constant 3 : i8
  %other = arith.constant 0 : i8
  %scale = arith.constant 0.125 : f64
  %sy = arith.constant dense<0.5> : tensor<f32>
  %zy = arith.constant dense<-5> : tensor<i8>
  %w = arith.constant dense<2> : tensor<4x3x3x3xi8>
  %e = tensor.empty() : tensor<1x4x4x8xf32>
  %ei = tensor.empty() : tensor<1x4x4x8xi32>
  %padded = tensor.pad %x low[0, 0, 1, 0] high[0, 0, 1, 2] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zpad : i8
  } : tensor<1x3x8x8xi8> to tensor<1x3x10x10xi8>
  %init = linalg.fill ins(%zero : i32) outs(%ei : tensor<1x4x4x8xi32>) -> tensor<1x4x4x8xi32>
  %acc = linalg.conv_2d_nchw_fchw_q {dilations = dense<1> : vector<2xi64>, strides = dense<[2, 1]> : vector<2xi64>} ins(%padded, %w, %zx, %zero : tensor<1x3x10x10xi8>, tensor<4x3x3x3xi8>, i32, i32) outs(%init : tensor<1x4x4x8xi32>) -> tensor<1x4x4x8xi32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%acc : tensor<1x4x4x8xi32>) outs(%e : tensor<1x4x4x8xf32>) {
  ^bb0(%in: i32, %out: f32):
    %f = arith.sitofp %in : i32 to f64
    %p = arith.mulf %f, %scale : f64
    %t = arith.truncf %p : f64 to f32
    linalg.yield %t : f32
  } -> tensor<1x4x4x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y : tensor<1x4x4x8xf32>) outs(%e : tensor<1x4x4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %lo = arith.constant 0.0 : f32
    %hi = arith.constant 6.0 : f32
    %a = arith.maximumf %in, %lo : f32
    %b = arith.minimumf %a, %hi : f32
    linalg.yield %b : f32
  } -> tensor<1x4x4x8xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %sy, %zy) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x4x4x8xf32>, tensor<f32>, tensor<i8>) -> tensor<1x4x4x8xi8>
  %p = "quantized_decomposed.quantize_per_tensor"(%r, %sy, %zy) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x4x4x8xf32>, tensor<f32>, tensor<i8>) -> tensor<1x4x4x8xi8>
  return %q, %p : tensor<1x4x4x8xi8>, tensor<1x4x4x8xi8>
}

// -----

// A weight zero point is folded: i16 weights, and weight_zp 0.

// CHECK-LABEL: func.func @fully_connected
// CHECK-DAG: %[[W:.*]] = arith.constant dense<{{\[\[}}0, 1], [2, 3], [4, 5]]> : tensor<3x2xi16>
// CHECK-DAG: %[[SB:.*]] = arith.constant dense<[-8, 1073741824, -17, 1073741824]> : tensor<4xi32>
// CHECK: "torq_hl.fully_connected"(%{{.*}}, %[[W]], %[[SB]], %arg0) {{{.*}}input_zp = 3 : i32{{.*}}weight_zp = 0 : i32}
func.func @fully_connected(%x: tensor<2x3xi8>) -> tensor<2x2xi8> {
  %zero = arith.constant 0 : i32
  %zx = arith.constant 3 : i32
  %zw = arith.constant 1 : i32
  %scale = arith.constant 0.125 : f64
  %sy = arith.constant dense<0.5> : tensor<f32>
  %zy = arith.constant dense<-5> : tensor<i8>
  %w = arith.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi8>
  %b = arith.constant dense<10> : tensor<2xi32>
  %e = tensor.empty() : tensor<2x2xf32>
  %ei = tensor.empty() : tensor<2x2xi32>
  %init = linalg.fill ins(%zero : i32) outs(%ei : tensor<2x2xi32>) -> tensor<2x2xi32>
  %m = linalg.quantized_matmul ins(%x, %w, %zx, %zw : tensor<2x3xi8>, tensor<3x2xi8>, i32, i32) outs(%init : tensor<2x2xi32>) -> tensor<2x2xi32>
  %acc = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%m, %b : tensor<2x2xi32>, tensor<2xi32>) outs(%ei : tensor<2x2xi32>) {
  ^bb0(%in: i32, %bias: i32, %out: i32):
    %s = arith.addi %in, %bias : i32
    linalg.yield %s : i32
  } -> tensor<2x2xi32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%acc : tensor<2x2xi32>) outs(%e : tensor<2x2xf32>) {
  ^bb0(%in: i32, %out: f32):
    %f = arith.sitofp %in : i32 to f64
    %p = arith.mulf %f, %scale : f64
    %t = arith.truncf %p : f64 to f32
    linalg.yield %t : f32
  } -> tensor<2x2xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %sy, %zy) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<2x2xf32>, tensor<f32>, tensor<i8>) -> tensor<2x2xi8>
  return %q : tensor<2x2xi8>
}
