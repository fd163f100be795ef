// RUN: torq-opt --split-input-file --convert-linalg-to-torq-hl %s | FileCheck %s

// The largest multiple-of-4 shift for which the multiplier fits: 0.5 is 2^27 / 2^28; at 32 it would be 2^31.

// CHECK-LABEL: func.func @half
// CHECK: arith.constant dense<[0, 134217728, 0, 134217728]> : tensor<4xi32>
// CHECK: "torq_hl.conv2d"{{.*}}shift_factor = 28 : i32
func.func @half(%x: tensor<1x2x4x4xi8>) -> tensor<1x2x4x4xi8> {
  %zero = arith.constant 0 : i32
  %zx = arith.constant 0 : i32
  %zw = arith.constant 0 : i32
  %sy = arith.constant dense<0.5> : tensor<f32>
  %zy = arith.constant dense<-5> : tensor<i8>
  %w = arith.constant dense<[[[[1]], [[2]]], [[[3]], [[4]]]]> : tensor<2x2x1x1xi8>
  %e = tensor.empty() : tensor<1x2x4x4xf32>
  %ei = tensor.empty() : tensor<1x2x4x4xi32>
  %init = linalg.fill ins(%zero : i32) outs(%ei : tensor<1x2x4x4xi32>) -> tensor<1x2x4x4xi32>
  %acc = linalg.conv_2d_nchw_fchw_q {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x, %w, %zx, %zw : tensor<1x2x4x4xi8>, tensor<2x2x1x1xi8>, i32, i32) outs(%init : tensor<1x2x4x4xi32>) -> tensor<1x2x4x4xi32>
  %scale = arith.constant 0.25 : f64
  %y = linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (n, c, h, w)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%acc : tensor<1x2x4x4xi32>) outs(%e : tensor<1x2x4x4xf32>) {
  ^bb0(%in: i32, %out: f32):
    %f = arith.sitofp %in : i32 to f64
    %p = arith.mulf %f, %scale : f64
    %t = arith.truncf %p : f64 to f32
    linalg.yield %t : f32
  } -> tensor<1x2x4x4xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %sy, %zy) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x4x4xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x4x4xi8>
  return %q : tensor<1x2x4x4xi8>
}

// -----

// One shift for all channels: that of the largest scale.

// CHECK-LABEL: func.func @per_channel
// CHECK: arith.constant dense<[0, 134217728, 0, 131072]> : tensor<4xi32>
// CHECK: "torq_hl.conv2d"{{.*}}shift_factor = 28 : i32
func.func @per_channel(%x: tensor<1x2x4x4xi8>) -> tensor<1x2x4x4xi8> {
  %zero = arith.constant 0 : i32
  %zx = arith.constant 0 : i32
  %zw = arith.constant 0 : i32
  %sy = arith.constant dense<0.5> : tensor<f32>
  %zy = arith.constant dense<-5> : tensor<i8>
  %w = arith.constant dense<[[[[1]], [[2]]], [[[3]], [[4]]]]> : tensor<2x2x1x1xi8>
  %e = tensor.empty() : tensor<1x2x4x4xf32>
  %ei = tensor.empty() : tensor<1x2x4x4xi32>
  %init = linalg.fill ins(%zero : i32) outs(%ei : tensor<1x2x4x4xi32>) -> tensor<1x2x4x4xi32>
  %acc = linalg.conv_2d_nchw_fchw_q {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x, %w, %zx, %zw : tensor<1x2x4x4xi8>, tensor<2x2x1x1xi8>, i32, i32) outs(%init : tensor<1x2x4x4xi32>) -> tensor<1x2x4x4xi32>
  %s = arith.constant dense<[0.25, 0.000244140625]> : tensor<2xf64>
  %y = linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (c)>, affine_map<(n, c, h, w) -> (n, c, h, w)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%acc, %s : tensor<1x2x4x4xi32>, tensor<2xf64>) outs(%e : tensor<1x2x4x4xf32>) {
  ^bb0(%in: i32, %scale: f64, %out: f32):
    %f = arith.sitofp %in : i32 to f64
    %p = arith.mulf %f, %scale : f64
    %t = arith.truncf %p : f64 to f32
    linalg.yield %t : f32
  } -> tensor<1x2x4x4xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %sy, %zy) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x4x4xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x4x4xi8>
  return %q : tensor<1x2x4x4xi8>
}

// -----

// A scale of zero.

