// RUN: torq-opt --split-input-file --convert-linalg-to-torq-hl=explain=true %s | FileCheck %s

// Channels last between transpositions, as torch-mlir lowers a quantized depthwise convolution: the layout changes and
// the padding with the zero point disappear.

// CHECK-LABEL: func.func @depthwise_channels_last
// CHECK-DAG: %[[W:.*]] = arith.constant dense<{{\[\[\[\[}}1, 3]]], {{\[\[\[}}2, 4]]]]> : tensor<2x1x1x2xi8>
// CHECK: %[[Y:.*]] = "torq_hl.depthwise_conv2d"(%{{.*}}, %[[W]], %{{.*}}, %arg0) {{.*}}groups = 2 : i32, input_zp = 3 : i32{{.*}}pad = array<i64: 1, 0, 0, 0>
// CHECK-NEXT: return %[[Y]]
func.func @depthwise_channels_last(%x: tensor<1x2x4x4xi8>) -> tensor<1x2x4x4xi8> {
  %zero = arith.constant 0 : i32
  %zx = arith.constant 3 : i32
  %pad = arith.constant 3 : i8
  %acc_scale = arith.constant 0.125 : f64
  %sy = arith.constant 0.5 : f64
  %w = arith.constant dense<[[[1, 2], [3, 4]]]> : tensor<1x2x2xi8>
  %padded = tensor.pad %x low[0, 0, 0, 1] high[0, 0, 0, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %pad : i8
  } : tensor<1x2x4x4xi8> to tensor<1x2x4x5xi8>
  %et = tensor.empty() : tensor<1x4x5x2xi8>
  %xt = linalg.transpose ins(%padded : tensor<1x2x4x5xi8>) outs(%et : tensor<1x4x5x2xi8>) permutation = [0, 2, 3, 1]
  %ei = tensor.empty() : tensor<1x4x4x2xi32>
  %init = linalg.fill ins(%zero : i32) outs(%ei : tensor<1x4x4x2xi32>) -> tensor<1x4x4x2xi32>
  %c = linalg.depthwise_conv_2d_nhwc_hwc_q {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%xt, %w, %zx, %zero : tensor<1x4x5x2xi8>, tensor<1x2x2xi8>, i32, i32) outs(%init : tensor<1x4x4x2xi32>) -> tensor<1x4x4x2xi32>
  %ea = tensor.empty() : tensor<1x2x4x4xi32>
  %acc = linalg.transpose ins(%c : tensor<1x4x4x2xi32>) outs(%ea : tensor<1x2x4x4xi32>) permutation = [0, 3, 1, 2]
  %ye = tensor.empty() : tensor<1x2x4x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%acc : tensor<1x2x4x4xi32>) outs(%ye : tensor<1x2x4x4xf32>) {
  ^bb0(%in: i32, %out: f32):
    %s = arith.truncf %acc_scale : f64 to f32
    %f = arith.sitofp %in : i32 to f32
    %p = arith.mulf %f, %s : f32
    linalg.yield %p : f32
  } -> tensor<1x2x4x4xf32>
  %qe = tensor.empty() : tensor<1x2x4x4xi8>
  %q = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y : tensor<1x2x4x4xf32>) outs(%qe : tensor<1x2x4x4xi8>) {
  ^bb0(%in: f32, %out: i8):
    %s = arith.truncf %sy : f64 to f32
    %zp = arith.constant -4.0 : f32
    %lo = arith.constant -128.0 : f32
    %hi = arith.constant 127.0 : f32
    %a = arith.divf %in, %s : f32
    %r = math.roundeven %a : f32
    %z = arith.addf %r, %zp : f32
    %m = arith.maximumf %z, %lo : f32
    %n = arith.minimumf %m, %hi : f32
    %i = arith.fptosi %n : f32 to i8
    linalg.yield %i : i8
  } -> tensor<1x2x4x4xi8>
  return %q : tensor<1x2x4x4xi8>
}

