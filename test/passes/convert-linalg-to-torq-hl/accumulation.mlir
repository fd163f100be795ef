// RUN: torq-opt --split-input-file --convert-linalg-to-torq-hl=explain=true %s | FileCheck %s

// As torch-mlir's own fusion leaves it: the i32 bias is the initial value, quantized from the dequantized constant, and
// both scales are f64 products rounded in the body. 8 * 0.25 / 0.125 is 16; the multiplier is that of 0.125 / 0.5.

// CHECK-LABEL: func.func @initial_bias
// CHECK-DAG: %[[SB:.*]] = arith.constant dense<[13, 1073741824, -35, 1073741824]> : tensor<4xi32>
// CHECK: "torq_hl.conv2d"(%{{.*}}, %{{.*}}, %[[SB]], %arg0)
// CHECK-NOT: linalg.
func.func @initial_bias(%x: tensor<1x3x4x4xi8>) -> tensor<1x2x4x4xi8> {
  %zx = arith.constant 1 : i32
  %zw = arith.constant 0 : i32
  %acc_scale = arith.constant 0.125 : f64
  %bias_scale = arith.constant 0.25 : f64
  %sy = arith.constant 0.5 : f64
  %w = arith.constant dense<1> : tensor<2x3x1x1xi8>
  %b = arith.constant dense<[8, -16]> : tensor<2xi32>
  %bfe = tensor.empty() : tensor<2xf32>
  %bf = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]} ins(%b : tensor<2xi32>) outs(%bfe : tensor<2xf32>) {
  ^bb0(%in: i32, %out: f32):
    %s = arith.truncf %bias_scale : f64 to f32
    %f = arith.sitofp %in : i32 to f32
    %p = arith.mulf %f, %s : f32
    linalg.yield %p : f32
  } -> tensor<2xf32>
  %bie = tensor.empty() : tensor<2xi32>
  %bi = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]} ins(%bf : tensor<2xf32>) outs(%bie : tensor<2xi32>) {
  ^bb0(%in: f32, %out: i32):
    %s = arith.truncf %acc_scale : f64 to f32
    %zp = arith.constant 0.0 : f32
    %lo = arith.constant -2147483648.0 : f32
    %hi = arith.constant 2147483648.0 : f32
    %a = arith.divf %in, %s : f32
    %r = math.roundeven %a : f32
    %z = arith.addf %r, %zp : f32
    %m = arith.maximumf %z, %lo : f32
    %n = arith.minimumf %m, %hi : f32
    %i = arith.fptosi %n : f32 to i32
    linalg.yield %i : i32
  } -> tensor<2xi32>
  %ei = tensor.empty() : tensor<1x2x4x4xi32>
  %init = linalg.broadcast ins(%bi : tensor<2xi32>) outs(%ei : tensor<1x2x4x4xi32>) dimensions = [0, 2, 3]
  %acc = linalg.conv_2d_nchw_fchw_q {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x, %w, %zx, %zw : tensor<1x3x4x4xi8>, tensor<2x3x1x1xi8>, i32, i32) outs(%init : tensor<1x2x4x4xi32>) -> tensor<1x2x4x4xi32>
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

// An initial value that is no bias is not dropped.

