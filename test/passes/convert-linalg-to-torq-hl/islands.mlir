// RUN: torq-opt --split-input-file --convert-linalg-to-torq-hl='float=bf16 explain=true' %s | FileCheck %s
// RUN: torq-opt --split-input-file --convert-linalg-to-torq-hl=explain=true %s | FileCheck %s --check-prefix=HOST

#id = affine_map<(a, b, c, d) -> (a, b, c, d)>

// A convolution with its bias and padding, a ReLU6, a maximum over windows: from f32 to bf16 once, and back once.

// HOST-LABEL: func.func @convolution
// HOST-NOT: torq_hl
// HOST: return

// CHECK-LABEL: func.func @convolution
// CHECK-DAG: %[[W:.*]] = arith.constant dense<2.500000e-01> : tensor<4x3x3x3xbf16>
// CHECK-DAG: %[[B:.*]] = arith.constant dense<[1.000000e-01, 2.000000e-01, 3.000000e-01, 4.000000e-01]> : tensor<4xf32>
// CHECK: %[[X:.*]] = "torq_hl.act"(%{{.*}}, %arg0) {{.*}}name = "f2f"{{.*}} -> tensor<1x3x8x8xbf16>
// CHECK: %[[C:.*]] = "torq_hl.conv2d"(%{{.*}}, %[[W]], %[[B]], %[[X]]) {dilation = array<i64: 1, 1>, groups = 1 : i32, input_zp = 0 : i32, output_max = 0 : i32, output_min = 0 : i32, output_zp = 0 : i32, pad = array<i64: 1, 1, 1, 1>, shift_factor = 0 : i32, stride = array<i64: 1, 1>
// CHECK: %[[R:.*]] = "torq_hl.act"(%{{.*}}, %[[C]]) {{.*}}max_fp = 6.000000e+00 : f32, {{.*}}min_fp = 0.000000e+00 : f32, {{.*}}name = "clamp"
// CHECK: %[[M:.*]] = "torq_hl.maxpool2d"(%{{.*}}, %{{.*}}, %{{.*}}, %[[R]])
// CHECK: %[[Y:.*]] = "torq_hl.act"(%{{.*}}, %[[M]]) {{.*}}name = "f2f"{{.*}} -> tensor<1x4x4x4xf32>
// CHECK: return %[[Y]]
func.func @convolution(%x: tensor<1x3x8x8xf32>) -> tensor<1x4x4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %six = arith.constant 6.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %w = arith.constant dense<0.25> : tensor<4x3x3x3xf32>
  %b = arith.constant dense<[0.1, 0.2, 0.3, 0.4]> : tensor<4xf32>
  %e = tensor.empty() : tensor<1x4x8x8xf32>
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x3x8x8xf32> to tensor<1x3x10x10xf32>
  %init = linalg.broadcast ins(%b : tensor<4xf32>) outs(%e : tensor<1x4x8x8xf32>) dimensions = [0, 2, 3]
  %c = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%p, %w : tensor<1x3x10x10xf32>, tensor<4x3x3x3xf32>) outs(%init : tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%c : tensor<1x4x8x8xf32>) outs(%e : tensor<1x4x8x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = arith.cmpf ult, %in, %zero : f32
    %d = arith.select %a, %zero, %in : f32
    %f = arith.cmpf ugt, %d, %six : f32
    %g = arith.select %f, %six, %d : f32
    linalg.yield %g : f32
  } -> tensor<1x4x8x8xf32>
  %k = tensor.empty() : tensor<2x2xf32>
  %em = tensor.empty() : tensor<1x4x4x4xf32>
  %fm = linalg.fill ins(%low : f32) outs(%em : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %y = linalg.pooling_nchw_max {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%r, %k : tensor<1x4x8x8xf32>, tensor<2x2xf32>) outs(%fm : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  return %y : tensor<1x4x4x4xf32>
}

// -----

#m = affine_map<(a, b) -> (a, b)>
#c = affine_map<(a, b) -> (b)>

// A fully connected layer with the bias that is added after it; sigmoid is made of tanh; a difference. A value that is
// used in float in between is converted for that use.

// CHECK-LABEL: func.func @linear
// CHECK-DAG: %[[W:.*]] = arith.constant dense<5.000000e-01> : tensor<8x4xbf16>
// CHECK-DAG: %[[B:.*]] = arith.constant dense<1.000000e-01> : tensor<4xf32>
// CHECK-DAG: %[[HALF:.*]] = arith.constant dense<5.000000e-01> : tensor<1xbf16>
// CHECK-DAG: %[[HALF32:.*]] = arith.constant dense<5.000000e-01> : tensor<1xf32>
// CHECK-DAG: %[[SIGNS:.*]] = arith.constant dense<[1.000000e+00, -1.000000e+00]> : tensor<2xbf16>
// CHECK: %[[F:.*]] = "torq_hl.fully_connected"(%{{.*}}, %[[W]], %[[B]], %{{.*}}) {{.*}} -> tensor<2x4xbf16>
// CHECK: %[[A:.*]] = "torq_hl.act"(%{{.*}}, %[[F]]) {{.*}}name = "f2f"{{.*}} -> tensor<2x4xf32>
// CHECK: %[[T:.*]] = "torq_hl.mul"(%{{.*}}, %{{.*}}, %[[F]], %[[HALF]])
// CHECK: %[[H:.*]] = "torq_hl.act"(%{{.*}}, %[[T]]) {{.*}}name = "tanh"
// CHECK: %[[S:.*]] = "torq_hl.mul"(%{{.*}}, %[[HALF32]], %[[H]], %[[HALF]])
// CHECK: %[[D:.*]] = "torq_hl.add"(%{{.*}}, %[[SIGNS]], %{{.*}}, %[[S]], %[[F]]) {{.*}}name = "sub"
// CHECK: %[[Y:.*]] = "torq_hl.act"(%{{.*}}, %[[D]])
// CHECK: return %[[Y]], %[[A]]
func.func @linear(%x: tensor<2x8xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %w = arith.constant dense<0.5> : tensor<8x4xf32>
  %b = arith.constant dense<0.1> : tensor<4xf32>
  %e = tensor.empty() : tensor<2x4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %f = linalg.matmul ins(%x, %w : tensor<2x8xf32>, tensor<8x4xf32>) outs(%init : tensor<2x4xf32>) -> tensor<2x4xf32>
  %g = linalg.generic {indexing_maps = [#m, #c, #m], iterator_types = ["parallel", "parallel"]} ins(%f, %b : tensor<2x4xf32>, tensor<4xf32>) outs(%e : tensor<2x4xf32>) {
  ^bb0(%in: f32, %v: f32, %out: f32):
    %a = arith.addf %in, %v : f32
    linalg.yield %a : f32
  } -> tensor<2x4xf32>
  %s = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel", "parallel"]} ins(%g : tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = arith.negf %in : f32
    %c = math.exp %a : f32
    %d = arith.addf %c, %one : f32
    %h = arith.divf %one, %d : f32
    linalg.yield %h : f32
  } -> tensor<2x4xf32>
  %y = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = ["parallel", "parallel"]} ins(%s, %g : tensor<2x4xf32>, tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) {
  ^bb0(%in: f32, %v: f32, %out: f32):
    %a = arith.subf %in, %v : f32
    linalg.yield %a : f32
  } -> tensor<2x4xf32>
  return %y, %g : tensor<2x4xf32>, tensor<2x4xf32>
}

