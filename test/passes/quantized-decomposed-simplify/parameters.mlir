// RUN: torq-opt --split-input-file --quantized-decomposed-simplify %s | FileCheck %s
// RUN: torq-opt --split-input-file --quantized-decomposed-simplify --quantized-decomposed-simplify %s | FileCheck %s

// Parameters that vary along the dimension that something happens to: it happens to them too.

// CHECK-LABEL: func.func @joined_channels
// CHECK-DAG: %[[S:.*]] = arith.constant dense<[2.500000e-01, 5.000000e-01, 2.000000e+00]> : tensor<3xf32>
// CHECK-DAG: %[[Z:.*]] = arith.constant dense<[1, 2, 3]> : tensor<3xi8>
// CHECK: %[[Q:.*]] = tensor.concat dim(1) %arg0, %arg1 : (tensor<4x2xi8>, tensor<4x1xi8>) -> tensor<4x3xi8>
// CHECK: "quantized_decomposed.dequantize_per_channel"(%[[Q]], %[[S]], %[[Z]]) {axis = 1 : i64
func.func @joined_channels(%a: tensor<4x2xi8>, %b: tensor<4x1xi8>) -> tensor<4x3xf32> {
  %s = arith.constant dense<[0.25, 0.5]> : tensor<2xf32>
  %z = arith.constant dense<[1, 2]> : tensor<2xi8>
  %t = arith.constant dense<2.0> : tensor<1xf32>
  %u = arith.constant dense<3> : tensor<1xi8>
  %0 = "quantized_decomposed.dequantize_per_channel"(%a, %s, %z) {axis = 1 : i64, quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x2xi8>, tensor<2xf32>, tensor<2xi8>) -> tensor<4x2xf32>
  %1 = "quantized_decomposed.dequantize_per_channel"(%b, %t, %u) {axis = 1 : i64, quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x1xi8>, tensor<1xf32>, tensor<1xi8>) -> tensor<4x1xf32>
  %2 = tensor.concat dim(1) %0, %1 : (tensor<4x2xf32>, tensor<4x1xf32>) -> tensor<4x3xf32>
  return %2 : tensor<4x3xf32>
}

// -----

// Channels of another type of parameters are others.

// CHECK-LABEL: func.func @joined_types
// CHECK: tensor.concat {{.*}} -> tensor<4x2xf32>
func.func @joined_types(%a: tensor<4x1xi8>, %s: tensor<1xf32>, %t: tensor<1xf64>) -> tensor<4x2xf32> {
  %z = arith.constant dense<1> : tensor<1xi8>
  %0 = "quantized_decomposed.dequantize_per_channel"(%a, %s, %z) {axis = 1 : i64, quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x1xi8>, tensor<1xf32>, tensor<1xi8>) -> tensor<4x1xf32>
  %1 = "quantized_decomposed.dequantize_per_channel"(%a, %t, %z) {axis = 1 : i64, quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<4x1xi8>, tensor<1xf64>, tensor<1xi8>) -> tensor<4x1xf32>
  %2 = tensor.concat dim(1) %0, %1 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x2xf32>
  return %2 : tensor<4x2xf32>
}

// -----

// Tokens after other tokens bring their parameters; longer tokens need the same ones.

// CHECK-LABEL: func.func @joined_tokens
// CHECK-DAG: %[[S:.*]] = tensor.concat dim(0) %arg1, %arg2 : (tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<4x1xf32>
// CHECK-DAG: %[[Q:.*]] = tensor.concat dim(0) %arg0, %arg0 : (tensor<2x4xi8>, tensor<2x4xi8>) -> tensor<4x4xi8>
// CHECK: %[[X:.*]] = "quantized_decomposed.dequantize_per_token"(%[[Q]], %[[S]])
// CHECK: %[[Y:.*]] = tensor.concat dim(1) {{.*}} -> tensor<2x8xf32>
// CHECK: return %[[X]], %[[Y]]
func.func @joined_tokens(%q: tensor<2x4xi8>, %s: tensor<2x1xf32>, %t: tensor<2x1xf32>) -> (tensor<4x4xf32>, tensor<2x8xf32>) {
  %0 = "quantized_decomposed.dequantize_per_token"(%q, %s) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x4xi8>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %1 = "quantized_decomposed.dequantize_per_token"(%q, %t) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x4xi8>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %2 = tensor.concat dim(0) %0, %1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %3 = tensor.concat dim(1) %0, %1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  return %2, %3 : tensor<4x4xf32>, tensor<2x8xf32>
}

// -----

// A group that is shorter than the others has to stay at the end.

