// RUN: torq-opt --split-input-file --convert-linalg-to-torq-hl=explain=true %s | FileCheck %s

// Transposed constant weights, and a bias added in float after the dequantization: 3.0 / 0.125 and -0.5 / 0.125, less
// the correction 2 * 9 and 2 * 12.

// CHECK-LABEL: func.func @float_bias
// CHECK-DAG: %[[W:.*]] = arith.constant dense<{{\[\[}}1, 2], [3, 4], [5, 6]]> : tensor<3x2xi8>
// CHECK-DAG: %[[SB:.*]] = arith.constant dense<[6, 1073741824, -28, 1073741824]> : tensor<4xi32>
// CHECK: "torq_hl.fully_connected"(%{{.*}}, %[[W]], %[[SB]], %arg0)
// CHECK-NOT: linalg.
func.func @float_bias(%x: tensor<2x3xi8>) -> tensor<2x2xi8> {
  %zero = arith.constant 0 : i32
  %zx = arith.constant 2 : i32
  %acc_scale = arith.constant 0.125 : f64
  %sy = arith.constant 0.5 : f64
  %w = arith.constant dense<[[1, 3, 5], [2, 4, 6]]> : tensor<2x3xi8>
  %b = arith.constant dense<[3.0, -0.5]> : tensor<2xf32>
  %ew = tensor.empty() : tensor<3x2xi8>
  %wt = linalg.transpose ins(%w : tensor<2x3xi8>) outs(%ew : tensor<3x2xi8>) permutation = [1, 0]
  %ei = tensor.empty() : tensor<2x2xi32>
  %init = linalg.fill ins(%zero : i32) outs(%ei : tensor<2x2xi32>) -> tensor<2x2xi32>
  %acc = linalg.quantized_matmul ins(%x, %wt, %zx, %zero : tensor<2x3xi8>, tensor<3x2xi8>, i32, i32) outs(%init : tensor<2x2xi32>) -> tensor<2x2xi32>
  %ye = tensor.empty() : tensor<2x2xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%acc : tensor<2x2xi32>) outs(%ye : tensor<2x2xf32>) {
  ^bb0(%in: i32, %out: f32):
    %s = arith.truncf %acc_scale : f64 to f32
    %f = arith.sitofp %in : i32 to f32
    %p = arith.mulf %f, %s : f32
    linalg.yield %p : f32
  } -> tensor<2x2xf32>
  %e = tensor.empty() : tensor<2x2xf32>
  %yb = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%y, %b : tensor<2x2xf32>, tensor<2xf32>) outs(%e : tensor<2x2xf32>) {
  ^bb0(%in: f32, %bias: f32, %out: f32):
    %r = arith.addf %in, %bias : f32
    linalg.yield %r : f32
  } -> tensor<2x2xf32>
  %qe = tensor.empty() : tensor<2x2xi8>
  %q = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%yb : tensor<2x2xf32>) outs(%qe : tensor<2x2xi8>) {
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
  } -> tensor<2x2xi8>
  return %q : tensor<2x2xi8>
}

// -----

// A bias along the rows is none of the channels.

// CHECK-LABEL: func.func @row_bias
// CHECK-NOT: torq_hl.fully_connected
// CHECK: torq_hl.refusal = "scales or bias run along another dimension than the output channels
func.func @row_bias(%x: tensor<2x3xi8>) -> tensor<2x2xi8> {
  %zero = arith.constant 0 : i32
  %acc_scale = arith.constant 0.125 : f64
  %sy = arith.constant 0.5 : f64
  %w = arith.constant dense<1> : tensor<3x2xi8>
  %b = arith.constant dense<[3, 4]> : tensor<2xi32>
  %ei = tensor.empty() : tensor<2x2xi32>
  %init = linalg.fill ins(%zero : i32) outs(%ei : tensor<2x2xi32>) -> tensor<2x2xi32>
  %product = linalg.quantized_matmul ins(%x, %w, %zero, %zero : tensor<2x3xi8>, tensor<3x2xi8>, i32, i32) outs(%init : tensor<2x2xi32>) -> tensor<2x2xi32>
  %acc = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%product, %b : tensor<2x2xi32>, tensor<2xi32>) outs(%ei : tensor<2x2xi32>) {
  ^bb0(%in: i32, %bias: i32, %out: i32):
    %r = arith.addi %in, %bias : i32
    linalg.yield %r : i32
  } -> tensor<2x2xi32>
  %ye = tensor.empty() : tensor<2x2xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%acc : tensor<2x2xi32>) outs(%ye : tensor<2x2xf32>) {
  ^bb0(%in: i32, %out: f32):
    %s = arith.truncf %acc_scale : f64 to f32
    %f = arith.sitofp %in : i32 to f32
    %p = arith.mulf %f, %s : f32
    linalg.yield %p : f32
  } -> tensor<2x2xf32>
  %qe = tensor.empty() : tensor<2x2xi8>
  %q = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<2x2xf32>) outs(%qe : tensor<2x2xi8>) {
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
  } -> tensor<2x2xi8>
  return %q : tensor<2x2xi8>
}