// -----

// Channels last throughout: transposed around the operation.

// CHECK-LABEL: func.func @channels_last
// CHECK-DAG: arith.constant dense<1> : tensor<5x3x1x1xi8>
// CHECK: %[[X:.*]] = "torq_hl.transpose"(%{{.*}}, %arg0) {perm = array<i64: 0, 3, 1, 2>} : {{.*}} -> tensor<1x3x4x6xi8>
// CHECK: %[[Y:.*]] = "torq_hl.conv2d"(%{{.*}}, %{{.*}}, %{{.*}}, %[[X]]) {{.*}} -> tensor<1x5x4x6xi8>
// CHECK: "torq_hl.transpose"(%{{.*}}, %[[Y]]) {perm = array<i64: 0, 2, 3, 1>} : {{.*}} -> tensor<1x4x6x5xi8>
func.func @channels_last(%x: tensor<1x4x6x3xi8>) -> tensor<1x4x6x5xi8> {
  %zero = arith.constant 0 : i32
  %zx = arith.constant 3 : i32
  %acc_scale = arith.constant 0.125 : f64
  %sy = arith.constant 0.5 : f64
  %w = arith.constant dense<1> : tensor<1x1x3x5xi8>
  %ei = tensor.empty() : tensor<1x4x6x5xi32>
  %init = linalg.fill ins(%zero : i32) outs(%ei : tensor<1x4x6x5xi32>) -> tensor<1x4x6x5xi32>
  %acc = linalg.conv_2d_nhwc_hwcf_q {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x, %w, %zx, %zero : tensor<1x4x6x3xi8>, tensor<1x1x3x5xi8>, i32, i32) outs(%init : tensor<1x4x6x5xi32>) -> tensor<1x4x6x5xi32>
  %ye = tensor.empty() : tensor<1x4x6x5xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%acc : tensor<1x4x6x5xi32>) outs(%ye : tensor<1x4x6x5xf32>) {
  ^bb0(%in: i32, %out: f32):
    %s = arith.truncf %acc_scale : f64 to f32
    %f = arith.sitofp %in : i32 to f32
    %p = arith.mulf %f, %s : f32
    linalg.yield %p : f32
  } -> tensor<1x4x6x5xf32>
  %qe = tensor.empty() : tensor<1x4x6x5xi8>
  %q = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y : tensor<1x4x6x5xf32>) outs(%qe : tensor<1x4x6x5xi8>) {
  ^bb0(%in: f32, %out: i8):
    %s = arith.truncf %sy : f64 to f32
    %zp = arith.constant -4.0 : f32
    %lo = arith.constant -128.0 : f32
    %hi = arith.constant 127.0 : f32
    %a = arith.divf %in, %s : f32
    %r = math.roundeven %a : f32
    %z = arith.addf %r, %zp : f32
    %m = arith.maximumf %z, %lo : f32
    %n = arith.minimumf %m, %hi : f32
    %i = arith.fptosi %n : f32 to i8
    linalg.yield %i : i8
  } -> tensor<1x4x6x5xi8>
  return %q : tensor<1x4x6x5xi8>
}

// -----

// Three spatial dimensions, channels last: the positions along the depth become images of the batch.

