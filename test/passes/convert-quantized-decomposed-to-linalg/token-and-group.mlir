// RUN: torq-opt --split-input-file --convert-quantized-decomposed-to-linalg %s | FileCheck %s

// Weights stay as they are stored; the parameters of a group are found by a division of the index.

// CHECK-DAG: #[[ALL:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[GROUP:.*]] = affine_map<(d0, d1) -> (d0, d1 floordiv 32)>
// CHECK-LABEL: func.func @weights
// CHECK-SAME: %[[W:[^:]*]]: tensor<64x128xi4>, %[[S:[^:]*]]: tensor<64x4xf32>
// CHECK: %[[ZP:.*]] = linalg.generic {{.*}} ins(%arg2 : tensor<64x4xi4>)
// CHECK: arith.extui %{{.*}} : i4 to i32
// CHECK: linalg.generic {indexing_maps = [#[[ALL]], #[[GROUP]], #[[GROUP]], #[[ALL]]], iterator_types = ["parallel", "parallel"]}
// CHECK-SAME: ins(%[[W]], %[[S]], %[[ZP]] : tensor<64x128xi4>, tensor<64x4xf32>, tensor<64x4xi32>) outs(%{{.*}} : tensor<64x128xf32>)
// CHECK-NEXT: ^bb0(%[[Q:.*]]: i4, %[[SCALE:.*]]: f32, %[[ZERO:.*]]: i32, %{{.*}}: f32):
// CHECK-NEXT: %[[WIDE:.*]] = arith.extui %[[Q]] : i4 to i32
// CHECK-NEXT: %[[CENTERED:.*]] = arith.subi %[[WIDE]], %[[ZERO]]
// CHECK-NEXT: %[[FLOAT:.*]] = arith.sitofp %[[CENTERED]] : i32 to f32
// CHECK-NEXT: %[[PRODUCT:.*]] = arith.mulf %[[FLOAT]], %[[SCALE]]
// CHECK-NEXT: linalg.yield %[[PRODUCT]]
func.func @weights(%w: tensor<64x128xi4>, %s: tensor<64x4xf32>, %z: tensor<64x4xi4>) -> tensor<64x128xf32> {
  %0 = "quantized_decomposed.dequantize_per_channel_group"(%w, %s, %z) {group_size = 32 : i64, quant_min = 0 : i64, quant_max = 15 : i64, dtype = ui4} : (tensor<64x128xi4>, tensor<64x4xf32>, tensor<64x4xi4>) -> tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}

// -----

// A zero point of 0 is not subtracted, and one group needs no division. bf16 rounds after each step.

// CHECK-DAG: #[[ALL:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[ONE:.*]] = affine_map<(d0, d1) -> (d0, 0)>
// CHECK-LABEL: func.func @symmetric
// CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%arg1 : tensor<64x1xbf16>) outs(%{{.*}} : tensor<64x1xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[ALL]], #[[ONE]], #[[ALL]]]
// CHECK-SAME: ins(%arg0, %[[S]] : tensor<64x128xi8>, tensor<64x1xf32>)
// CHECK-NEXT: ^bb0(%[[Q:.*]]: i8, %[[SCALE:.*]]: f32, %{{.*}}: bf16):
// CHECK-NEXT: %[[WIDE:.*]] = arith.extsi %[[Q]] : i8 to i32
// CHECK-NEXT: %[[FLOAT:.*]] = arith.sitofp %[[WIDE]] : i32 to f32
// CHECK-NEXT: %[[HALF:.*]] = arith.truncf %[[FLOAT]] : f32 to bf16
// CHECK-NEXT: %[[VALUE:.*]] = arith.extf %[[HALF]] : bf16 to f32
// CHECK-NEXT: %[[PRODUCT:.*]] = arith.mulf %[[VALUE]], %[[SCALE]]
// CHECK-NEXT: %[[ROUNDED:.*]] = arith.truncf %[[PRODUCT]] : f32 to bf16
// CHECK-NEXT: linalg.yield %[[ROUNDED]]
func.func @symmetric(%w: tensor<64x128xi8>, %s: tensor<64x1xbf16>) -> tensor<64x128xbf16> {
  %z = arith.constant dense<0> : tensor<64x1xi32>
  %0 = "quantized_decomposed.dequantize_per_channel_group"(%w, %s, %z) {group_size = 128 : i64, quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<64x128xi8>, tensor<64x1xbf16>, tensor<64x1xi32>) -> tensor<64x128xbf16>
  return %0 : tensor<64x128xbf16>
}

// -----

// Blocks along the first axis, as ONNX has them: divided, and rounded before the zero point is added.

// CHECK-DAG: #[[GROUP:.*]] = affine_map<(d0, d1) -> (d0 floordiv 2, d1)>
// CHECK-LABEL: func.func @blocks
// CHECK-DAG: %[[ZP:.*]] = arith.constant dense<2.500000e+02> : tensor<2x3xf32>
// CHECK-DAG: %[[LOW:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[HIGH:.*]] = arith.constant 2.550000e+02 : f32
// CHECK: linalg.generic {{.*}} ins(%arg0, %arg1, %[[ZP]] : tensor<4x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>)
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[SCALE:.*]]: f32, %[[ZERO:.*]]: f32, %{{.*}}: i8):
// CHECK-NEXT: %[[SCALED:.*]] = arith.divf %[[X]], %[[SCALE]]
// CHECK-NEXT: %[[ROUNDED:.*]] = math.roundeven %[[SCALED]]
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[ROUNDED]], %[[ZERO]]
// CHECK: arith.select %{{.*}}, %[[LOW]], %{{.*}} : f32
// CHECK-NEXT: arith.fptoui %{{.*}} : f32 to i8
func.func @blocks(%x: tensor<4x3xf32>, %s: tensor<2x3xf32>) -> tensor<4x3xi8> {
  %z = arith.constant dense<-6> : tensor<2x3xi8>
  %0 = "quantized_decomposed.quantize_per_channel_group"(%x, %s, %z) {group_size = 2 : i64, axis = 0 : i64, quant_min = 0 : i64, quant_max = 255 : i64, dtype = ui8, divide, round_first} : (tensor<4x3xf32>, tensor<2x3xf32>, tensor<2x3xi8>) -> tensor<4x3xi8>
  return %0 : tensor<4x3xi8>
}

