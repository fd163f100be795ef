// RUN: torq-opt --split-input-file --convert-linalg-to-torq-hl=explain=true %s | FileCheck %s

// CHECK-LABEL: func.func @max_pool
// CHECK: %[[Y:.*]] = "torq_hl.maxpool2d"(%{{.*}}, %{{.*}}, %{{.*}}, %arg0) {input_zp = -128 : i32, kernel = array<i64: 3, 2>, output_max = 127 : i32, output_min = -128 : i32, pad = array<i64: 0, 2, 1, 0>, stride = array<i64: 2, 1>}
// CHECK-NEXT: return %[[Y]]
func.func @max_pool(%x: tensor<1x2x4x4xi8>) -> tensor<1x2x2x5xi8> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %sy = arith.constant dense<0.5> : tensor<f32>
  %zy = arith.constant dense<-5> : tensor<i8>
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x4x4xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x4x4xf32>
  %p = tensor.pad %f low[0, 0, 1, 0] high[0, 0, 0, 2] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %least : f32
  } : tensor<1x2x4x4xf32> to tensor<1x2x5x6xf32>
  %k = tensor.empty() : tensor<3x2xf32>
  %e = tensor.empty() : tensor<1x2x2x5xf32>
  %init = linalg.fill ins(%least : f32) outs(%e : tensor<1x2x2x5xf32>) -> tensor<1x2x2x5xf32>
  %y = linalg.pooling_nchw_max {dilations = dense<1> : vector<2xi64>, strides = dense<[2, 1]> : vector<2xi64>} ins(%p, %k : tensor<1x2x5x6xf32>, tensor<3x2xf32>) outs(%init : tensor<1x2x2x5xf32>) -> tensor<1x2x2x5xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %sy, %zy) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x2x5xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x2x5xi8>
  return %q : tensor<1x2x2x5xi8>
}

// -----

// The maximum first, then the other scale.

// CHECK-LABEL: func.func @max_pool_requantized
// CHECK: %[[M:.*]] = "torq_hl.maxpool2d"
// CHECK: "torq_hl.fma"(%{{.*}}, %{{.*}}, %{{.*}}, %[[M]])
func.func @max_pool_requantized(%x: tensor<1x2x4x4xi8>) -> tensor<1x2x2x5xi8> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %sy = arith.constant dense<0.25> : tensor<f32>
  %zy = arith.constant dense<-5> : tensor<i8>
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x4x4xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x4x4xf32>
  %p = tensor.pad %f low[0, 0, 1, 0] high[0, 0, 0, 2] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %least : f32
  } : tensor<1x2x4x4xf32> to tensor<1x2x5x6xf32>
  %k = tensor.empty() : tensor<3x2xf32>
  %e = tensor.empty() : tensor<1x2x2x5xf32>
  %init = linalg.fill ins(%least : f32) outs(%e : tensor<1x2x2x5xf32>) -> tensor<1x2x2x5xf32>
  %y = linalg.pooling_nchw_max {dilations = dense<1> : vector<2xi64>, strides = dense<[2, 1]> : vector<2xi64>} ins(%p, %k : tensor<1x2x5x6xf32>, tensor<3x2xf32>) outs(%init : tensor<1x2x2x5xf32>) -> tensor<1x2x2x5xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %sy, %zy) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x2x5xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x2x5xi8>
  return %q : tensor<1x2x2x5xi8>
}

// -----

// Padding with zero would win against negative values: not the neutral element of a maximum.

