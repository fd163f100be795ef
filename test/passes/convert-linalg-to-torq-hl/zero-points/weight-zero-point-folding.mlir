// RUN: torq-opt --split-input-file --convert-linalg-to-torq-hl %s | FileCheck %s

// i8 weights become i16: -128 less 127 is -255.

// CHECK-LABEL: func.func @widest
// CHECK: arith.constant dense<-255> : tensor<2x2x1x1xi16>
func.func @widest(%x: tensor<1x2x4x4xi8>) -> tensor<1x2x4x4xi8> {
  %zero = arith.constant 0 : i32
  %zx = arith.constant 0 : i32
  %zw = arith.constant 127 : i32
  %sy = arith.constant dense<0.5> : tensor<f32>
  %zy = arith.constant dense<-5> : tensor<i8>
  %w = arith.constant dense<-128> : tensor<2x2x1x1xi8>
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

// -----

// i8 weights stay i8 when there is nothing to subtract.

// CHECK-LABEL: func.func @nothing
// CHECK: arith.constant dense<-128> : tensor<2x2x1x1xi8>
// CHECK-NOT: i16
func.func @nothing(%x: tensor<1x2x4x4xi8>) -> tensor<1x2x4x4xi8> {
  %zero = arith.constant 0 : i32
  %zx = arith.constant 0 : i32
  %zw = arith.constant 0 : i32
  %sy = arith.constant dense<0.5> : tensor<f32>
  %zy = arith.constant dense<-5> : tensor<i8>
  %w = arith.constant dense<-128> : tensor<2x2x1x1xi8>
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
