// RUN: torq-opt --split-input-file --quantized-decomposed-simplify %s | FileCheck %s

// A conversion to the same type is nothing; one that only changes the sign is something.

// CHECK-LABEL: func.func @identity_conversion
// CHECK-SAME: (%[[X:.*]]: tensor<4xi8>)
// CHECK-NEXT: %[[Y:.*]] = "quantized_decomposed.convert_element_type"(%[[X]]) {dtype = ui8, input_dtype = si8}
// CHECK-NEXT: return %[[X]], %[[Y]]
func.func @identity_conversion(%x: tensor<4xi8>) -> (tensor<4xi8>, tensor<4xi8>) {
  %0 = "quantized_decomposed.convert_element_type"(%x) {dtype = si8, input_dtype = si8} : (tensor<4xi8>) -> tensor<4xi8>
  %1 = "quantized_decomposed.convert_element_type"(%x) {dtype = ui8, input_dtype = si8} : (tensor<4xi8>) -> tensor<4xi8>
  return %0, %1 : tensor<4xi8>, tensor<4xi8>
}

// -----

// CHECK-LABEL: func.func @implementation
// CHECK: %[[P:.*]]:2 = "quantized_decomposed.choose_qparams_per_token_asymmetric"(%arg0) {dtype = si8} : (!torch.vtensor<[?,8],f32>) -> (!torch.vtensor<[?,1],f64>, !torch.vtensor<[?,1],si64>)
// CHECK-NEXT: return %[[P]]#0, %[[P]]#1
func.func @implementation(%x: !torch.vtensor<[?,8],f32>) -> (!torch.vtensor<[?,1],f64>, !torch.vtensor<[?,1],si64>) {
  %0:2 = "quantized_decomposed._choose_qparams_per_token_asymmetric_impl"(%x) {dtype = si8} : (!torch.vtensor<[?,8],f32>) -> (!torch.vtensor<[?,1],f64>, !torch.vtensor<[?,1],si64>)
  return %0#0, %0#1 : !torch.vtensor<[?,1],f64>, !torch.vtensor<[?,1],si64>
}

// -----

// Integer zero points of 0 go. A float of 0 stays: here it makes the difference one of f32.

// CHECK-LABEL: func.func @zero_points
// CHECK: "quantized_decomposed.dequantize_per_channel_group"(%arg0, %arg1) {dtype = si4, group_size = 4 : i64, quant_max = 7 : i64, quant_min = -8 : i64} : (tensor<2x8xi4>, tensor<2x2xbf16>) -> tensor<2x8xf32>
// CHECK: "quantized_decomposed.dequantize_per_channel_group"(%arg0, %arg1, %{{.*}}) {{.*}} (tensor<2x8xi4>, tensor<2x2xbf16>, tensor<2x2xf32>) -> tensor<2x8xf32>
func.func @zero_points(%w: tensor<2x8xi4>, %scales: tensor<2x2xbf16>) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  %i = arith.constant dense<0> : tensor<2x2xi4>
  %f = arith.constant dense<0.0> : tensor<2x2xf32>
  %0 = "quantized_decomposed.dequantize_per_channel_group"(%w, %scales, %i) {group_size = 4 : i64, quant_min = -8 : i64, quant_max = 7 : i64, dtype = si4} : (tensor<2x8xi4>, tensor<2x2xbf16>, tensor<2x2xi4>) -> tensor<2x8xf32>
  %1 = "quantized_decomposed.dequantize_per_channel_group"(%w, %scales, %f) {group_size = 4 : i64, quant_min = -8 : i64, quant_max = 7 : i64, dtype = si4} : (tensor<2x8xi4>, tensor<2x2xbf16>, tensor<2x2xf32>) -> tensor<2x8xf32>
  return %0, %1 : tensor<2x8xf32>, tensor<2x8xf32>
}

// -----

// A quantized constant is a constant, its dequantization stays. The zero points of ui8 storage are unsigned: -6 is 250.