// -----

// Zero points leave by an fma that widens; there is one scale and no bias.

// CHECK-LABEL: func.func @two_runtime_operands
// CHECK-DAG: %[[P:.*]] = arith.constant dense<[0, 1073741824]> : tensor<2xi32>
// CHECK-DAG: %[[SB1:.*]] = arith.constant dense<[-2, 1]> : tensor<2xi32>
// CHECK-DAG: %[[SB2:.*]] = arith.constant dense<[4, 1]> : tensor<2xi32>
// CHECK-DAG: %[[B:.*]] = "torq_hl.fma"(%{{.*}}, %{{.*}}, %[[SB2]], %arg1) {{.*}} -> tensor<3x2xi16>
// CHECK-DAG: %[[A:.*]] = "torq_hl.fma"(%{{.*}}, %{{.*}}, %[[SB1]], %arg0) {{.*}} -> tensor<2x3xi16>
// CHECK: "torq_hl.matmul"(%{{.*}}, %[[P]], %[[A]], %[[B]]) {output_max = 127 : i32, output_min = -128 : i32, output_zp = -4 : i32, shift = 32 : i32}
// CHECK-NOT: linalg.
func.func @two_runtime_operands(%x: tensor<2x3xi8>, %w: tensor<3x2xi8>) -> tensor<2x2xi8> {
  %zero = arith.constant 0 : i32
  %zx = arith.constant 2 : i32
  %zw = arith.constant -4 : i32
  %acc_scale = arith.constant 0.125 : f64
  %sy = arith.constant 0.5 : f64
  %ei = tensor.empty() : tensor<2x2xi32>
  %init = linalg.fill ins(%zero : i32) outs(%ei : tensor<2x2xi32>) -> tensor<2x2xi32>
  %acc = linalg.quantized_matmul ins(%x, %w, %zx, %zw : tensor<2x3xi8>, tensor<3x2xi8>, i32, i32) outs(%init : tensor<2x2xi32>) -> tensor<2x2xi32>
  %ye = tensor.empty() : tensor<2x2xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%acc : tensor<2x2xi32>) outs(%ye : tensor<2x2xf32>) {
  ^bb0(%in: i32, %out: f32):
    %s = arith.truncf %acc_scale : f64 to f32
    %f = arith.sitofp %in : i32 to f32
    %p = arith.mulf %f, %s : f32
    linalg.yield %p : f32
  } -> tensor<2x2xf32>
  %qe = tensor.empty() : tensor<2x2xi8>
  %q = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<2x2xf32>) outs(%qe : tensor<2x2xi8>) {
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
  } -> tensor<2x2xi8>
  return %q : tensor<2x2xi8>
}

// -----

// Rows of several leading dimensions that meet one run-time matrix are rows of one product.

// CHECK-LABEL: func.func @leading_dimensions
// CHECK: %[[X:.*]] = tensor.collapse_shape %arg0
// CHECK: "torq_hl.matmul"(%{{.*}}, %{{.*}}, %[[X]], %arg1) {{.*}} -> tensor<6x5xi8>
// CHECK: tensor.expand_shape {{.*}} into tensor<2x3x5xi8>
// CHECK-NOT: linalg.
func.func @leading_dimensions(%x: tensor<2x3x4xi8>, %w: tensor<4x5xi8>) -> tensor<2x3x5xi8> {
  %zero = arith.constant 0 : i32
  %acc_scale = arith.constant 0.125 : f64
  %sy = arith.constant dense<0.5> : tensor<f32>
  %zy = arith.constant dense<-4> : tensor<i8>
  %ei = tensor.empty() : tensor<2x3x5xi32>
  %init = linalg.fill ins(%zero : i32) outs(%ei : tensor<2x3x5xi32>) -> tensor<2x3x5xi32>
  %acc = linalg.generic {indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x, %w : tensor<2x3x4xi8>, tensor<4x5xi8>) outs(%init : tensor<2x3x5xi32>) {
  ^bb0(%a: i8, %b: i8, %out: i32):
    %c = arith.extsi %a : i8 to i32
    %d = arith.extsi %b : i8 to i32
    %p = arith.muli %c, %d : i32
    %s = arith.addi %out, %p : i32
    linalg.yield %s : i32
  } -> tensor<2x3x5xi32>
  %e = tensor.empty() : tensor<2x3x5xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%acc : tensor<2x3x5xi32>) outs(%e : tensor<2x3x5xf32>) {
  ^bb0(%in: i32, %out: f32):
    %f = arith.sitofp %in : i32 to f64
    %p = arith.mulf %f, %acc_scale : f64
    %t = arith.truncf %p : f64 to f32
    linalg.yield %t : f32
  } -> tensor<2x3x5xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %sy, %zy) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<2x3x5xf32>, tensor<f32>, tensor<i8>) -> tensor<2x3x5xi8>
  return %q : tensor<2x3x5xi8>
}

// -----