// CHECK-LABEL: func.func @initial_tensor
// CHECK-NOT: torq_hl.conv2d
// CHECK: torq_hl.refusal = "the initial value of the accumulator is neither a number nor a bias
func.func @initial_tensor(%x: tensor<1x3x4x4xi8>, %init: tensor<1x2x4x4xi32>) -> tensor<1x2x4x4xi8> {
  %zx = arith.constant 1 : i32
  %zw = arith.constant 0 : i32
  %acc_scale = arith.constant 0.125 : f64
  %sy = arith.constant 0.5 : f64
  %w = arith.constant dense<1> : tensor<2x3x1x1xi8>
  %acc = linalg.conv_2d_nchw_fchw_q {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x, %w, %zx, %zw : tensor<1x3x4x4xi8>, tensor<2x3x1x1xi8>, i32, i32) outs(%init : tensor<1x2x4x4xi32>) -> tensor<1x2x4x4xi32>
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

// A scale of one leaves no multiplication and no division behind.

// CHECK-LABEL: func.func @scales_of_one
// CHECK: %[[SB:.*]] = arith.constant dense<[13, 268435456, -35, 268435456]> : tensor<4xi32>
// CHECK: "torq_hl.conv2d"(%{{.*}}, %{{.*}}, %[[SB]], %arg0) {{.*}}shift_factor = 28 : i32
func.func @scales_of_one(%x: tensor<1x3x4x4xi8>) -> tensor<1x2x4x4xi8> {
  %zx = arith.constant 1 : i32
  %zw = arith.constant 0 : i32
  %acc_scale = arith.constant 0.125 : f64
  %bias_scale = arith.constant 0.25 : f64
  %sy = arith.constant 0.5 : f64
  %w = arith.constant dense<1> : tensor<2x3x1x1xi8>
  %b = arith.constant dense<[8, -16]> : tensor<2xi32>
  %bfe = tensor.empty() : tensor<2xf32>
  %bf = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]} ins(%b : tensor<2xi32>) outs(%bfe : tensor<2xf32>) {
  ^bb0(%in: i32, %out: f32):
    %s = arith.truncf %bias_scale : f64 to f32
    %f = arith.sitofp %in : i32 to f32
    %p = arith.mulf %f, %s : f32
    linalg.yield %p : f32
  } -> tensor<2xf32>
  %bie = tensor.empty() : tensor<2xi32>
  %bi = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]} ins(%bf : tensor<2xf32>) outs(%bie : tensor<2xi32>) {
  ^bb0(%in: f32, %out: i32):
    %s = arith.truncf %acc_scale : f64 to f32
    %zp = arith.constant 0.0 : f32
    %lo = arith.constant -2147483648.0 : f32
    %hi = arith.constant 2147483648.0 : f32
    %a = arith.divf %in, %s : f32
    %r = math.roundeven %a : f32
    %z = arith.addf %r, %zp : f32
    %m = arith.maximumf %z, %lo : f32
    %n = arith.minimumf %m, %hi : f32
    %i = arith.fptosi %n : f32 to i32
    linalg.yield %i : i32
  } -> tensor<2xi32>
  %ei = tensor.empty() : tensor<1x2x4x4xi32>
  %init = linalg.broadcast ins(%bi : tensor<2xi32>) outs(%ei : tensor<1x2x4x4xi32>) dimensions = [0, 2, 3]
  %acc = linalg.conv_2d_nchw_fchw_q {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x, %w, %zx, %zw : tensor<1x3x4x4xi8>, tensor<2x3x1x1xi8>, i32, i32) outs(%init : tensor<1x2x4x4xi32>) -> tensor<1x2x4x4xi32>
  %ye = tensor.empty() : tensor<1x2x4x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%acc : tensor<1x2x4x4xi32>) outs(%ye : tensor<1x2x4x4xf32>) {
  ^bb0(%in: i32, %out: f32):
    %f = arith.sitofp %in : i32 to f32
    linalg.yield %f : f32
  } -> tensor<1x2x4x4xf32>
  %qe = tensor.empty() : tensor<1x2x4x4xi8>
  %q = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y : tensor<1x2x4x4xf32>) outs(%qe : tensor<1x2x4x4xi8>) {
  ^bb0(%in: f32, %out: i8):
    %zp = arith.constant -4.0 : f32
    %lo = arith.constant -128.0 : f32
    %hi = arith.constant 127.0 : f32
    %r = math.roundeven %in : f32
    %z = arith.addf %r, %zp : f32
    %m = arith.maximumf %z, %lo : f32
    %n = arith.minimumf %m, %hi : f32
    %i = arith.fptosi %n : f32 to i8
    linalg.yield %i : i8
  } -> tensor<1x2x4x4xi8>
  return %q : tensor<1x2x4x4xi8>
}

// -----

// The bias of one channel: a tensor of one element, as a bias of several.

