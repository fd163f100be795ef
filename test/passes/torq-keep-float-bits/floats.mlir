// RUN: torq-opt --split-input-file --torq-keep-float-bits %s | FileCheck %s

// A product that is added to something has the sign of zero.

// CHECK-LABEL: func.func @added
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[FMA:.*]] = math.fma %arg0, %arg1, %[[ZERO]]
// CHECK: %[[IS_ZERO:.*]] = arith.cmpf oeq, %[[FMA]], %[[ZERO]]
// CHECK: %[[MUL:.*]] = arith.mulf %arg0, %arg1
// CHECK: %[[P:.*]] = arith.select %[[IS_ZERO]], %[[MUL]], %[[FMA]]
// CHECK: arith.addf %[[P]], %arg2
func.func @added(%a: f32, %b: f32, %c: f32) -> f32 {
  %p = arith.mulf %a, %b : f32
  %s = arith.addf %p, %c : f32
  return %s : f32
}

// -----

// What is rounded before, or has no f32 or f64, stays.

// CHECK-LABEL: func.func @harmless
// CHECK-NOT: math.fma
// CHECK: arith.mulf
// CHECK-NEXT: math.roundeven
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.addf
func.func @harmless(%a: f32, %b: f32, %c: bf16) -> (f32, bf16) {
  %p = arith.mulf %a, %b : f32
  %r = math.roundeven %p : f32
  %q = arith.mulf %c, %c : bf16
  %s = arith.addf %q, %c : bf16
  return %r, %s : f32, bf16
}

// -----

// A product that leaves a loop can be added to something once loops are joined.

// CHECK-LABEL: func.func @yielded
// CHECK: linalg.generic
// CHECK: math.fma
#map = affine_map<(d0) -> (d0)>
func.func @yielded(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %p = arith.mulf %in, %in : f32
    linalg.yield %p : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// The functions that executors have in common, up to f32.

// CHECK-LABEL: func.func @functions
// CHECK-NOT: math.exp %arg0
// CHECK: arith.extf %arg0 : f32 to f64
// CHECK: arith.truncf
// CHECK: math.exp %arg1 : f64
// CHECK: math.log %arg0
func.func @functions(%x: f32, %y: f64) -> (f32, f64, f32) {
  %0 = math.exp %x : f32
  %1 = math.exp %y : f64
  %2 = math.log %x : f32
  return %0, %1, %2 : f32, f64, f32
}
