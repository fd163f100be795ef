// RUN: torq-opt --split-input-file --convert-linalg-to-torq-hl=explain=true %s | FileCheck %s

// A maximum over volumes: over each slice, with the depth among the channels, then along the depth.

// CHECK-LABEL: func.func @max_pool
// CHECK: %[[X:.*]] = tensor.collapse_shape %arg0 {{\[}}[0], [1, 2], [3], [4]] : tensor<1x2x4x6x6xi8> into tensor<1x8x6x6xi8>
// CHECK: %[[M:.*]] = "torq_hl.maxpool2d"(%{{.*}}, %{{.*}}, %{{.*}}, %[[X]]) {{.*}}kernel = array<i64: 3, 2>{{.*}}pad = array<i64: 0, 0, 1, 0>, stride = array<i64: 1, 2>{{.*}} -> tensor<1x8x5x3xi8>
// CHECK: %[[D:.*]] = "torq_hl.maxpool2d"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) {{.*}}kernel = array<i64: 2, 1>{{.*}}stride = array<i64: 2, 1>{{.*}} -> tensor<1x2x2x15xi8>
// CHECK: tensor.expand_shape {{.*}} into tensor<1x2x2x5x3xi8>
func.func @max_pool(%x: tensor<1x2x4x6x6xi8>) -> tensor<1x2x2x5x3xi8> {
  %least = arith.constant 0xFF800000 : f32
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x4x6x6xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x4x6x6xf32>
  %p = tensor.pad %f low[0, 0, 0, 1, 0] high[0, 0, 0, 0, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index, %m: index):
    tensor.yield %least : f32
  } : tensor<1x2x4x6x6xf32> to tensor<1x2x4x7x6xf32>
  %k = tensor.empty() : tensor<2x3x2xf32>
  %e = tensor.empty() : tensor<1x2x2x5x3xf32>
  %init = linalg.fill ins(%least : f32) outs(%e : tensor<1x2x2x5x3xf32>) -> tensor<1x2x2x5x3xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(n, c, d, h, w, i, j, k) -> (n, c, d * 2 + i, h + j, w * 2 + k)>, affine_map<(n, c, d, h, w, i, j, k) -> (i, j, k)>, affine_map<(n, c, d, h, w, i, j, k) -> (n, c, d, h, w)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%p, %k : tensor<1x2x4x7x6xf32>, tensor<2x3x2xf32>) outs(%init : tensor<1x2x2x5x3xf32>) {
  ^bb0(%in: f32, %window: f32, %out: f32):
    %r = arith.maximumf %in, %out : f32
    linalg.yield %r : f32
  } -> tensor<1x2x2x5x3xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x2x5x3xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x2x5x3xi8>
  return %q : tensor<1x2x2x5x3xi8>
}

// -----

// An average: sums over slices in i16, without their zero point, then along the depth with the scale.

// CHECK-LABEL: func.func @average_pool
// CHECK-DAG: %[[SB:.*]] = arith.constant dense<[20, 1, 20, 1, 20, 1, 20, 1, 20, 1, 20, 1, 20, 1, 20, 1]> : tensor<16xi32>
// CHECK: "torq_hl.depthwise_conv2d"(%{{.*}}, %{{.*}}, %[[SB]], %{{.*}}) {{.*}}shift_factor = 0 : i32{{.*}} -> tensor<1x8x3x3xi16>
// CHECK: "torq_hl.depthwise_conv2d"{{.*}}input_zp = 0 : i32{{.*}} (tensor<1x2x2x9xi8>, tensor<2x1x2x1xi8>, tensor<4xi32>, tensor<1x2x4x9xi16>) -> tensor<1x2x2x9xi8>
func.func @average_pool(%x: tensor<1x2x4x6x6xi8>) -> tensor<1x2x2x3x3xi8> {
  %zero = arith.constant 0.0 : f32
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %et = tensor.empty() : tensor<1x4x6x6x2xi8>
  %t = linalg.transpose ins(%x : tensor<1x2x4x6x6xi8>) outs(%et : tensor<1x4x6x6x2xi8>) permutation = [0, 2, 3, 4, 1]
  %f = "quantized_decomposed.dequantize_per_tensor"(%t, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x4x6x6x2xi8>, tensor<f32>, tensor<i8>) -> tensor<1x4x6x6x2xf32>
  %k = tensor.empty() : tensor<2x2x2xf32>
  %e = tensor.empty() : tensor<1x2x3x3x2xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<1x2x3x3x2xf32>) -> tensor<1x2x3x3x2xf32>
  %sum = linalg.pooling_ndhwc_sum {dilations = dense<1> : vector<3xi64>, strides = dense<2> : vector<3xi64>} ins(%f, %k : tensor<1x4x6x6x2xf32>, tensor<2x2x2xf32>) outs(%init : tensor<1x2x3x3x2xf32>) -> tensor<1x2x3x3x2xf32>
  %em = tensor.empty() : tensor<1x2x2x3x3xf32>
  %m = linalg.transpose ins(%sum : tensor<1x2x3x3x2xf32>) outs(%em : tensor<1x2x2x3x3xf32>) permutation = [0, 4, 1, 2, 3]
  %y = linalg.generic {indexing_maps = [affine_map<(a, b, c, d, e) -> (a, b, c, d, e)>, affine_map<(a, b, c, d, e) -> (a, b, c, d, e)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%m : tensor<1x2x2x3x3xf32>) outs(%em : tensor<1x2x2x3x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %n = arith.constant 8.0 : f32
    %r = arith.divf %in, %n : f32
    linalg.yield %r : f32
  } -> tensor<1x2x2x3x3xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x2x3x3xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x2x3x3xi8>
  return %q : tensor<1x2x2x3x3xi8>
}