// CHECK-LABEL: func.func @conv3d
// CHECK: "torq_hl.transpose"(%{{.*}}, %arg0) {perm = array<i64: 0, 4, 1, 2, 3>}
// CHECK: "torq_hl.conv2d"{{.*}} (tensor<4x5x4x4xi8>, tensor<5x3x1x1xi8>, tensor<10xi32>, tensor<4x3x4x4xi8>) -> tensor<4x5x4x4xi8>
// CHECK: "torq_hl.transpose"{{.*}} {perm = array<i64: 0, 2, 3, 4, 1>}
func.func @conv3d(%x: tensor<1x4x4x4x3xi8>) -> tensor<1x4x4x4x5xi8> {
  %zero = arith.constant 0 : i32
  %acc_scale = arith.constant 0.125 : f64
  %sy = arith.constant 0.5 : f64
  %w = arith.constant dense<1> : tensor<1x1x1x3x5xi8>
  %ei = tensor.empty() : tensor<1x4x4x4x5xi32>
  %init = linalg.fill ins(%zero : i32) outs(%ei : tensor<1x4x4x4x5xi32>) -> tensor<1x4x4x4x5xi32>
  %acc = linalg.conv_3d_ndhwc_dhwcf_q {dilations = dense<1> : vector<3xi64>, strides = dense<1> : vector<3xi64>} ins(%x, %w, %zero, %zero : tensor<1x4x4x4x3xi8>, tensor<1x1x1x3x5xi8>, i32, i32) outs(%init : tensor<1x4x4x4x5xi32>) -> tensor<1x4x4x4x5xi32>
  %ye = tensor.empty() : tensor<1x4x4x4x5xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b, c, d, e) -> (a, b, c, d, e)>, affine_map<(a, b, c, d, e) -> (a, b, c, d, e)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%acc : tensor<1x4x4x4x5xi32>) outs(%ye : tensor<1x4x4x4x5xf32>) {
  ^bb0(%in: i32, %out: f32):
    %s = arith.truncf %acc_scale : f64 to f32
    %f = arith.sitofp %in : i32 to f32
    %p = arith.mulf %f, %s : f32
    linalg.yield %p : f32
  } -> tensor<1x4x4x4x5xf32>
  %qe = tensor.empty() : tensor<1x4x4x4x5xi8>
  %q = linalg.generic {indexing_maps = [affine_map<(a, b, c, d, e) -> (a, b, c, d, e)>, affine_map<(a, b, c, d, e) -> (a, b, c, d, e)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%y : tensor<1x4x4x4x5xf32>) outs(%qe : tensor<1x4x4x4x5xi8>) {
  ^bb0(%in: f32, %out: i8):
    %s = arith.truncf %sy : f64 to f32
    %zp = arith.constant -4.0 : f32
    %lo = arith.constant -128.0 : f32
    %hi = arith.constant 127.0 : f32
    %a = arith.divf %in, %s : f32
    %r = math.roundeven %a : f32
    %z = arith.addf %r, %zp : f32
    %m = arith.maximumf %z, %lo : f32
    %n = arith.minimumf %m, %hi : f32
    %i = arith.fptosi %n : f32 to i8
    linalg.yield %i : i8
  } -> tensor<1x4x4x4x5xi8>
  return %q : tensor<1x4x4x4x5xi8>
}

// -----

// Run-time weights: their zero point is subtracted, and -3 times their sums go into the bias.

