// RUN: torq-opt --convert-quantized-decomposed-to-stablehlo --verify-diagnostics %s

func.func @dynamic_groups(%q: tensor<2x?xi8>, %scales: tensor<2x?xf32>) -> tensor<2x?xf32> {
  // expected-error @+1 {{'quantized_decomposed.dequantize_per_channel_group' needs groups along a dynamic dimension}}
  %x = "quantized_decomposed.dequantize_per_channel_group"(%q, %scales) {dtype = si8, group_size = 4 : i64, quant_max = 7 : i64, quant_min = -8 : i64} : (tensor<2x?xi8>, tensor<2x?xf32>) -> tensor<2x?xf32>
  return %x : tensor<2x?xf32>
}