// -----

// A convolution: the two slices that a position along the depth meets are channels, and positions are images.

// CHECK-LABEL: func.func @convolution
// CHECK-DAG: %[[W:.*]] = arith.constant dense<2> : tensor<4x6x3x3xi8>
// CHECK: %[[T:.*]] = "torq_hl.transpose"(%{{.*}}, %arg0) {perm = array<i64: 0, 2, 1, 3, 4>}
// CHECK: tensor.extract_slice %{{.*}}[0, 0, 0, 0, 0, 0] [1, 2, 1, 3, 6, 6] [1, 2, 1, 1, 1, 1]
// CHECK: tensor.extract_slice %{{.*}}[0, 1, 0, 0, 0, 0] [1, 2, 1, 3, 6, 6] [1, 2, 1, 1, 1, 1]
// CHECK: tensor.concat dim(3) {{.*}} -> tensor<1x2x1x6x6x6xi8>
// CHECK: "torq_hl.conv2d"(%{{.*}}, %[[W]], %{{.*}}, %{{.*}}) {{.*}}stride = array<i64: 1, 2>{{.*}}tensor<2x6x6x6xi8>) -> tensor<2x4x4x2xi8>
// CHECK: %[[Y:.*]] = "torq_hl.transpose"{{.*}}perm = array<i64: 0, 2, 1, 3, 4>{{.*}} -> tensor<1x4x2x4x2xi8>
// CHECK-NEXT: return %[[Y]]
func.func @convolution(%x: tensor<1x3x4x6x6xi8>) -> tensor<1x4x2x4x2xi8> {
  %zero = arith.constant 0 : i32
  %zx = arith.constant 3 : i32
  %scale = arith.constant 0.125 : f64
  %sy = arith.constant dense<0.5> : tensor<f32>
  %zy = arith.constant dense<-5> : tensor<i8>
  %w = arith.constant dense<2> : tensor<4x3x2x3x3xi8>
  %e = tensor.empty() : tensor<1x4x2x4x2xf32>
  %ei = tensor.empty() : tensor<1x4x2x4x2xi32>
  %init = linalg.fill ins(%zero : i32) outs(%ei : tensor<1x4x2x4x2xi32>) -> tensor<1x4x2x4x2xi32>
  %acc = linalg.generic {indexing_maps = [affine_map<(n, o, d, h, w, c, i, j, k) -> (n, c, d * 2 + i, h + j, w * 2 + k)>, affine_map<(n, o, d, h, w, c, i, j, k) -> (o, c, i, j, k)>, affine_map<(n, o, d, h, w, c, i, j, k) -> (n, o, d, h, w)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]} ins(%x, %w : tensor<1x3x4x6x6xi8>, tensor<4x3x2x3x3xi8>) outs(%init : tensor<1x4x2x4x2xi32>) {
  ^bb0(%a: i8, %b: i8, %out: i32):
    %ae = arith.extsi %a : i8 to i32
    %ac = arith.subi %ae, %zx : i32
    %be = arith.extsi %b : i8 to i32
    %p = arith.muli %ac, %be : i32
    %r = arith.addi %out, %p : i32
    linalg.yield %r : i32
  } -> tensor<1x4x2x4x2xi32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b, c, d, e) -> (a, b, c, d, e)>, affine_map<(a, b, c, d, e) -> (a, b, c, d, e)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%acc : tensor<1x4x2x4x2xi32>) outs(%e : tensor<1x4x2x4x2xf32>) {
  ^bb0(%in: i32, %out: f32):
    %f = arith.sitofp %in : i32 to f64
    %p = arith.mulf %f, %scale : f64
    %t = arith.truncf %p : f64 to f32
    linalg.yield %t : f32
  } -> tensor<1x4x2x4x2xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %sy, %zy) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x4x2x4x2xf32>, tensor<f32>, tensor<i8>) -> tensor<1x4x2x4x2xi8>
  return %q : tensor<1x4x2x4x2xi8>
}