// Weights that are the same for each entry of a batch are those of one product; stock torch-mlir repeats them.

// CHECK-LABEL: func.func @repeated_for_a_batch
// CHECK: %[[W:.*]] = arith.constant dense<{{\[\[}}1, 2], [3, 4], [5, 6]]> : tensor<3x2xi8>
// CHECK: "torq_hl.fully_connected"(%{{.*}}, %[[W]], %{{.*}}, %arg0) {input_zp = 2 : i32, {{.*}} -> tensor<4x3x2xi8>
// CHECK-NOT: torq_hl.
// CHECK-LABEL: func.func @repeated_along_the_sum
// CHECK: torq_hl.matmul
// CHECK-NOT: torq_hl.fully_connected
#identity = affine_map<(b, m, n) -> (b, m, n)>
func.func @repeated_for_a_batch(%x: tensor<4x3x3xi8>) -> tensor<4x3x2xi8> {
  %w = arith.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi8>
  %ew = tensor.empty() : tensor<4x3x2xi8>
  %wb = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (m, n)>, #identity], iterator_types = ["parallel", "parallel", "parallel"]} ins(%w : tensor<3x2xi8>) outs(%ew : tensor<4x3x2xi8>) {
  ^bb0(%in: i8, %out: i8):
    linalg.yield %in : i8
  } -> tensor<4x3x2xi8>
  %zero = arith.constant 0 : i32
  %zx = arith.constant 2 : i32
  %acc_scale = arith.constant 0.125 : f64
  %sy = arith.constant dense<0.5> : tensor<f32>
  %zy = arith.constant dense<-4> : tensor<i8>
  %ei = tensor.empty() : tensor<4x3x2xi32>
  %init = linalg.fill ins(%zero : i32) outs(%ei : tensor<4x3x2xi32>) -> tensor<4x3x2xi32>
  %acc = linalg.quantized_batch_matmul ins(%x, %wb, %zx, %zero : tensor<4x3x3xi8>, tensor<4x3x2xi8>, i32, i32) outs(%init : tensor<4x3x2xi32>) -> tensor<4x3x2xi32>
  %e = tensor.empty() : tensor<4x3x2xf32>
  %y = linalg.generic {indexing_maps = [#identity, #identity], iterator_types = ["parallel", "parallel", "parallel"]} ins(%acc : tensor<4x3x2xi32>) outs(%e : tensor<4x3x2xf32>) {
  ^bb0(%in: i32, %out: f32):
    %f = arith.sitofp %in : i32 to f64
    %p = arith.mulf %f, %acc_scale : f64
    %t = arith.truncf %p : f64 to f32
    linalg.yield %t : f32
  } -> tensor<4x3x2xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %sy, %zy) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<4x3x2xf32>, tensor<f32>, tensor<i8>) -> tensor<4x3x2xi8>
  return %q : tensor<4x3x2xi8>
}
func.func @repeated_along_the_sum(%x: tensor<4x3x3xi8>) -> tensor<4x3x2xi8> {
  %w = arith.constant dense<[[1, 2], [3, 4], [5, 6], [7, 8]]> : tensor<4x2xi8>
  %ew = tensor.empty() : tensor<4x3x2xi8>
  %wb = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, n)>, #identity], iterator_types = ["parallel", "parallel", "parallel"]} ins(%w : tensor<4x2xi8>) outs(%ew : tensor<4x3x2xi8>) {
  ^bb0(%in: i8, %out: i8):
    linalg.yield %in : i8
  } -> tensor<4x3x2xi8>
  %zero = arith.constant 0 : i32
  %zx = arith.constant 2 : i32
  %acc_scale = arith.constant 0.125 : f64
  %sy = arith.constant dense<0.5> : tensor<f32>
  %zy = arith.constant dense<-4> : tensor<i8>
  %ei = tensor.empty() : tensor<4x3x2xi32>
  %init = linalg.fill ins(%zero : i32) outs(%ei : tensor<4x3x2xi32>) -> tensor<4x3x2xi32>
  %acc = linalg.quantized_batch_matmul ins(%x, %wb, %zx, %zero : tensor<4x3x3xi8>, tensor<4x3x2xi8>, i32, i32) outs(%init : tensor<4x3x2xi32>) -> tensor<4x3x2xi32>
  %e = tensor.empty() : tensor<4x3x2xf32>
  %y = linalg.generic {indexing_maps = [#identity, #identity], iterator_types = ["parallel", "parallel", "parallel"]} ins(%acc : tensor<4x3x2xi32>) outs(%e : tensor<4x3x2xf32>) {
  ^bb0(%in: i32, %out: f32):
    %f = arith.sitofp %in : i32 to f64
    %p = arith.mulf %f, %acc_scale : f64
    %t = arith.truncf %p : f64 to f32
    linalg.yield %t : f32
  } -> tensor<4x3x2xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %sy, %zy) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<4x3x2xf32>, tensor<f32>, tensor<i8>) -> tensor<4x3x2xi8>
  return %q : tensor<4x3x2xi8>
}