// CHECK-LABEL: func.func @max_pool_zero_padding
// CHECK-NOT: torq_hl.maxpool2d
// CHECK: torq_hl.refusal = "the pooling is padded with another value than its neutral one"
func.func @max_pool_zero_padding(%x: tensor<1x2x4x4xi8>) -> tensor<1x2x2x5xi8> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %sy = arith.constant dense<0.5> : tensor<f32>
  %zy = arith.constant dense<-5> : tensor<i8>
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x4x4xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x4x4xf32>
  %p = tensor.pad %f low[0, 0, 1, 0] high[0, 0, 0, 2] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x2x4x4xf32> to tensor<1x2x5x6xf32>
  %k = tensor.empty() : tensor<3x2xf32>
  %e = tensor.empty() : tensor<1x2x2x5xf32>
  %init = linalg.fill ins(%least : f32) outs(%e : tensor<1x2x2x5xf32>) -> tensor<1x2x2x5xf32>
  %y = linalg.pooling_nchw_max {dilations = dense<1> : vector<2xi64>, strides = dense<[2, 1]> : vector<2xi64>} ins(%p, %k : tensor<1x2x5x6xf32>, tensor<3x2xf32>) outs(%init : tensor<1x2x2x5xf32>) -> tensor<1x2x2x5xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %sy, %zy) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x2x5xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x2x5xi8>
  return %q : tensor<1x2x2x5xi8>
}

// -----

// Dilated dimensions one by one, as the maximum of slices: three rows, then two columns.

// CHECK-LABEL: func.func @max_pool_dilated
// CHECK-NOT: torq_hl.maxpool2d
// CHECK: %[[R0:.*]] = tensor.extract_slice %arg0[0, 0, 0, 0] [1, 2, 1, 5] [1, 1, 1, 1]
// CHECK: %[[R1:.*]] = tensor.extract_slice %arg0[0, 0, 2, 0] [1, 2, 1, 5] [1, 1, 1, 1]
// CHECK: %[[R2:.*]] = tensor.extract_slice %arg0[0, 0, 4, 0] [1, 2, 1, 5] [1, 1, 1, 1]
// CHECK: %[[M1:.*]] = "torq_hl.elementwisebinary"(%{{.*}}, %[[R0]], %[[R1]]) {op_type = 5 : i32}
// CHECK: %[[M2:.*]] = "torq_hl.elementwisebinary"(%{{.*}}, %[[M1]], %[[R2]]) {op_type = 5 : i32}
// CHECK: %[[C0:.*]] = tensor.extract_slice %[[M2]][0, 0, 0, 0] [1, 2, 1, 3] [1, 1, 1, 1]
// CHECK: %[[C1:.*]] = tensor.extract_slice %[[M2]][0, 0, 0, 2] [1, 2, 1, 3] [1, 1, 1, 1]
// CHECK: "torq_hl.elementwisebinary"(%{{.*}}, %[[C0]], %[[C1]]) {op_type = 5 : i32}
func.func @max_pool_dilated(%x: tensor<1x2x5x5xi8>) -> tensor<1x2x1x3xi8> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %sy = arith.constant dense<0.5> : tensor<f32>
  %zy = arith.constant dense<-5> : tensor<i8>
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x5x5xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x5x5xf32>
  %p = tensor.pad %f low[0, 0, 0, 0] high[0, 0, 0, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %least : f32
  } : tensor<1x2x5x5xf32> to tensor<1x2x5x5xf32>
  %k = tensor.empty() : tensor<3x2xf32>
  %e = tensor.empty() : tensor<1x2x1x3xf32>
  %init = linalg.fill ins(%least : f32) outs(%e : tensor<1x2x1x3xf32>) -> tensor<1x2x1x3xf32>
  %y = linalg.pooling_nchw_max {dilations = dense<2> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%p, %k : tensor<1x2x5x5xf32>, tensor<3x2xf32>) outs(%init : tensor<1x2x1x3xf32>) -> tensor<1x2x1x3xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %sy, %zy) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x1x3xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x1x3xi8>
  return %q : tensor<1x2x1x3xi8>
}

// -----

// The whole image: NHWC, bias -16 * -5, multiplier 0.5 / (0.5 * 16).

