// RUN: torq-opt --split-input-file --quantized-decomposed-simplify %s | FileCheck %s

// ONNX Runtime's quantizer quantizes a flattened value again; the flatten moves integers and the pair disappears.

// CHECK-LABEL: func.func @flatten_between_pairs
// CHECK: %[[Q:.*]] = "quantized_decomposed.quantize_per_tensor"(%arg0
// CHECK: %[[F:.*]] = torch.aten.flatten.using_ints %[[Q]], {{.*}} -> !torch.vtensor<[1,12],si8>
// CHECK: %[[D:.*]] = "quantized_decomposed.dequantize_per_tensor"(%[[F]]
// CHECK: return %[[D]]
func.func @flatten_between_pairs(%x: !torch.vtensor<[1,3,2,2],f32>) -> !torch.vtensor<[1,12],f32> {
  %s = torch.vtensor.literal(dense<0.5> : tensor<f32>) : !torch.vtensor<[],f32>
  %z = torch.vtensor.literal(dense<3> : tensor<si8>) : !torch.vtensor<[],si8>
  %one = torch.constant.int 1
  %three = torch.constant.int 3
  %0 = "quantized_decomposed.quantize_per_tensor"(%x, %s, %z) {divide, quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (!torch.vtensor<[1,3,2,2],f32>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>) -> !torch.vtensor<[1,3,2,2],si8>
  %1 = "quantized_decomposed.dequantize_per_tensor"(%0, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (!torch.vtensor<[1,3,2,2],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>) -> !torch.vtensor<[1,3,2,2],f32>
  %2 = torch.aten.flatten.using_ints %1, %one, %three : !torch.vtensor<[1,3,2,2],f32>, !torch.int, !torch.int -> !torch.vtensor<[1,12],f32>
  %3 = "quantized_decomposed.quantize_per_tensor"(%2, %s, %z) {divide, quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (!torch.vtensor<[1,12],f32>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>) -> !torch.vtensor<[1,12],si8>
  %4 = "quantized_decomposed.dequantize_per_tensor"(%3, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (!torch.vtensor<[1,12],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>) -> !torch.vtensor<[1,12],f32>
  return %4 : !torch.vtensor<[1,12],f32>
}

// -----

// A quantize moves up through any number of movements.

// CHECK-LABEL: func.func @quantize_up
// CHECK: %[[Q:.*]] = "quantized_decomposed.quantize_per_tensor"(%arg0, {{.*}} -> !torch.vtensor<[2,3,4],ui8>
// CHECK: %[[P:.*]] = torch.aten.permute %[[Q]], {{.*}} -> !torch.vtensor<[4,2,3],ui8>
// CHECK: %[[V:.*]] = torch.aten.view %[[P]], {{.*}} -> !torch.vtensor<[4,6],ui8>
// CHECK: return %[[V]]
func.func @quantize_up(%x: !torch.vtensor<[2,3,4],f32>) -> !torch.vtensor<[4,6],ui8> {
  %s = torch.vtensor.literal(dense<0.5> : tensor<f32>) : !torch.vtensor<[],f32>
  %z = torch.vtensor.literal(dense<3> : tensor<ui8>) : !torch.vtensor<[],ui8>
  %zero = torch.constant.int 0
  %one = torch.constant.int 1
  %two = torch.constant.int 2
  %four = torch.constant.int 4
  %six = torch.constant.int 6
  %perm = torch.prim.ListConstruct %two, %zero, %one : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %shape = torch.prim.ListConstruct %four, %six : (!torch.int, !torch.int) -> !torch.list<int>
  %0 = torch.aten.permute %x, %perm : !torch.vtensor<[2,3,4],f32>, !torch.list<int> -> !torch.vtensor<[4,2,3],f32>
  %1 = torch.aten.view %0, %shape : !torch.vtensor<[4,2,3],f32>, !torch.list<int> -> !torch.vtensor<[4,6],f32>
  %2 = "quantized_decomposed.quantize_per_tensor"(%1, %s, %z) {divide, quant_min = 0 : i64, quant_max = 255 : i64, dtype = ui8} : (!torch.vtensor<[4,6],f32>, !torch.vtensor<[],f32>, !torch.vtensor<[],ui8>) -> !torch.vtensor<[4,6],ui8>
  return %2 : !torch.vtensor<[4,6],ui8>
}

// -----

// Where the real values are used too, a movement of the integers would be one more.

// CHECK-LABEL: func.func @moved_values_used
// CHECK: torch.aten.t %arg0 : !torch.vtensor<[2,3],f32>
// CHECK-NOT: torch.aten.t
// CHECK: return
func.func @moved_values_used(%x: !torch.vtensor<[2,3],f32>) -> (!torch.vtensor<[3,2],f32>, !torch.vtensor<[3,2],ui8>) {
  %s = torch.vtensor.literal(dense<0.5> : tensor<f32>) : !torch.vtensor<[],f32>
  %z = torch.vtensor.literal(dense<3> : tensor<ui8>) : !torch.vtensor<[],ui8>
  %0 = torch.aten.t %x : !torch.vtensor<[2,3],f32> -> !torch.vtensor<[3,2],f32>
  %1 = "quantized_decomposed.quantize_per_tensor"(%0, %s, %z) {divide, quant_min = 0 : i64, quant_max = 255 : i64, dtype = ui8} : (!torch.vtensor<[3,2],f32>, !torch.vtensor<[],f32>, !torch.vtensor<[],ui8>) -> !torch.vtensor<[3,2],ui8>
  return %0, %1 : !torch.vtensor<[3,2],f32>, !torch.vtensor<[3,2],ui8>
}

// -----

// The channel axis follows a permutation; a constant weight is transposed, still as integers.

// CHECK-LABEL: func.func @transposed_weight
// CHECK: %[[W:.*]] = torch.vtensor.literal(dense<{{\[}}[1, 4], [2, 5], [3, 6]]> : tensor<3x2xsi8>) : !torch.vtensor<[3,2],si8>
// CHECK: "quantized_decomposed.dequantize_per_channel"(%[[W]], {{.*}}) {axis = 1 : i64, dtype = si8, quant_max = 127 : i64, quant_min = -128 : i64}
func.func @transposed_weight() -> !torch.vtensor<[3,2],f32> {
  %w = torch.vtensor.literal(dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xsi8>) : !torch.vtensor<[2,3],si8>
  %s = torch.vtensor.literal(dense<[0.5, 0.25]> : tensor<2xf32>) : !torch.vtensor<[2],f32>
  %z = torch.vtensor.literal(dense<0> : tensor<2xsi8>) : !torch.vtensor<[2],si8>
  %zero = torch.constant.int 0
  %last = torch.constant.int -1
  %0 = "quantized_decomposed.dequantize_per_channel"(%w, %s, %z) {axis = 0 : i64, quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (!torch.vtensor<[2,3],si8>, !torch.vtensor<[2],f32>, !torch.vtensor<[2],si8>) -> !torch.vtensor<[2,3],f32>
  %1 = torch.aten.transpose.int %0, %zero, %last : !torch.vtensor<[2,3],f32>, !torch.int, !torch.int -> !torch.vtensor<[3,2],f32>
  return %1 : !torch.vtensor<[3,2],f32>
}

// -----

// The channel axis follows a reshape that leaves its dimension alone.

// CHECK-LABEL: func.func @unsqueezed_channels
// CHECK: torch.aten.unsqueeze %arg0, {{.*}} -> !torch.vtensor<[1,2,3],si8>
// CHECK: "quantized_decomposed.dequantize_per_channel"({{.*}}) {axis = 2 : i64,
func.func @unsqueezed_channels(%w: !torch.vtensor<[2,3],si8>) -> !torch.vtensor<[1,2,3],f32> {
  %s = torch.vtensor.literal(dense<[0.5, 0.25, 1.0]> : tensor<3xf32>) : !torch.vtensor<[3],f32>
  %z = torch.vtensor.literal(dense<0> : tensor<3xsi8>) : !torch.vtensor<[3],si8>
  %zero = torch.constant.int 0
  %0 = "quantized_decomposed.dequantize_per_channel"(%w, %s, %z) {axis = 1 : i64, quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (!torch.vtensor<[2,3],si8>, !torch.vtensor<[3],f32>, !torch.vtensor<[3],si8>) -> !torch.vtensor<[2,3],f32>
  %1 = torch.aten.unsqueeze %0, %zero : !torch.vtensor<[2,3],f32>, !torch.int -> !torch.vtensor<[1,2,3],f32>
  return %1 : !torch.vtensor<[1,2,3],f32>
}

// -----

// A reshape that splits or merges the channels leaves no axis for the scales to run along.

// CHECK-LABEL: func.func @split_and_merged_channels
// CHECK: "quantized_decomposed.dequantize_per_channel"(%arg0
// CHECK: torch.aten.view {{.*}} -> !torch.vtensor<[2,2,3],f32>
// CHECK: torch.aten.view {{.*}} -> !torch.vtensor<[12],f32>
func.func @split_and_merged_channels(%w: !torch.vtensor<[4,3],si8>) -> (!torch.vtensor<[2,2,3],f32>, !torch.vtensor<[12],f32>) {
  %s = torch.vtensor.literal(dense<[0.5, 0.25, 1.0, 2.0]> : tensor<4xf32>) : !torch.vtensor<[4],f32>
  %z = torch.vtensor.literal(dense<0> : tensor<4xsi8>) : !torch.vtensor<[4],si8>
  %two = torch.constant.int 2
  %three = torch.constant.int 3
  %twelve = torch.constant.int 12
  %split = torch.prim.ListConstruct %two, %two, %three : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %merged = torch.prim.ListConstruct %twelve : (!torch.int) -> !torch.list<int>
  %0 = "quantized_decomposed.dequantize_per_channel"(%w, %s, %z) {axis = 0 : i64, quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (!torch.vtensor<[4,3],si8>, !torch.vtensor<[4],f32>, !torch.vtensor<[4],si8>) -> !torch.vtensor<[4,3],f32>
  %1 = torch.aten.view %0, %split : !torch.vtensor<[4,3],f32>, !torch.list<int> -> !torch.vtensor<[2,2,3],f32>
  %2 = torch.aten.view %0, %merged : !torch.vtensor<[4,3],f32>, !torch.list<int> -> !torch.vtensor<[12],f32>
  return %1, %2 : !torch.vtensor<[2,2,3],f32>, !torch.vtensor<[12],f32>
}

// -----

// Dimensions that are not constant: nothing is known about the axis, and per tensor nothing has to be.

// CHECK-LABEL: func.func @runtime_dimensions
// CHECK: %[[C:.*]] = "quantized_decomposed.dequantize_per_channel"(%arg0
// CHECK: torch.aten.permute %[[C]]
// CHECK: %[[P:.*]] = torch.aten.permute %arg0
// CHECK: "quantized_decomposed.dequantize_per_tensor"(%[[P]]
func.func @runtime_dimensions(%w: !torch.vtensor<[4,3],si8>, %d: !torch.int) -> (!torch.vtensor<[3,4],f32>, !torch.vtensor<[3,4],f32>) {
  %s = torch.vtensor.literal(dense<[0.5, 0.25, 1.0, 2.0]> : tensor<4xf32>) : !torch.vtensor<[4],f32>
  %z = torch.vtensor.literal(dense<0> : tensor<4xsi8>) : !torch.vtensor<[4],si8>
  %st = torch.vtensor.literal(dense<0.5> : tensor<f32>) : !torch.vtensor<[],f32>
  %zt = torch.vtensor.literal(dense<0> : tensor<si8>) : !torch.vtensor<[],si8>
  %zero = torch.constant.int 0
  %perm = torch.prim.ListConstruct %d, %zero : (!torch.int, !torch.int) -> !torch.list<int>
  %0 = "quantized_decomposed.dequantize_per_channel"(%w, %s, %z) {axis = 0 : i64, quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (!torch.vtensor<[4,3],si8>, !torch.vtensor<[4],f32>, !torch.vtensor<[4],si8>) -> !torch.vtensor<[4,3],f32>
  %1 = torch.aten.permute %0, %perm : !torch.vtensor<[4,3],f32>, !torch.list<int> -> !torch.vtensor<[3,4],f32>
  %2 = "quantized_decomposed.dequantize_per_tensor"(%w, %st, %zt) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (!torch.vtensor<[4,3],si8>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>) -> !torch.vtensor<[4,3],f32>
  %3 = torch.aten.permute %2, %perm : !torch.vtensor<[4,3],f32>, !torch.list<int> -> !torch.vtensor<[3,4],f32>
  return %1, %3 : !torch.vtensor<[3,4],f32>, !torch.vtensor<[3,4],f32>
}
