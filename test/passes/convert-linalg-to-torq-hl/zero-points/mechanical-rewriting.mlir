// RUN: torq-opt --split-input-file --convert-linalg-to-torq-hl %s | FileCheck %s

// sum (x - zx) * (w - zw) = sum x * (w - zw) - zx * sum (w - zw): one contraction of the input as it is stored, weights
// less their zero point, and a constant for each channel. With zx = 3, zw = 1: weights 0 1 / 2 3, constants -3 * 1 and -3 * 5.

// CHECK-LABEL: func.func @both_zero_points
// CHECK-DAG: %[[W:.*]] = arith.constant dense<{{[^0-9]*0[^0-9]*1[^0-9]*2[^0-9]*3[^0-9]*}}> : tensor<2x2x1x1xi16>
// CHECK-DAG: %[[SB:.*]] = arith.constant dense<[-3, 1073741824, -15, 1073741824]> : tensor<4xi32>
// CHECK: "torq_hl.conv2d"(%{{.*}}, %[[W]], %[[SB]], %arg0) {{.*}}input_zp = 3 : i32{{.*}}weight_zp = 0 : i32
func.func @both_zero_points(%x: tensor<1x2x4x4xi8>) -> tensor<1x2x4x4xi8> {
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
  %scale = arith.constant 0.125 : f64
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