// CHECK-LABEL: func.func @runtime_weights
// CHECK-DAG: %[[M:.*]] = arith.constant dense<1073741824> : tensor<5x1xi32>
// CHECK: %[[W:.*]] = linalg.generic {{.*}} ins(%arg1 : tensor<5x3x1x1xi8>) outs(%{{.*}} : tensor<5x3x1x1xi16>)
// CHECK: arith.subi %{{.*}}, %c7_i16
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "reduction", "reduction"]} ins(%[[W]] : tensor<5x3x1x1xi16>) outs(%{{.*}} : tensor<5xi32>)
// CHECK: %[[C:.*]] = linalg.generic {{.*}} ins(%[[SUM]] : tensor<5xi32>)
// CHECK: arith.muli %{{.*}}, %c-3_i32
// CHECK: %[[B:.*]] = tensor.expand_shape %[[C]]
// CHECK: %[[P:.*]] = tensor.concat dim(1) %[[B]], %[[M]]
// CHECK: %[[SB:.*]] = tensor.collapse_shape %[[P]]
// CHECK: "torq_hl.conv2d"(%{{.*}}, %[[W]], %[[SB]], %arg0)
func.func @runtime_weights(%x: tensor<1x3x4x6xi8>, %w: tensor<5x3x1x1xi8>) -> tensor<1x5x4x6xi8> {
  %zero = arith.constant 0 : i32
  %zx = arith.constant 3 : i32
  %zw = arith.constant 7 : i32
  %acc_scale = arith.constant 0.125 : f64
  %sy = arith.constant 0.5 : f64
  %ei = tensor.empty() : tensor<1x5x4x6xi32>
  %init = linalg.fill ins(%zero : i32) outs(%ei : tensor<1x5x4x6xi32>) -> tensor<1x5x4x6xi32>
  %acc = linalg.conv_2d_nchw_fchw_q {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x, %w, %zx, %zw : tensor<1x3x4x6xi8>, tensor<5x3x1x1xi8>, i32, i32) outs(%init : tensor<1x5x4x6xi32>) -> tensor<1x5x4x6xi32>
  %ye = tensor.empty() : tensor<1x5x4x6xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%acc : tensor<1x5x4x6xi32>) outs(%ye : tensor<1x5x4x6xf32>) {
  ^bb0(%in: i32, %out: f32):
    %s = arith.truncf %acc_scale : f64 to f32
    %f = arith.sitofp %in : i32 to f32
    %p = arith.mulf %f, %s : f32
    linalg.yield %p : f32
  } -> tensor<1x5x4x6xf32>
  %qe = tensor.empty() : tensor<1x5x4x6xi8>
  %q = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y : tensor<1x5x4x6xf32>) outs(%qe : tensor<1x5x4x6xi8>) {
  ^bb0(%in: f32, %out: i8):
    %s = arith.truncf %sy : f64 to f32
    %zp = arith.constant -4.0 : f32
    %lo = arith.constant -128.0 : f32
    %hi = arith.constant 127.0 : f32
    %a = arith.divf %in, %s : f32
    %r = math.roundeven %a : f32
    %z = arith.addf %r, %zp : f32
    %m = arith.maximumf %z, %lo : f32
    %n = arith.minimumf %m, %hi : f32
    %i = arith.fptosi %n : f32 to i8
    linalg.yield %i : i8
  } -> tensor<1x5x4x6xi8>
  return %q : tensor<1x5x4x6xi8>
}

// -----

// Both zero points are zero: nothing is emitted for them.

// CHECK-LABEL: func.func @runtime_weights_symmetric
// CHECK-NOT: linalg.
// CHECK: %[[SB:.*]] = arith.constant dense<[0, 1073741824, 0, 1073741824, 0, 1073741824, 0, 1073741824, 0, 1073741824]>
// CHECK-NOT: linalg.
// CHECK: "torq_hl.conv2d"(%{{.*}}, %arg1, %[[SB]], %arg0)
func.func @runtime_weights_symmetric(%x: tensor<1x3x4x6xi8>, %w: tensor<5x3x1x1xi8>) -> tensor<1x5x4x6xi8> {
  %zero = arith.constant 0 : i32
  %zx = arith.constant 0 : i32
  %zw = arith.constant 0 : i32
  %acc_scale = arith.constant 0.125 : f64
  %sy = arith.constant 0.5 : f64
  %ei = tensor.empty() : tensor<1x5x4x6xi32>
  %init = linalg.fill ins(%zero : i32) outs(%ei : tensor<1x5x4x6xi32>) -> tensor<1x5x4x6xi32>
  %acc = linalg.conv_2d_nchw_fchw_q {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x, %w, %zx, %zw : tensor<1x3x4x6xi8>, tensor<5x3x1x1xi8>, i32, i32) outs(%init : tensor<1x5x4x6xi32>) -> tensor<1x5x4x6xi32>
  %ye = tensor.empty() : tensor<1x5x4x6xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%acc : tensor<1x5x4x6xi32>) outs(%ye : tensor<1x5x4x6xf32>) {
  ^bb0(%in: i32, %out: f32):
    %s = arith.truncf %acc_scale : f64 to f32
    %f = arith.sitofp %in : i32 to f32
    %p = arith.mulf %f, %s : f32
    linalg.yield %p : f32
  } -> tensor<1x5x4x6xf32>
  %qe = tensor.empty() : tensor<1x5x4x6xi8>
  %q = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y : tensor<1x5x4x6xf32>) outs(%qe : tensor<1x5x4x6xi8>) {
  ^bb0(%in: f32, %out: i8):
    %s = arith.truncf %sy : f64 to f32
    %zp = arith.constant -4.0 : f32
    %lo = arith.constant -128.0 : f32
    %hi = arith.constant 127.0 : f32
    %a = arith.divf %in, %s : f32
    %r = math.roundeven %a : f32
    %z = arith.addf %r, %zp : f32
    %m = arith.maximumf %z, %lo : f32
    %n = arith.minimumf %m, %hi : f32
    %i = arith.fptosi %n : f32 to i8
    linalg.yield %i : i8
  } -> tensor<1x5x4x6xi8>
  return %q : tensor<1x5x4x6xi8>
}

