// RUN: torq-opt --quantized-decomposed-simplify --verify-diagnostics %s

func.func @per_tensor(%x: !torch.vtensor<[8],f32>) -> (!torch.vtensor<[8],si8>, !torch.vtensor<[8],si8>) {
  %infinite = torch.vtensor.literal(dense<0x7F800000> : tensor<f32>) : !torch.vtensor<[],f32>
  %largest = torch.vtensor.literal(dense<3.40282347E+38> : tensor<f32>) : !torch.vtensor<[],f32>
  %zero_point = torch.vtensor.literal(dense<0> : tensor<si8>) : !torch.vtensor<[],si8>
  // expected-error@+1 {{'quantized_decomposed.quantize_per_tensor' op: the scale is inf, not a finite number}}
  %wrong = "quantized_decomposed.quantize_per_tensor"(%x, %infinite, %zero_point) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (!torch.vtensor<[8],f32>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>) -> !torch.vtensor<[8],si8>
  %right = "quantized_decomposed.quantize_per_tensor"(%x, %largest, %zero_point) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (!torch.vtensor<[8],f32>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>) -> !torch.vtensor<[8],si8>
  return %wrong, %right : !torch.vtensor<[8],si8>, !torch.vtensor<[8],si8>
}

func.func @per_channel(%q: tensor<3x2xi8>) -> tensor<3x2xf32> {
  %scales = arith.constant dense<[0.5, 0x7FC00000]> : tensor<2xf32>
  %zero_points = arith.constant dense<0> : tensor<2xi8>
  // expected-error@+1 {{'quantized_decomposed.dequantize_per_channel' op: scale 1 is nan, not a finite number}}
  %x = "quantized_decomposed.dequantize_per_channel"(%q, %scales, %zero_points) {axis = 1 : i64, quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<3x2xi8>, tensor<2xf32>, tensor<2xi8>) -> tensor<3x2xf32>
  return %x : tensor<3x2xf32>
}

func.func @groups(%q: tensor<2x4xi8>) -> tensor<2x4xf32> {
  %scales = arith.constant dense<[[0.5, 0.25], [0xFF800000, 0.125]]> : tensor<2x2xf32>
  %zero_points = arith.constant dense<0> : tensor<2x2xi8>
  // expected-error@+1 {{'quantized_decomposed.dequantize_per_channel_group' op: scale 1, 0 is -inf, not a finite number}}
  %x = "quantized_decomposed.dequantize_per_channel_group"(%q, %scales, %zero_points) {group_size = 2 : i64, quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<2x4xi8>, tensor<2x2xf32>, tensor<2x2xi8>) -> tensor<2x4xf32>
  return %x : tensor<2x4xf32>
}

func.func @run_time(%x: tensor<8xf32>, %scale: tensor<f32>, %zero_point: tensor<i8>) -> tensor<8xi8> {
  %q = "quantized_decomposed.quantize_per_tensor"(%x, %scale, %zero_point) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<8xf32>, tensor<f32>, tensor<i8>) -> tensor<8xi8>
  return %q : tensor<8xi8>
}