// CHECK-LABEL: func.func @zero
// CHECK: arith.constant dense<0> : tensor<4xi32>
// CHECK: "torq_hl.conv2d"{{.*}}shift_factor = 28 : i32
func.func @zero(%x: tensor<1x2x4x4xi8>) -> tensor<1x2x4x4xi8> {
  %zero = arith.constant 0 : i32
  %zx = arith.constant 0 : i32
  %zw = arith.constant 0 : i32
  %sy = arith.constant dense<0.5> : tensor<f32>
  %zy = arith.constant dense<-5> : tensor<i8>
  %w = arith.constant dense<[[[[1]], [[2]]], [[[3]], [[4]]]]> : tensor<2x2x1x1xi8>
  %e = tensor.empty() : tensor<1x2x4x4xf32>
  %ei = tensor.empty() : tensor<1x2x4x4xi32>
  %init = linalg.fill ins(%zero : i32) outs(%ei : tensor<1x2x4x4xi32>) -> tensor<1x2x4x4xi32>
  %acc = linalg.conv_2d_nchw_fchw_q {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x, %w, %zx, %zw : tensor<1x2x4x4xi8>, tensor<2x2x1x1xi8>, i32, i32) outs(%init : tensor<1x2x4x4xi32>) -> tensor<1x2x4x4xi32>
  %scale = arith.constant 0.0 : f64
  %y = linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (n, c, h, w)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%acc : tensor<1x2x4x4xi32>) outs(%e : tensor<1x2x4x4xf32>) {
  ^bb0(%in: i32, %out: f32):
    %f = arith.sitofp %in : i32 to f64
    %p = arith.mulf %f, %scale : f64
    %t = arith.truncf %p : f64 to f32
    linalg.yield %t : f32
  } -> tensor<1x2x4x4xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %sy, %zy) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x4x4xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x4x4xi8>
  return %q : tensor<1x2x4x4xi8>
}

// -----

// The bounds of the quantization, narrowed by those of the clamp: 0 / 0.5 - 5 and 6 / 0.5 - 5.

// CHECK-LABEL: func.func @narrow_range
// CHECK: "torq_hl.conv2d"{{.*}}output_max = 127 : i32, output_min = -127 : i32, output_zp = -5 : i32
func.func @narrow_range(%x: tensor<1x2x4x4xi8>) -> tensor<1x2x4x4xi8> {
  %zero = arith.constant 0 : i32
  %zx = arith.constant 0 : i32
  %zw = arith.constant 0 : i32
  %sy = arith.constant dense<0.5> : tensor<f32>
  %zy = arith.constant dense<-5> : tensor<i8>
  %w = arith.constant dense<[[[[1]], [[2]]], [[[3]], [[4]]]]> : tensor<2x2x1x1xi8>
  %e = tensor.empty() : tensor<1x2x4x4xf32>
  %ei = tensor.empty() : tensor<1x2x4x4xi32>
  %init = linalg.fill ins(%zero : i32) outs(%ei : tensor<1x2x4x4xi32>) -> tensor<1x2x4x4xi32>
  %acc = linalg.conv_2d_nchw_fchw_q {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x, %w, %zx, %zw : tensor<1x2x4x4xi8>, tensor<2x2x1x1xi8>, i32, i32) outs(%init : tensor<1x2x4x4xi32>) -> tensor<1x2x4x4xi32>
  %scale = arith.constant 0.125 : f64
  %y = linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (n, c, h, w)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%acc : tensor<1x2x4x4xi32>) outs(%e : tensor<1x2x4x4xf32>) {
  ^bb0(%in: i32, %out: f32):
    %f = arith.sitofp %in : i32 to f64
    %p = arith.mulf %f, %scale : f64
    %t = arith.truncf %p : f64 to f32
    linalg.yield %t : f32
  } -> tensor<1x2x4x4xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %sy, %zy) {quant_min = -127 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x4x4xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x4x4xi8>
  return %q : tensor<1x2x4x4xi8>
}

// -----

// CHECK-LABEL: func.func @relu6
// CHECK: "torq_hl.conv2d"{{.*}}output_max = 7 : i32, output_min = -5 : i32, output_zp = -5 : i32
func.func @relu6(%x: tensor<1x2x4x4xi8>) -> tensor<1x2x4x4xi8> {
  %zero = arith.constant 0 : i32
  %zx = arith.constant 0 : i32
  %zw = arith.constant 0 : i32
  %sy = arith.constant dense<0.5> : tensor<f32>
  %zy = arith.constant dense<-5> : tensor<i8>
  %w = arith.constant dense<[[[[1]], [[2]]], [[[3]], [[4]]]]> : tensor<2x2x1x1xi8>
  %e = tensor.empty() : tensor<1x2x4x4xf32>
  %ei = tensor.empty() : tensor<1x2x4x4xi32>
  %init = linalg.fill ins(%zero : i32) outs(%ei : tensor<1x2x4x4xi32>) -> tensor<1x2x4x4xi32>
  %acc = linalg.conv_2d_nchw_fchw_q {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x, %w, %zx, %zw : tensor<1x2x4x4xi8>, tensor<2x2x1x1xi8>, i32, i32) outs(%init : tensor<1x2x4x4xi32>) -> tensor<1x2x4x4xi32>
  %scale = arith.constant 0.125 : f64
  %y = linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (n, c, h, w)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%acc : tensor<1x2x4x4xi32>) outs(%e : tensor<1x2x4x4xf32>) {
  ^bb0(%in: i32, %out: f32):
    %f = arith.sitofp %in : i32 to f64
    %p = arith.mulf %f, %scale : f64
    %t = arith.truncf %p : f64 to f32
    linalg.yield %t : f32
  } -> tensor<1x2x4x4xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (n, c, h, w)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y : tensor<1x2x4x4xf32>) outs(%e : tensor<1x2x4x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %lo = arith.constant 0.0 : f32
    %hi = arith.constant 6.0 : f32
    %a = arith.maximumf %in, %lo : f32
    %m = arith.minimumf %a, %hi : f32
    linalg.yield %m : f32
  } -> tensor<1x2x4x4xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%c, %sy, %zy) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x4x4xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x4x4xi8>
  return %q : tensor<1x2x4x4xi8>
}