// CHECK-LABEL: func.func @joined_groups
// CHECK: tensor.concat dim(1) {{.*}} -> tensor<2x6xf32>
func.func @joined_groups(%a: tensor<2x2xi8>, %s: tensor<2x1xf32>, %b: tensor<2x4xi8>, %t: tensor<2x1xf32>) -> tensor<2x6xf32> {
  %0 = "quantized_decomposed.dequantize_per_channel_group"(%a, %s) {group_size = 4 : i64, quant_min = -8 : i64, quant_max = 7 : i64, dtype = si8} : (tensor<2x2xi8>, tensor<2x1xf32>) -> tensor<2x2xf32>
  %1 = "quantized_decomposed.dequantize_per_channel_group"(%b, %t) {group_size = 4 : i64, quant_min = -8 : i64, quant_max = 7 : i64, dtype = si8} : (tensor<2x4xi8>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %2 = tensor.concat dim(1) %0, %1 : (tensor<2x2xf32>, tensor<2x4xf32>) -> tensor<2x6xf32>
  return %2 : tensor<2x6xf32>
}

// -----

// CHECK-LABEL: func.func @repeated_tokens
// CHECK-DAG: %[[S:.*]] = linalg.broadcast ins(%arg1 : tensor<3x1xf32>) outs({{.*}} : tensor<2x3x1xf32>) dimensions = [0]
// CHECK-DAG: %[[Q:.*]] = linalg.broadcast ins(%arg0 : tensor<3x4xi8>) outs({{.*}} : tensor<2x3x4xi8>) dimensions = [0]
// CHECK: "quantized_decomposed.dequantize_per_token"
func.func @repeated_tokens(%q: tensor<3x4xi8>, %s: tensor<3x1xf32>) -> tensor<2x3x4xf32> {
  %0 = "quantized_decomposed.dequantize_per_token"(%q, %s) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<3x4xi8>, tensor<3x1xf32>) -> tensor<3x4xf32>
  %e = tensor.empty() : tensor<2x3x4xf32>
  %1 = linalg.broadcast ins(%0 : tensor<3x4xf32>) outs(%e : tensor<2x3x4xf32>) dimensions = [0]
  return %1 : tensor<2x3x4xf32>
}

// -----

// Zeros next to groups are groups; their parameters are 1 and 0.

// CHECK-LABEL: func.func @padded_groups
// CHECK: tensor.pad %arg1 low[0, 1] high[1, 0]
// CHECK: tensor.yield %{{.*}} : f32
// CHECK: tensor.pad %arg0 low[0, 2] high[1, 0]
// CHECK: tensor.yield %{{.*}} : i8
// CHECK: "quantized_decomposed.dequantize_per_channel_group"({{.*}} (tensor<3x6xi8>, tensor<3x3xf32>) -> tensor<3x6xf32>
func.func @padded_groups(%q: tensor<2x4xi8>, %s: tensor<2x2xf32>) -> tensor<3x6xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = "quantized_decomposed.dequantize_per_channel_group"(%q, %s) {group_size = 2 : i64, quant_min = -8 : i64, quant_max = 7 : i64, dtype = si8} : (tensor<2x4xi8>, tensor<2x2xf32>) -> tensor<2x4xf32>
  %1 = tensor.pad %0 low[0, 2] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<2x4xf32> to tensor<3x6xf32>
  return %1 : tensor<3x6xf32>
}

// -----

// Zeros at the end of tokens have the parameters of the token, which have to be known: infinity times 0 is not 0.

// CHECK-LABEL: func.func @padded_tokens
// CHECK: %[[Z:.*]] = arith.constant 3 : i8
// CHECK: tensor.pad %arg0 low[0, 0] high[0, 1]
// CHECK: tensor.yield %[[Z]] : i8
// CHECK: %[[X:.*]] = "quantized_decomposed.dequantize_per_token"({{.*}} -> tensor<2x5xf32>
// CHECK: tensor.pad {{.*}} low[0, 0] high[0, 1]
// CHECK: } : tensor<2x4xf32> to tensor<2x5xf32>
func.func @padded_tokens(%q: tensor<2x4xi8>, %run_time: tensor<2x1xf32>) -> (tensor<2x5xf32>, tensor<2x5xf32>) {
  %zero = arith.constant 0.0 : f32
  %s = arith.constant dense<[[0.5], [0.25]]> : tensor<2x1xf32>
  %z = arith.constant dense<3> : tensor<2x1xi8>
  %0 = "quantized_decomposed.dequantize_per_token"(%q, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x4xi8>, tensor<2x1xf32>, tensor<2x1xi8>) -> tensor<2x4xf32>
  %1 = tensor.pad %0 low[0, 0] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<2x4xf32> to tensor<2x5xf32>
  %2 = "quantized_decomposed.dequantize_per_token"(%q, %run_time) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x4xi8>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %3 = tensor.pad %2 low[0, 0] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<2x4xf32> to tensor<2x5xf32>
  return %1, %3 : tensor<2x5xf32>, tensor<2x5xf32>
}