// CHECK-LABEL: func.func @constant_groups
// CHECK-DAG: %[[W:.*]] = arith.constant dense<{{\[}}[-4, -2, 5, 3]]> : tensor<1x4xi8>
// CHECK-DAG: %[[V:.*]] = arith.constant dense<{{\[}}[-4, -2, -6, -8]]> : tensor<1x4xi8>
// CHECK: "quantized_decomposed.dequantize_per_channel_group"(%[[W]],
// CHECK: return %{{.*}}, %[[V]]
func.func @constant_groups() -> (tensor<1x4xf32>, tensor<1x4xi8>) {
  %x = arith.constant dense<[[2.5, 3.5, -0.5, -1.5]]> : tensor<1x4xf32>
  %s = arith.constant dense<[[1.0, 0.5]]> : tensor<1x2xf32>
  %z = arith.constant dense<[[-6, 6]]> : tensor<1x2xi8>
  %0 = "quantized_decomposed.quantize_per_channel_group"(%x, %s, %z) {group_size = 2 : i64, quant_min = 0 : i64, quant_max = 255 : i64, dtype = ui8} : (tensor<1x4xf32>, tensor<1x2xf32>, tensor<1x2xi8>) -> tensor<1x4xi8>
  %1 = "quantized_decomposed.dequantize_per_channel_group"(%0, %s, %z) {group_size = 2 : i64, quant_min = 0 : i64, quant_max = 255 : i64, dtype = ui8} : (tensor<1x4xi8>, tensor<1x2xf32>, tensor<1x2xi8>) -> tensor<1x4xf32>
  %t = arith.constant dense<1.0> : tensor<1x1xf32>
  %u = arith.constant dense<-6> : tensor<1x1xi8>
  %2 = "quantized_decomposed.quantize_per_token"(%x, %t, %u) {quant_min = 0 : i64, quant_max = 255 : i64, dtype = ui8, round_first} : (tensor<1x4xf32>, tensor<1x1xf32>, tensor<1x1xi8>) -> tensor<1x4xi8>
  return %1, %2 : tensor<1x4xf32>, tensor<1x4xi8>
}

// -----

// CHECK-LABEL: func.func @chosen
// CHECK-DAG: %[[S:.*]] = arith.constant dense<2.000000e+00> : tensor<1xf64>
// CHECK-DAG: %[[Z:.*]] = arith.constant dense<-78> : tensor<1xi64>
// CHECK-DAG: %[[T:.*]] = torch.vtensor.literal(dense<{{\[\[}}1.000000e+00], [2.000000e+00]]> : tensor<2x1xf32>) : !torch.vtensor<[2,1],f32>
// CHECK: return %[[S]], %[[Z]], %[[T]]
func.func @chosen() -> (tensor<1xf64>, tensor<1xi64>, !torch.vtensor<[2,1],f32>) {
  %x = arith.constant dense<[-100.0, 410.0]> : tensor<2xf32>
  %0:2 = "quantized_decomposed.choose_qparams"(%x) {quant_min = -128 : i64, quant_max = 127 : i64, eps = 1.0e-7 : f64, dtype = si8} : (tensor<2xf32>) -> (tensor<1xf64>, tensor<1xi64>)
  %y = torch.vtensor.literal(dense<[[-127.0, 1.0], [2.0, 254.0]]> : tensor<2x2xf32>) : !torch.vtensor<[2,2],f32>
  %1:2 = "quantized_decomposed.choose_qparams_per_token"(%y) {dtype = si8} : (!torch.vtensor<[2,2],f32>) -> (!torch.vtensor<[2,1],f32>, !torch.vtensor<[2,1],f32>)
  return %0#0, %0#1, %1#0 : tensor<1xf64>, tensor<1xi64>, !torch.vtensor<[2,1],f32>
}

// -----

// Nothing is moved in a view without elements.

// CHECK-LABEL: func.func @empty_view
// CHECK: %[[Y:.*]] = torch.vtensor.literal(dense<> : tensor<0x2x2x4xf32>) : !torch.vtensor<[0,2,2,4],f32>
// CHECK-NEXT: return %[[Y]]
func.func @empty_view(%x: !torch.vtensor<[0,4,4],f32>) -> !torch.vtensor<[0,2,2,4],f32> {
  %0 = torch.constant.int 0
  %2 = torch.constant.int 2
  %4 = torch.constant.int 4
  %l = torch.prim.ListConstruct %0, %2, %2, %4 : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %y = torch.aten.view %x, %l : !torch.vtensor<[0,4,4],f32>, !torch.list<int> -> !torch.vtensor<[0,2,2,4],f32>
  return %y : !torch.vtensor<[0,2,2,4],f32>
}