// CHECK-LABEL: func.func @global_average
// CHECK: %[[SB:.*]] = arith.constant dense<[80, {{[0-9]+}}]> : tensor<2xi32>
// CHECK: %[[T:.*]] = "torq_hl.transpose"(%{{.*}}, %arg0) {perm = array<i64: 0, 2, 3, 1>}
// CHECK: %[[Y:.*]] = "torq_hl.avg_pool2d"(%{{.*}}, %{{.*}}, %[[SB]], %[[T]]) {input_zp = -5 : i32, output_max = 127 : i32, output_min = -128 : i32, output_zp = -5 : i32, shift_factor = {{32|36}} : i32} {{.*}} -> tensor<1x1x1x2xi8>
// CHECK: tensor.expand_shape {{.*}} into tensor<1x2x1x1xi8>
func.func @global_average(%x: tensor<1x2x4x4xi8>) -> tensor<1x2x1x1xi8> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %sy = arith.constant dense<0.5> : tensor<f32>
  %zy = arith.constant dense<-5> : tensor<i8>
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x4x4xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x4x4xf32>
  %p = tensor.pad %f low[0, 0, 0, 0] high[0, 0, 0, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x2x4x4xf32> to tensor<1x2x4x4xf32>
  %k = tensor.empty() : tensor<4x4xf32>
  %e = tensor.empty() : tensor<1x2x1x1xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<1x2x1x1xf32>) -> tensor<1x2x1x1xf32>
  %sum = linalg.pooling_nchw_sum {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%p, %k : tensor<1x2x4x4xf32>, tensor<4x4xf32>) outs(%init : tensor<1x2x1x1xf32>) -> tensor<1x2x1x1xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%sum : tensor<1x2x1x1xf32>) outs(%e : tensor<1x2x1x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %n = arith.constant 16.0 : f32
    %r = arith.divf %in, %n : f32
    linalg.yield %r : f32
  } -> tensor<1x2x1x1xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %sy, %zy) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x1x1xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x1x1xi8>
  return %q : tensor<1x2x1x1xi8>
}

// -----

// Windows: a depthwise convolution with weights of ones; counted padding holds the zero point.

// CHECK-LABEL: func.func @average_pool
// CHECK-DAG: %[[W:.*]] = arith.constant dense<1> : tensor<2x1x3x2xi8>
// CHECK: "torq_hl.depthwise_conv2d"(%{{.*}}, %[[W]], %{{.*}}, %arg0) {{.*}}groups = 2 : i32, input_zp = -5 : i32{{.*}}pad = array<i64: 0, 2, 1, 0>
func.func @average_pool(%x: tensor<1x2x4x4xi8>) -> tensor<1x2x2x5xi8> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %sy = arith.constant dense<0.5> : tensor<f32>
  %zy = arith.constant dense<-5> : tensor<i8>
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x4x4xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x4x4xf32>
  %p = tensor.pad %f low[0, 0, 1, 0] high[0, 0, 0, 2] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x2x4x4xf32> to tensor<1x2x5x6xf32>
  %k = tensor.empty() : tensor<3x2xf32>
  %e = tensor.empty() : tensor<1x2x2x5xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<1x2x2x5xf32>) -> tensor<1x2x2x5xf32>
  %sum = linalg.pooling_nchw_sum {dilations = dense<1> : vector<2xi64>, strides = dense<[2, 1]> : vector<2xi64>} ins(%p, %k : tensor<1x2x5x6xf32>, tensor<3x2xf32>) outs(%init : tensor<1x2x2x5xf32>) -> tensor<1x2x2x5xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%sum : tensor<1x2x2x5xf32>) outs(%e : tensor<1x2x2x5xf32>) {
  ^bb0(%in: f32, %out: f32):
    %n = arith.constant 6.0 : f32
    %r = arith.divf %in, %n : f32
    linalg.yield %r : f32
  } -> tensor<1x2x2x5xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %sy, %zy) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x2x5xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x2x5xi8>
  return %q : tensor<1x2x2x5xi8>
}

// -----