// -----

// Groups of a convolution over one dimension, which torch-mlir does as one over two: the second is of size 1.

// CHECK-LABEL: func.func @groups_of_one_dimension
// CHECK: %[[X:.*]] = tensor.expand_shape %arg0 {{.*}} into tensor<1x4x6x1xi8>
// CHECK: %[[Y:.*]] = "torq_hl.conv2d"(%{{.*}}, %{{.*}}, %{{.*}}, %[[X]]) {{.*}}groups = 2 : i32{{.*}}pad = array<i64: 0, 0, 2, 0>{{.*}}tensor<6x2x3x1xi8>{{.*}} -> tensor<1x6x6x1xi8>
// CHECK: tensor.collapse_shape %[[Y]] {{.*}} into tensor<1x6x6xi8>
func.func @groups_of_one_dimension(%x: tensor<1x4x6xi8>) -> tensor<1x6x6xi8> {
  %zero = arith.constant 0 : i32
  %zx = arith.constant 3 : i32
  %pad = arith.constant 3 : i8
  %acc_scale = arith.constant 0.125 : f32
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %w = arith.constant dense<1> : tensor<2x3x2x3x1xi8>
  %padded = tensor.pad %x low[0, 0, 2] high[0, 0, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %pad : i8
  } : tensor<1x4x6xi8> to tensor<1x4x8xi8>
  %xg = tensor.expand_shape %padded [[0], [1, 2], [3, 4]] output_shape [1, 2, 2, 8, 1] : tensor<1x4x8xi8> into tensor<1x2x2x8x1xi8>
  %e = tensor.empty() : tensor<1x2x3x6x1xi32>
  %init = linalg.fill ins(%zero : i32) outs(%e : tensor<1x2x3x6x1xi32>) -> tensor<1x2x3x6x1xi32>
  %c = linalg.conv_2d_ngchw_gfchw_q {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%xg, %w, %zx, %zero : tensor<1x2x2x8x1xi8>, tensor<2x3x2x3x1xi8>, i32, i32) outs(%init : tensor<1x2x3x6x1xi32>) -> tensor<1x2x3x6x1xi32>
  %acc = tensor.collapse_shape %c [[0], [1, 2], [3, 4]] : tensor<1x2x3x6x1xi32> into tensor<1x6x6xi32>
  %ye = tensor.empty() : tensor<1x6x6xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, b, c)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%acc : tensor<1x6x6xi32>) outs(%ye : tensor<1x6x6xf32>) {
  ^bb0(%in: i32, %out: f32):
    %f = arith.sitofp %in : i32 to f32
    %p = arith.mulf %f, %acc_scale : f32
    linalg.yield %p : f32
  } -> tensor<1x6x6xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x6x6xf32>, tensor<f32>, tensor<i8>) -> tensor<1x6x6xi8>
  return %q : tensor<1x6x6xi8>
}