// -----

#id = affine_map<(a, b, c, d) -> (a, b, c, d)>
#k = affine_map<(a, b, c, d) -> (a, b, 0, 0)>

// Means: over an image, over windows with weights of 1 / 4, over a dimension.

// CHECK-LABEL: func.func @means
// CHECK-DAG: %[[SHARE:.*]] = arith.constant dense<1.562500e-02> : tensor<1xf32>
// CHECK-DAG: %[[QUARTER:.*]] = arith.constant dense<2.500000e-01> : tensor<3x1x2x2xbf16>
// CHECK-DAG: %[[EIGHTH:.*]] = arith.constant dense<1.250000e-01> : tensor<1xf32>
// CHECK: "torq_hl.avg_pool2d"(%{{.*}}, %[[SHARE]],
// CHECK: "torq_hl.depthwise_conv2d"(%{{.*}}, %[[QUARTER]],
// CHECK: "torq_hl.reduce_mean"(%{{.*}}, %[[EIGHTH]],
func.func @means(%x: tensor<1x3x8x8xf32>) -> (tensor<1x3x1x1xf32>, tensor<1x3x4x4xf32>, tensor<1x3x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 64.0 : f32
  %four = arith.constant 4.0 : f32
  %eight = arith.constant 8.0 : f32
  %e0 = tensor.empty() : tensor<1x3x1x1xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<1x3x1x1xf32>) -> tensor<1x3x1x1xf32>
  %k0 = tensor.empty() : tensor<8x8xf32>
  %s0 = linalg.pooling_nchw_sum {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x, %k0 : tensor<1x3x8x8xf32>, tensor<8x8xf32>) outs(%z0 : tensor<1x3x1x1xf32>) -> tensor<1x3x1x1xf32>
  %y0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s0 : tensor<1x3x1x1xf32>) outs(%e0 : tensor<1x3x1x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = arith.divf %in, %n : f32
    linalg.yield %a : f32
  } -> tensor<1x3x1x1xf32>
  %e1 = tensor.empty() : tensor<1x3x4x4xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  %k1 = tensor.empty() : tensor<2x2xf32>
  %s1 = linalg.pooling_nchw_sum {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%x, %k1 : tensor<1x3x8x8xf32>, tensor<2x2xf32>) outs(%z1 : tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  %y1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s1 : tensor<1x3x4x4xf32>) outs(%e1 : tensor<1x3x4x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = arith.divf %in, %four : f32
    linalg.yield %a : f32
  } -> tensor<1x3x4x4xf32>
  %e2 = tensor.empty() : tensor<1x3x8xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<1x3x8xf32>) -> tensor<1x3x8xf32>
  %s2 = linalg.generic {indexing_maps = [#id, affine_map<(a, b, c, d) -> (a, b, c)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x : tensor<1x3x8x8xf32>) outs(%z2 : tensor<1x3x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = arith.addf %in, %out : f32
    linalg.yield %a : f32
  } -> tensor<1x3x8xf32>
  %y2 = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, b, c)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s2 : tensor<1x3x8xf32>) outs(%e2 : tensor<1x3x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = arith.divf %in, %eight : f32
    linalg.yield %a : f32
  } -> tensor<1x3x8xf32>
  return %y0, %y1, %y2 : tensor<1x3x1x1xf32>, tensor<1x3x4x4xf32>, tensor<1x3x8xf32>
}

// -----

#m = affine_map<(a, b) -> (a, b)>

// What has no form in bf16 stays, with the other steps of the same operator of the source; a step of another one does not.

// CHECK-LABEL: func.func @divided
// CHECK-NOT: "torq_hl.
// CHECK: math.exp
// CHECK: arith.mulf
// CHECK: "torq_hl.mul"
func.func @divided(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %two = arith.constant 2.0 : f32
  %e = tensor.empty() : tensor<2x4xf32>
  %a = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %b = math.exp %in : f32
    linalg.yield %b : f32
  } -> tensor<2x4xf32> loc("one")
  %c = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %b = arith.mulf %in, %two : f32
    linalg.yield %b : f32
  } -> tensor<2x4xf32> loc("one")
  %d = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel", "parallel"]} ins(%c : tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %b = arith.mulf %in, %two : f32
    linalg.yield %b : f32
  } -> tensor<2x4xf32> loc("other")
  return %d : tensor<2x4xf32>
}