// CHECK-LABEL: func.func @bias_of_one_channel
// CHECK: %[[SB:.*]] = arith.constant dense<[100, 1073741824]> : tensor<2xi32>
// CHECK: "torq_hl.fully_connected"(%{{.*}}, %{{.*}}, %[[SB]], %arg0)
func.func @bias_of_one_channel(%x: tensor<2x3xi8>) -> tensor<2x1xi8> {
  %zero = arith.constant 0 : i32
  %acc_scale = arith.constant 0.125 : f32
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %w = arith.constant dense<[[1], [2], [3]]> : tensor<3x1xi8>
  %b = arith.constant dense<100> : tensor<1xi32>
  %e = tensor.empty() : tensor<2x1xi32>
  %init = linalg.fill ins(%zero : i32) outs(%e : tensor<2x1xi32>) -> tensor<2x1xi32>
  %c = linalg.quantized_matmul ins(%x, %w, %zero, %zero : tensor<2x3xi8>, tensor<3x1xi8>, i32, i32) outs(%init : tensor<2x1xi32>) -> tensor<2x1xi32>
  %acc = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%c, %b : tensor<2x1xi32>, tensor<1xi32>) outs(%e : tensor<2x1xi32>) {
  ^bb0(%in: i32, %bias: i32, %out: i32):
    %r = arith.addi %in, %bias : i32
    linalg.yield %r : i32
  } -> tensor<2x1xi32>
  %ye = tensor.empty() : tensor<2x1xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%acc : tensor<2x1xi32>) outs(%ye : tensor<2x1xf32>) {
  ^bb0(%in: i32, %out: f32):
    %f = arith.sitofp %in : i32 to f32
    %p = arith.mulf %f, %acc_scale : f32
    linalg.yield %p : f32
  } -> tensor<2x1xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<2x1xf32>, tensor<f32>, tensor<i8>) -> tensor<2x1xi8>
  return %q : tensor<2x1xi8>
}

// -----

// 128 * 126 * 133152 is just below 2^31.

// CHECK-LABEL: func.func @greatest_sum
// CHECK: "torq_hl.fully_connected"
func.func @greatest_sum(%x: tensor<1x133152xi8>) -> tensor<1x1xi8> {
  %zero = arith.constant 0 : i32
  %zw = arith.constant 1 : i32
  %acc_scale = arith.constant 0.125 : f32
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %w = arith.constant dense<127> : tensor<133152x1xi8>
  %e = tensor.empty() : tensor<1x1xi32>
  %init = linalg.fill ins(%zero : i32) outs(%e : tensor<1x1xi32>) -> tensor<1x1xi32>
  %c = linalg.quantized_matmul ins(%x, %w, %zero, %zw : tensor<1x133152xi8>, tensor<133152x1xi8>, i32, i32) outs(%init : tensor<1x1xi32>) -> tensor<1x1xi32>
  %ye = tensor.empty() : tensor<1x1xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%c : tensor<1x1xi32>) outs(%ye : tensor<1x1xf32>) {
  ^bb0(%in: i32, %out: f32):
    %f = arith.sitofp %in : i32 to f32
    %p = arith.mulf %f, %acc_scale : f32
    linalg.yield %p : f32
  } -> tensor<1x1xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x1xf32>, tensor<f32>, tensor<i8>) -> tensor<1x1xi8>
  return %q : tensor<1x1xi8>
}

// -----

// One product more could leave i32.

// CHECK-LABEL: func.func @sum_beyond_i32
// CHECK-NOT: torq_hl.fully_connected
// CHECK: torq_hl.refusal = "the i32 accumulator of linalg.quantized_matmul could reach 2147491584", torq_hl.refused_by = "convert weighted"
func.func @sum_beyond_i32(%x: tensor<1x133153xi8>) -> tensor<1x1xi8> {
  %zero = arith.constant 0 : i32
  %zw = arith.constant 1 : i32
  %acc_scale = arith.constant 0.125 : f32
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %w = arith.constant dense<127> : tensor<133153x1xi8>
  %e = tensor.empty() : tensor<1x1xi32>
  %init = linalg.fill ins(%zero : i32) outs(%e : tensor<1x1xi32>) -> tensor<1x1xi32>
  %c = linalg.quantized_matmul ins(%x, %w, %zero, %zw : tensor<1x133153xi8>, tensor<133153x1xi8>, i32, i32) outs(%init : tensor<1x1xi32>) -> tensor<1x1xi32>
  %ye = tensor.empty() : tensor<1x1xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%c : tensor<1x1xi32>) outs(%ye : tensor<1x1xf32>) {
  ^bb0(%in: i32, %out: f32):
    %f = arith.sitofp %in : i32 to f32
    %p = arith.mulf %f, %acc_scale : f32
    linalg.yield %p : f32
  } -> tensor<1x1xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x1xf32>, tensor<f32>, tensor<i8>) -> tensor<1x1xi8>
  return %q : tensor<1x1xi8>
}

// -----

// Of weights known at run time, the type decides: 128 * 129 * 131072.

