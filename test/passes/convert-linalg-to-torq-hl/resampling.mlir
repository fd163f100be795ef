// RUN: torq-opt --split-input-file --convert-linalg-to-torq-hl=explain=true %s | FileCheck %s

// To twice the height: each row is two, of a quarter of one neighbour and three quarters of itself. The weights are those
// parts in units of 1/4, and the edge is there once more.

// CHECK-LABEL: func.func @twice
// CHECK-DAG: %[[W:.*]] = arith.constant dense<{{\[\[\[\[}}1], [3], [0]]], {{\[\[\[}}0], [3], [1]]], {{\[\[\[}}1], [3], [0]]], {{\[\[\[}}0], [3], [1]]]]> : tensor<4x1x3x1xi8>
// CHECK-DAG: %[[B:.*]] = arith.constant dense<[20, {{.*}}]> : tensor<2xi32>
// CHECK: %[[FIRST:.*]] = tensor.extract_slice %arg0[0, 0, 0, 0] [1, 2, 1, 4] [1, 1, 1, 1]
// CHECK: %[[LAST:.*]] = tensor.extract_slice %arg0[0, 0, 2, 0] [1, 2, 1, 4] [1, 1, 1, 1]
// CHECK: %[[X:.*]] = tensor.concat dim(2) %[[FIRST]], %arg0, %[[LAST]]
// CHECK: %[[Y:.*]] = "torq_hl.depthwise_conv2d"(%{{.*}}, %[[W]], %[[B]], %[[X]])
// CHECK: "torq_hl.transpose"
func.func @twice(%x: tensor<1x2x3x4xi8>) -> tensor<1x2x6x4xi8> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %half = arith.constant 0.5 : f32
  %ratio = arith.constant 0.5 : f32
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %last = arith.constant 2.0 : f32
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3x4xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3x4xf32>
  %e = tensor.empty() : tensor<1x2x6x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%e : tensor<1x2x6x4xf32>) {
  ^bb0(%out: f32):
    %n = linalg.index 0 : index
    %c = linalg.index 1 : index
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %k = arith.index_cast %i : index to i64
    %r = arith.sitofp %k : i64 to f32
    %r0 = arith.addf %r, %half : f32
    %r1 = arith.mulf %r0, %ratio : f32
    %r2 = arith.subf %r1, %half : f32
    %r3 = arith.maximumf %r2, %zero : f32
    %p = arith.minimumf %r3, %last : f32
    %l = math.floor %p : f32
    %w = arith.subf %p, %l : f32
    %li = arith.fptosi %l : f32 to i64
    %lower = arith.index_cast %li : i64 to index
    %next = arith.addi %lower, %c1 : index
    %upper = arith.minsi %next, %c2 : index
    %a = tensor.extract %f[%n, %c, %lower, %j] : tensor<1x2x3x4xf32>
    %b = tensor.extract %f[%n, %c, %upper, %j] : tensor<1x2x3x4xf32>
    %v = arith.subf %one, %w : f32
    %aw = arith.mulf %a, %v : f32
    %bw = arith.mulf %b, %w : f32
    %element = arith.addf %aw, %bw : f32
    linalg.yield %element : f32
  } -> tensor<1x2x6x4xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x6x4xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x6x4xi8>
  return %q : tensor<1x2x6x4xi8>
}

// -----

// To a size that is no multiple: the rows are channels of a convolution, and there are 16 bits between it and the columns.

