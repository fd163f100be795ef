// RUN: torq-opt --split-input-file --quantized-decomposed-backend-type-conversion --verify-diagnostics %s

func.func @unknown_rank(%x: !torch.vtensor<*,f32>, %s: !torch.vtensor<[],f32>, %z: !torch.vtensor<[],si8>) -> !torch.vtensor<*,si8> {
  // expected-error@+1 {{'quantized_decomposed.quantize_per_tensor' has type !torch.vtensor<*,f32>, which says no shape or no element type}}
  %0 = "quantized_decomposed.quantize_per_tensor"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (!torch.vtensor<*,f32>, !torch.vtensor<[],f32>, !torch.vtensor<[],si8>) -> !torch.vtensor<*,si8>
  return %0 : !torch.vtensor<*,si8>
}
