// Passes run in the order of their flags, Python and C++, each on the op that it is for.

// RUN: torq-opt %s --canonicalize --convert-quantized-decomposed-to-linalg -cse \
// RUN:   --dump-pass-pipeline 2>&1 | FileCheck %s
// RUN: torq-opt %s -torch-decompose-complex-ops=legal-ops=aten.relu --torq-fuse-quantized-ops=explain \
// RUN:   --canonicalize='max-iterations=3 top-down=false' -torq-fuse-quantized-ops='explain=0' \
// RUN:   --dump-pass-pipeline -o - 2>&1 | FileCheck %s --check-prefix=OPTIONS
// RUN: torq-opt %s --torq-hl-to-linalg | FileCheck %s --check-prefix=NAMED

// CHECK:      Pass Manager with 3 passes:
// CHECK-NEXT: builtin.module(
// CHECK-NEXT:   canonicalize{{{.*}} max-iterations=10 {{.*}}},
// CHECK-NEXT:   convert-quantized-decomposed-to-linalg,
// CHECK-NEXT:   cse
// CHECK-NEXT: )

// OPTIONS:      Pass Manager with 4 passes:
// OPTIONS-NEXT: builtin.module(
// OPTIONS-NEXT:   func.func(
// OPTIONS-NEXT:     torch-decompose-complex-ops{legal-ops={aten.relu}}
// OPTIONS-NEXT:   ),
// OPTIONS-NEXT:   torq-fuse-quantized-ops{explain=true},
// OPTIONS-NEXT:   canonicalize{{{.*}} max-iterations=3 {{.*}} top-down=false},
// OPTIONS-NEXT:   torq-fuse-quantized-ops{explain=false}
// OPTIONS-NEXT: )

// CHECK-LABEL:   func.func @quantize_twice
// OPTIONS-LABEL: func.func @quantize_twice
// NAMED-LABEL:   func.func @quantize_twice
func.func @quantize_twice(%x: tensor<4xf32>) -> (tensor<4xi8>, tensor<4xi8>) {
  %scale = arith.constant dense<0.5> : tensor<f32>
  %zero_point = arith.constant dense<3> : tensor<i8>
  // The C++ pass after the Python pass merges what the Python pass made of the two.
  // CHECK:       %[[Q:.*]] = linalg.generic
  // CHECK:         arith.divf
  // CHECK:         math.roundeven
  // CHECK-NOT:   linalg.generic
  // CHECK:       return %[[Q]], %[[Q]]
  // NAMED:       linalg.generic
  // NAMED-NOT:   linalg.generic
  // OPTIONS-COUNT-2: quantized_decomposed.quantize_per_tensor
  %0 = "quantized_decomposed.quantize_per_tensor"(%x, %scale, %zero_point) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  %1 = "quantized_decomposed.quantize_per_tensor"(%x, %scale, %zero_point) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8, divide} : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  return %0, %1 : tensor<4xi8>, tensor<4xi8>
}
