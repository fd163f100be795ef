// RUN: torq-opt --quantized-decomposed-backend-type-conversion=unsigned-types %s | FileCheck %s

// Others see an unsigned builtin tensor, the operations a signless one. Between two of them is nothing.

// CHECK-LABEL: func.func @unsigned
// CHECK-SAME: %[[ARG:.*]]: !torch.vtensor<[4],ui8>
// CHECK: %[[U:.*]] = torch_c.to_builtin_tensor %[[ARG]] : !torch.vtensor<[4],ui8> -> tensor<4xui8>
// CHECK: %[[I:.*]] = stablehlo.bitcast_convert %[[U]] : (tensor<4xui8>) -> tensor<4xi8>
// CHECK: "quantized_decomposed.dequantize_per_tensor"(%[[I]],
// CHECK: %[[Q:.*]] = "quantized_decomposed.quantize_per_tensor"
// CHECK: %[[V:.*]] = stablehlo.bitcast_convert %[[Q]] : (tensor<4xi8>) -> tensor<4xui8>
// CHECK: %[[R:.*]] = torch_c.from_builtin_tensor %[[V]] : tensor<4xui8> -> !torch.vtensor<[4],ui8>
// CHECK: "quantized_decomposed.dequantize_per_tensor"(%[[Q]],
// CHECK: return %[[R]],
func.func @unsigned(%q: !torch.vtensor<[4],ui8>, %s: !torch.float, %z: !torch.int) -> (!torch.vtensor<[4],ui8>, !torch.vtensor<[4],f32>) {
  %x = "quantized_decomposed.dequantize_per_tensor"(%q, %s, %z) {dtype = ui8, quant_max = 255 : i64, quant_min = 0 : i64} : (!torch.vtensor<[4],ui8>, !torch.float, !torch.int) -> !torch.vtensor<[4],f32>
  %r = "quantized_decomposed.quantize_per_tensor"(%x, %s, %z) {dtype = ui8, quant_max = 255 : i64, quant_min = 0 : i64} : (!torch.vtensor<[4],f32>, !torch.float, !torch.int) -> !torch.vtensor<[4],ui8>
  %y = "quantized_decomposed.dequantize_per_tensor"(%r, %s, %z) {dtype = ui8, quant_max = 255 : i64, quant_min = 0 : i64} : (!torch.vtensor<[4],ui8>, !torch.float, !torch.int) -> !torch.vtensor<[4],f32>
  return %r, %y : !torch.vtensor<[4],ui8>, !torch.vtensor<[4],f32>
}