// CHECK-LABEL: func.func @integer_max_pool
// CHECK: "torq_hl.maxpool2d"(%{{.*}}, %{{.*}}, %{{.*}}, %arg0) {input_zp = -128 : i32, kernel = array<i64: 2, 2>
func.func @integer_max_pool(%x: tensor<1x2x4x4xi8>) -> tensor<1x2x3x3xi8> {
  %least = arith.constant -128 : i8
  %k = tensor.empty() : tensor<2x2xi8>
  %e = tensor.empty() : tensor<1x2x3x3xi8>
  %init = linalg.fill ins(%least : i8) outs(%e : tensor<1x2x3x3xi8>) -> tensor<1x2x3x3xi8>
  %y = linalg.pooling_nchw_max {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x, %k : tensor<1x2x4x4xi8>, tensor<2x2xi8>) outs(%init : tensor<1x2x3x3xi8>) -> tensor<1x2x3x3xi8>
  return %y : tensor<1x2x3x3xi8>
}

// -----

// CHECK-LABEL: func.func @reduce_mean
// CHECK: %[[C:.*]] = tensor.collapse_shape %arg0
// CHECK: "torq_hl.reduce_mean"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) {input_zp = -5 : i32
func.func @reduce_mean(%x: tensor<1x2x4x4xi8>) -> tensor<1x2xi8> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %sy = arith.constant dense<0.5> : tensor<f32>
  %zy = arith.constant dense<-5> : tensor<i8>
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x4x4xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x4x4xf32>
  %e = tensor.empty() : tensor<1x2xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<1x2xf32>) -> tensor<1x2xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%f : tensor<1x2x4x4xf32>) outs(%init : tensor<1x2xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = arith.addf %in, %out : f32
    linalg.yield %r : f32
  } -> tensor<1x2xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%sum : tensor<1x2xf32>) outs(%e : tensor<1x2xf32>) {
  ^bb0(%in: f32, %out: f32):
    %n = arith.constant 16.0 : f32
    %r = arith.divf %in, %n : f32
    linalg.yield %r : f32
  } -> tensor<1x2xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %sy, %zy) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2xi8>
  return %q : tensor<1x2xi8>
}

// -----

// A maximum that starts from zero is also a ReLU.

// CHECK-LABEL: func.func @integer_max_pool_from_zero
// CHECK-NOT: torq_hl.maxpool2d
// CHECK: torq_hl.refusal = "the pooling starts from another value than its neutral one"
func.func @integer_max_pool_from_zero(%x: tensor<1x2x4x4xi8>) -> tensor<1x2x3x3xi8> {
  %least = arith.constant 0 : i8
  %k = tensor.empty() : tensor<2x2xi8>
  %e = tensor.empty() : tensor<1x2x3x3xi8>
  %init = linalg.fill ins(%least : i8) outs(%e : tensor<1x2x3x3xi8>) -> tensor<1x2x3x3xi8>
  %y = linalg.pooling_nchw_max {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x, %k : tensor<1x2x4x4xi8>, tensor<2x2xi8>) outs(%init : tensor<1x2x3x3xi8>) -> tensor<1x2x3x3xi8>
  return %y : tensor<1x2x3x3xi8>
}

// -----

// A sequence is an image of height 1. Padding that no window reaches, as a lowering of ceil_mode adds, goes.