// CHECK-LABEL: func.func @to_any_size
// CHECK: %[[X:.*]] = tensor.{{.*}} into tensor<2x3x4x1xi8>
// CHECK: %[[Y:.*]] = "torq_hl.conv2d"(%{{.*}}, %{{.*}}, %{{.*}}, %[[X]]) {{.*}} (tensor<2x5x4x1xi16>, tensor<5x3x1x1xi8>, tensor<2xi32>, tensor<2x3x4x1xi8>)
// CHECK: "torq_hl.fully_connected"{{.*}} (tensor<10x4xi8>, tensor<4x4xi8>, tensor<2xi32>, tensor<10x4xi16>) -> tensor<10x4xi8>
func.func @to_any_size(%x: tensor<1x2x3x4xi8>) -> tensor<1x2x5x4xi8> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %half = arith.constant 0.5 : f32
  %ratio = arith.constant 0.6 : f32
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %last = arith.constant 2.0 : f32
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3x4xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3x4xf32>
  %e = tensor.empty() : tensor<1x2x5x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%e : tensor<1x2x5x4xf32>) {
  ^bb0(%out: f32):
    %n = linalg.index 0 : index
    %c = linalg.index 1 : index
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %k = arith.index_cast %i : index to i64
    %r = arith.sitofp %k : i64 to f32
    %r0 = arith.addf %r, %half : f32
    %r1 = arith.mulf %r0, %ratio : f32
    %r2 = arith.subf %r1, %half : f32
    %r3 = arith.maximumf %r2, %zero : f32
    %p = arith.minimumf %r3, %last : f32
    %l = math.floor %p : f32
    %w = arith.subf %p, %l : f32
    %li = arith.fptosi %l : f32 to i64
    %lower = arith.index_cast %li : i64 to index
    %next = arith.addi %lower, %c1 : index
    %upper = arith.minsi %next, %c2 : index
    %a = tensor.extract %f[%n, %c, %lower, %j] : tensor<1x2x3x4xf32>
    %b = tensor.extract %f[%n, %c, %upper, %j] : tensor<1x2x3x4xf32>
    %v = arith.subf %one, %w : f32
    %aw = arith.mulf %a, %v : f32
    %bw = arith.mulf %b, %w : f32
    %element = arith.addf %aw, %bw : f32
    linalg.yield %element : f32
  } -> tensor<1x2x5x4xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x5x4xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x5x4xi8>
  return %q : tensor<1x2x5x4xi8>
}

// -----

// Weights of another kind are not those of an interpolation.

// CHECK-LABEL: func.func @not_linear
// CHECK: linalg.generic
// CHECK-NOT: torq_hl
func.func @not_linear(%x: tensor<1x2x3x4xi8>) -> tensor<1x2x6x4xi8> {
  %s = arith.constant dense<0.5> : tensor<f32>
  %z = arith.constant dense<-5> : tensor<i8>
  %half = arith.constant 0.5 : f32
  %ratio = arith.constant 0.5 : f32
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %last = arith.constant 2.0 : f32
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %f = "quantized_decomposed.dequantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<1x2x3x4xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3x4xf32>
  %e = tensor.empty() : tensor<1x2x6x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%e : tensor<1x2x6x4xf32>) {
  ^bb0(%out: f32):
    %n = linalg.index 0 : index
    %c = linalg.index 1 : index
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %k = arith.index_cast %i : index to i64
    %r = arith.sitofp %k : i64 to f32
    %r0 = arith.addf %r, %half : f32
    %r1 = arith.mulf %r0, %ratio : f32
    %r2 = arith.subf %r1, %half : f32
    %r3 = arith.maximumf %r2, %zero : f32
    %p = arith.minimumf %r3, %last : f32
    %l = math.floor %p : f32
    %w = arith.subf %p, %l : f32
    %li = arith.fptosi %l : f32 to i64
    %lower = arith.index_cast %li : i64 to index
    %next = arith.addi %lower, %c1 : index
    %upper = arith.minsi %next, %c2 : index
    %a = tensor.extract %f[%n, %c, %lower, %j] : tensor<1x2x3x4xf32>
    %b = tensor.extract %f[%n, %c, %upper, %j] : tensor<1x2x3x4xf32>
    %v = arith.subf %one, %w : f32
    %aw = arith.mulf %a, %v : f32
    %bw = arith.mulf %b, %v : f32
    %element = arith.addf %aw, %bw : f32
    linalg.yield %element : f32
  } -> tensor<1x2x6x4xf32>
  %q = "quantized_decomposed.quantize_per_tensor"(%y, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<1x2x6x4xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x6x4xi8>
  return %q : tensor<1x2x6x4xi8>
}
