// RUN: torq-opt --convert-linalg-to-torq-hl=float=bf16 %s | FileCheck %s

// A quantize generic that no weighted operation takes in: f2f, mul by 1 / 0.5 with bias -5, f2i, fma that clamps.

#id = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func @quantize_generic
// CHECK-DAG: %[[R:.*]] = arith.constant dense<2.000000e+00> : tensor<1xbf16>
// CHECK-DAG: %[[Z:.*]] = arith.constant dense<-5.000000e+00> : tensor<1xf32>
// CHECK: %[[A:.*]] = "torq_hl.act"(%{{.*}}, %arg0) {{.*}}"f2f"
// CHECK: %[[B:.*]] = "torq_hl.mul"(%{{.*}}, %[[Z]], %[[A]], %[[R]])
// CHECK: %[[C:.*]] = "torq_hl.act"(%{{.*}}, %[[B]]) {{.*}}"f2i"
// CHECK: "torq_hl.fma"(%{{.*}}, %{{.*}}, %{{.*}}, %[[C]]) {output_max = 127 : i32, output_min = -128 : i32
// CHECK-NOT: linalg
func.func @quantize_generic(%x: tensor<8xf32>) -> tensor<8xi8> {
  %s = arith.constant 0.5 : f32
  %z = arith.constant -5.0 : f32
  %lo = arith.constant -128.0 : f32
  %hi = arith.constant 127.0 : f32
  %e = tensor.empty() : tensor<8xi8>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xi8>) {
  ^bb0(%in: f32, %out: i8):
    %a = arith.divf %in, %s : f32
    %r = math.roundeven %a : f32
    %b = arith.addf %r, %z : f32
    %c = arith.maximumf %b, %lo : f32
    %d = arith.minimumf %c, %hi : f32
    %i = arith.fptosi %d : f32 to i8
    linalg.yield %i : i8
  } -> tensor<8xi8>
  return %q : tensor<8xi8>
}