// CHECK-LABEL: func.func @max_pool_of_one_dimension
// CHECK: %[[X:.*]] = tensor.expand_shape %arg0 {{.*}} into tensor<1x2x1x6xi8>
// CHECK: "torq_hl.maxpool2d"({{.*}}, %[[X]]) {{{.*}}kernel = array<i64: 1, 2>{{.*}}pad = array<i64: 1, 0, 0, 0>, stride = array<i64: 1, 2>} {{.*}} -> tensor<1x2x1x3xi8>
func.func @max_pool_of_one_dimension(%x: tensor<1x2x6xi8>) -> tensor<1x2x3xi8> {
  %least = arith.constant 0xFF800000 : f32
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x6xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x6xf32>
  %p = tensor.pad %f low[0, 0, 1] high[0, 0, 2] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %least : f32
  } : tensor<1x2x6xf32> to tensor<1x2x9xf32>
  %k = tensor.empty() : tensor<2xf32>
  %e = tensor.empty() : tensor<1x2x3xf32>
  %init = linalg.fill ins(%least : f32) outs(%e : tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
  %y = linalg.pooling_ncw_max {dilations = dense<1> : vector<1xi64>, strides = dense<2> : vector<1xi64>} ins(%p, %k : tensor<1x2x9xf32>, tensor<2xf32>) outs(%init : tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xi8>
  return %q : tensor<1x2x3xi8>
}

// -----

// Dimensions that are averaged move to the end.

// CHECK-LABEL: func.func @mean_of_the_middle
// CHECK: %[[T:.*]] = "torq_hl.transpose"(%{{.*}}, %arg0) {perm = array<i64: 0, 2, 1>} {{.*}} -> tensor<2x3x4xi8>
// CHECK: %[[M:.*]] = "torq_hl.reduce_mean"({{.*}}, %[[T]])
// CHECK: tensor.collapse_shape %[[M]] {{.*}} into tensor<2x3xi8>
func.func @mean_of_the_middle(%x: tensor<2x4x3xi8>) -> tensor<2x3xi8> {
  %zero = arith.constant 0.0 : f32
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %sy = arith.constant dense<0.25> : tensor<f32>
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x4x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x4x3xf32>
  %e = tensor.empty() : tensor<2x3xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, c)>], iterator_types = ["parallel", "reduction", "parallel"]} ins(%f : tensor<2x4x3xf32>) outs(%init : tensor<2x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = arith.addf %in, %out : f32
    linalg.yield %r : f32
  } -> tensor<2x3xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%t : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %count = arith.constant 4.0 : f32
    %r = arith.divf %in, %count : f32
    linalg.yield %r : f32
  } -> tensor<2x3xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%m, %sy, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<2x3xi8>
  return %q : tensor<2x3xi8>
}

// -----

// A mean whose scale no multiplier represents is refused before anything is built.

// CHECK-LABEL: func.func @mean_of_too_small_a_scale
// CHECK-NOT: torq_hl.reduce_mean
// CHECK: torq_hl.refusal = "scale {{.*}} is too large for a multiplier
func.func @mean_of_too_small_a_scale(%x: tensor<2x3x4xi8>) -> tensor<2x3xi8> {
  %zero = arith.constant 0.0 : f32
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %sy = arith.constant dense<1.0e-30> : tensor<f32>
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x3x4xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3x4xf32>
  %e = tensor.empty() : tensor<2x3xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, b)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%f : tensor<2x3x4xf32>) outs(%init : tensor<2x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = arith.addf %in, %out : f32
    linalg.yield %r : f32
  } -> tensor<2x3xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]} ins(%t : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %count = arith.constant 4.0 : f32
    %r = arith.divf %in, %count : f32
    linalg.yield %r : f32
  } -> tensor<2x3xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%m, %sy, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<2x3xi8>
  return %q : tensor<2x3xi8>
}

// -----

// An average of windows that have one element besides padding: a sum, and no division.

// CHECK-LABEL: func.func @sum_of_windows
// CHECK: %[[Y:.*]] = "torq_hl.depthwise_conv2d"(%{{.*}}, %{{.*}}, %{{.*}}, %arg0) {{.*}}pad = array<i64: 1, 1, 1, 1>
// CHECK-NEXT: return %[[Y]]
func.func @sum_of_windows(%x: tensor<1x2x1x1xi8>) -> tensor<1x2x1x1xi8> {
  %zero = arith.constant 0.0 : f32
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x1x1xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x1x1xf32>
  %p = tensor.pad %f low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x2x1x1xf32> to tensor<1x2x3x3xf32>
  %k = tensor.empty() : tensor<3x3xf32>
  %e = tensor.empty() : tensor<1x2x1x1xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<1x2x1x1xf32>) -> tensor<1x2x1x1xf32>
  %y = linalg.pooling_nchw_sum {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%p, %k : tensor<1x2x3x3xf32>, tensor<3x3xf32>) outs(%init : tensor<1x2x1x1xf32>) -> tensor<1x2x1x1xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x1x1xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x1x1xi8>
  return %q : tensor<1x2x1x1xi8>
}

