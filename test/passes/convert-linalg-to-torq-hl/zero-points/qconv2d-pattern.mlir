// RUN: torq-opt --split-input-file --convert-linalg-to-torq-hl %s | FileCheck %s

// Everything between the integers that go in and those that come out is one operation; nothing else is left.

// CHECK-LABEL: func.func @sandwich
// CHECK: %[[E:.*]] = tensor.empty() : tensor<1x2x4x4xi8>
// CHECK-NEXT: %[[Y:.*]] = "torq_hl.conv2d"(%[[E]],
// CHECK-NEXT: return %[[Y]] : tensor<1x2x4x4xi8>
func.func @sandwich(%x: tensor<1x2x4x4xi8>) -> tensor<1x2x4x4xi8> {
  %zero = arith.constant 0 : i32
  %zx = arith.constant 3 : i32
  %zw = arith.constant 1 : i32
  %sy = arith.constant dense<0.5> : tensor<f32>
  %zy = arith.constant dense<-5> : tensor<i8>
  %w = arith.constant dense<[[[[1]], [[2]]], [[[3]], [[4]]]]> : tensor<2x2x1x1xi8>
  %e = tensor.empty() : tensor<1x2x4x4xf32>
  %ei = tensor.empty() : tensor<1x2x4x4xi32>
  %init = linalg.fill ins(%zero : i32) outs(%ei : tensor<1x2x4x4xi32>) -> tensor<1x2x4x4xi32>
  %acc = linalg.conv_2d_nchw_fchw_q {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x, %w, %zx, %zw : tensor<1x2x4x4xi8>, tensor<2x2x1x1xi8>, i32, i32) outs(%init : tensor<1x2x4x4xi32>) -> tensor<1x2x4x4xi32>
  %b = arith.constant dense<[100, 200]> : tensor<2xi32>
  %sum = linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (c)>, affine_map<(n, c, h, w) -> (n, c, h, w)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%acc, %b : tensor<1x2x4x4xi32>, tensor<2xi32>) outs(%ei : tensor<1x2x4x4xi32>) {
  ^bb0(%in: i32, %bias: i32, %out: i32):
    %r = arith.addi %in, %bias : i32
    linalg.yield %r : i32
  } -> tensor<1x2x4x4xi32>
  %scale = arith.constant 0.125 : f64
  %y = linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (n, c, h, w)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%sum : tensor<1x2x4x4xi32>) outs(%e : tensor<1x2x4x4xf32>) {
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