// -----

// Scales in f64 make the product one of f64; reciprocals and zero points are computed once for each token. The zero
// point is added before rounding. NaN becomes 0.

// CHECK-DAG: #[[ALL:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[TOKEN:.*]] = affine_map<(d0, d1) -> (d0, 0)>
// CHECK-LABEL: func.func @token
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1.000000e+00 : f64
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%arg1 : tensor<?x1xf64>)
// CHECK: arith.divf %[[ONE]], %{{.*}} : f64
// CHECK: %[[ZP:.*]] = linalg.generic {{.*}} ins(%arg2 : tensor<?x1xi64>)
// CHECK: arith.sitofp %{{.*}} : i64 to f64
// CHECK: %[[NAN:.*]] = arith.constant 0.000000e+00 : f64
// CHECK: linalg.generic {indexing_maps = [#[[ALL]], #[[TOKEN]], #[[TOKEN]], #[[ALL]]]
// CHECK-SAME: ins(%arg0, %[[R]], %[[ZP]] : tensor<?x8xf32>, tensor<?x1xf64>, tensor<?x1xf64>) outs(%{{.*}} : tensor<?x8xi8>)
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[FACTOR:.*]]: f64, %[[ZERO:.*]]: f64, %{{.*}}: i8):
// CHECK-NEXT: %[[WIDE:.*]] = arith.extf %[[X]] : f32 to f64
// CHECK-NEXT: %[[SCALED:.*]] = arith.mulf %[[WIDE]], %[[FACTOR]]
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[SCALED]], %[[ZERO]]
// CHECK-NEXT: %[[ROUNDED:.*]] = math.roundeven %[[SUM]]
// CHECK-NEXT: %[[MAX:.*]] = arith.maximumf %[[ROUNDED]], %{{.*}}
// CHECK-NEXT: %[[MIN:.*]] = arith.minimumf %[[MAX]], %{{.*}}
// CHECK-NEXT: %[[UNO:.*]] = arith.cmpf uno, %[[MIN]], %[[MIN]]
// CHECK-NEXT: %[[DEFINED:.*]] = arith.select %[[UNO]], %[[NAN]], %[[MIN]]
// CHECK-NEXT: arith.fptosi %[[DEFINED]] : f64 to i8
func.func @token(%x: tensor<?x8xf32>, %s: tensor<?x1xf64>, %z: tensor<?x1xi64>) -> tensor<?x8xi8> {
  %0 = "quantized_decomposed.quantize_per_token"(%x, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<?x8xf32>, tensor<?x1xf64>, tensor<?x1xi64>) -> tensor<?x8xi8>
  return %0 : tensor<?x8xi8>
}

// -----

// A zero point of 64 bits is subtracted in 64 bits; a floating-point one in its own type. What is known of the result's
// shape is not what is known of the input's.

// CHECK-LABEL: func.func @token_zero_points
// CHECK: %[[W:.*]] = arith.extsi %{{.*}} : i8 to i64
// CHECK-NEXT: %[[D:.*]] = arith.subi %[[W]], %{{.*}} : i64
// CHECK-NEXT: %[[F:.*]] = arith.sitofp %[[D]] : i64 to f64
// CHECK-NEXT: %[[P:.*]] = arith.mulf %[[F]], %{{.*}} : f64
// CHECK-NEXT: arith.truncf %[[P]] : f64 to f32
// CHECK: tensor.cast %{{.*}} : tensor<?x8xf32> to tensor<4x8xf32>
// CHECK: %[[F:.*]] = arith.sitofp %{{.*}} : i8 to f32
// CHECK-NEXT: %[[D:.*]] = arith.subf %[[F]], %{{.*}} : f32
func.func @token_zero_points(%q: tensor<?x8xi8>, %s: tensor<?x1xf64>, %z: tensor<?x1xi64>, %f: tensor<?x1xf32>) -> (tensor<4x8xf32>, tensor<?x8xf32>) {
  %0 = "quantized_decomposed.dequantize_per_token"(%q, %s, %z) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<?x8xi8>, tensor<?x1xf64>, tensor<?x1xi64>) -> tensor<4x8xf32>
  %1 = "quantized_decomposed.dequantize_per_token"(%q, %f, %f) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (tensor<?x8xi8>, tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x8xf32>
  return %0, %1 : tensor<4x8xf32>, tensor<?x8xf32>
}

// -----

// Torch tensors are for the conversion of types to come first.

// CHECK-LABEL: func.func @torch_tensors
// CHECK: quantized_decomposed.dequantize_per_token
func.func @torch_tensors(%q: !torch.vtensor<[4,8],si8>, %s: !torch.vtensor<[4,1],f32>) -> !torch.vtensor<[4,8],f32> {
  %0 = "quantized_decomposed.dequantize_per_token"(%q, %s) {quant_min = -128 : i64, quant_max = 127 : i64, dtype = si8} : (!torch.vtensor<[4,8],si8>, !torch.vtensor<[4,1],f32>) -> !torch.vtensor<[4,8],f32>
  return %0 : !torch.vtensor<[4,8],f32>
}