// CHECK-LABEL: func.func @run_time_sum_beyond_i32
// CHECK-NOT: torq_hl.matmul
// CHECK: torq_hl.refusal = "the i32 accumulator of linalg.quantized_matmul could reach 2164260864"
func.func @run_time_sum_beyond_i32(%x: tensor<1x131072xi8>, %w: tensor<131072x1xi8>) -> tensor<1x1xi8> {
  %zero = arith.constant 0 : i32
  %zw = arith.constant 1 : i32
  %acc_scale = arith.constant 0.125 : f32
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %e = tensor.empty() : tensor<1x1xi32>
  %init = linalg.fill ins(%zero : i32) outs(%e : tensor<1x1xi32>) -> tensor<1x1xi32>
  %c = linalg.quantized_matmul ins(%x, %w, %zero, %zw : tensor<1x131072xi8>, tensor<131072x1xi8>, i32, i32) outs(%init : tensor<1x1xi32>) -> tensor<1x1xi32>
  %ye = tensor.empty() : tensor<1x1xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%c : tensor<1x1xi32>) outs(%ye : tensor<1x1xf32>) {
  ^bb0(%in: i32, %out: f32):
    %f = arith.sitofp %in : i32 to f32
    %p = arith.mulf %f, %acc_scale : f32
    linalg.yield %p : f32
  } -> tensor<1x1xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x1xf32>, tensor<f32>, tensor<i8>) -> tensor<1x1xi8>
  return %q : tensor<1x1xi8>
}

// -----

// Two dequantizations of one accumulator: one product, which each scales for itself.

// CHECK-LABEL: func.func @two_dequantizations
// CHECK-DAG: %[[P:.*]] = arith.constant dense<[0, 1073741824]> : tensor<2xi32>
// CHECK-DAG: %[[R:.*]] = arith.constant dense<[0, 268435456]> : tensor<2xi32>
// CHECK: %[[ACC:.*]] = "torq_hl.fully_connected"{{.*}} -> tensor<2x1xi32>
// CHECK-NOT: torq_hl.fully_connected
// CHECK-DAG: "torq_hl.fma"(%{{.*}}, %{{.*}}, %[[P]], %[[ACC]]) {{.*}}shift_factor = 32 : i32
// CHECK-DAG: "torq_hl.fma"(%{{.*}}, %{{.*}}, %[[R]], %[[ACC]]) {{.*}}shift_factor = 28 : i32
// CHECK-NOT: linalg.
func.func @two_dequantizations(%x: tensor<2x3xi8>) -> (tensor<2x1xi8>, tensor<2x1xi8>) {
  %zero = arith.constant 0 : i32
  %acc_scale = arith.constant 0.125 : f32
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %w = arith.constant dense<[[1], [2], [3]]> : tensor<3x1xi8>
  %b = arith.constant dense<100> : tensor<1xi32>
  %e = tensor.empty() : tensor<2x1xi32>
  %init = linalg.fill ins(%zero : i32) outs(%e : tensor<2x1xi32>) -> tensor<2x1xi32>
  %c = linalg.quantized_matmul ins(%x, %w, %zero, %zero : tensor<2x3xi8>, tensor<3x1xi8>, i32, i32) outs(%init : tensor<2x1xi32>) -> tensor<2x1xi32>
  %acc = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%c, %b : tensor<2x1xi32>, tensor<1xi32>) outs(%e : tensor<2x1xi32>) {
  ^bb0(%in: i32, %bias: i32, %out: i32):
    %r = arith.addi %in, %bias : i32
    linalg.yield %r : i32
  } -> tensor<2x1xi32>
  %ye = tensor.empty() : tensor<2x1xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%acc : tensor<2x1xi32>) outs(%ye : tensor<2x1xf32>) {
  ^bb0(%in: i32, %out: f32):
    %f = arith.sitofp %in : i32 to f32
    %p = arith.mulf %f, %acc_scale : f32
    linalg.yield %p : f32
  } -> tensor<2x1xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<2x1xf32>, tensor<f32>, tensor<i8>) -> tensor<2x1xi8>
  %scale2 = arith.constant 0.5 : f32
  %ye2 = tensor.empty() : tensor<2x1xf32>
  %y2 = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%acc : tensor<2x1xi32>) outs(%ye2 : tensor<2x1xf32>) {
  ^bb0(%in: i32, %out: f32):
    %f = arith.sitofp %in : i32 to f32
    %p = arith.mulf %f, %scale2 : f32
    linalg.yield %p : f32
  } -> tensor<2x1xf32>
  %q2 = "quantized_decomposed.quantize_per_tensor"(%y2, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<2x1xf32>, tensor<f32>, tensor<i8>) -> tensor<2x1xi8>
  return %q, %q2 : tensor<2x1xi8>, tensor<2x1xi8>
}