// -----

// Floats that the host computes are quantized before the maximum, which gives the same.

// CHECK-LABEL: func.func @max_pool_of_floats
// CHECK: %[[Q:.*]] = "quantized_decomposed.quantize_per_tensor"(%arg0, %{{.*}}, %{{.*}}) {divide, dtype = si8, quant_max = 127 : i64, quant_min = -127 : i64} : (tensor<1x2x4x4xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x4x4xi8>
// CHECK: %[[Y:.*]] = "torq_hl.maxpool2d"(%{{.*}}, %{{.*}}, %{{.*}}, %[[Q]])
// CHECK: return %[[Y]]
func.func @max_pool_of_floats(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x2x3xi8> {
  %least = arith.constant 0xFF800000 : f32
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %k = tensor.empty() : tensor<3x2xf32>
  %e = tensor.empty() : tensor<1x2x2x3xf32>
  %init = linalg.fill ins(%least : f32) outs(%e : tensor<1x2x2x3xf32>) -> tensor<1x2x2x3xf32>
  %y = linalg.pooling_nchw_max {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x, %k : tensor<1x2x4x4xf32>, tensor<3x2xf32>) outs(%init : tensor<1x2x2x3xf32>) -> tensor<1x2x2x3xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %z) {quant_min = -127 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x2x3xi8>
  return %q : tensor<1x2x2x3xi8>
}

// -----

// The maximum of floats is there anyway.

// CHECK-LABEL: func.func @max_pool_of_floats_used_as_such
// CHECK-NOT: torq_hl.maxpool2d
// CHECK: torq_hl.refusal = "the result of the pooling has several consumers", torq_hl.refused_by = "quantize before max pool"
func.func @max_pool_of_floats_used_as_such(%x: tensor<1x2x4x4xf32>) -> (tensor<1x2x2x3xi8>, tensor<1x2x2x3xf32>) {
  %least = arith.constant 0xFF800000 : f32
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %k = tensor.empty() : tensor<3x2xf32>
  %e = tensor.empty() : tensor<1x2x2x3xf32>
  %init = linalg.fill ins(%least : f32) outs(%e : tensor<1x2x2x3xf32>) -> tensor<1x2x2x3xf32>
  %y = linalg.pooling_nchw_max {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x, %k : tensor<1x2x4x4xf32>, tensor<3x2xf32>) outs(%init : tensor<1x2x2x3xf32>) -> tensor<1x2x2x3xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %z) {quant_min = -127 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x2x3xi8>
  return %q, %y : tensor<1x2x2x3xi8>, tensor<1x2x2x3xf32>
}

// -----

// A negative scale makes the greatest of the values the least of the integers.

// CHECK-LABEL: func.func @max_pool_of_floats_negative_scale
// CHECK-NOT: torq_hl.maxpool2d
// CHECK: torq_hl.refusal = "the quantization after the pooling has no positive scale
func.func @max_pool_of_floats_negative_scale(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x2x3xi8> {
  %least = arith.constant 0xFF800000 : f32
  %s = arith.constant dense<-0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %k = tensor.empty() : tensor<3x2xf32>
  %e = tensor.empty() : tensor<1x2x2x3xf32>
  %init = linalg.fill ins(%least : f32) outs(%e : tensor<1x2x2x3xf32>) -> tensor<1x2x2x3xf32>
  %y = linalg.pooling_nchw_max {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x, %k : tensor<1x2x4x4xf32>, tensor<3x2xf32>) outs(%init : tensor<1x2x2x3xf32>) -> tensor<1x2x2x3xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %z) {quant_min = -127 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x2x3xi8>
  return %q : tensor<1x2x2x3xi8>
}
