// RUN: torq-opt --split-input-file --raise-torch-quantized-decomposed --verify-diagnostics %s

func.func @unknown_operator(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  // expected-error@+1 {{quantized_decomposed.quantize_per_row: there is no such operator, or no such overload}}
  %y = torch.operator "torch.quantized_decomposed.quantize_per_row"(%x) : (!torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32>
  return %y : !torch.vtensor<[4],f32>
}

// -----

func.func @unknown_overload(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  // expected-error@+1 {{quantized_decomposed.quantize_per_tensor.tensor3: there is no such operator, or no such overload}}
  %y = torch.operator "torch.quantized_decomposed.quantize_per_tensor.tensor3"(%x) : (!torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32>
  return %y : !torch.vtensor<[4],f32>
}

// -----

func.func @number_of_operands(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  // expected-error@+1 {{quantized_decomposed.convert_element_type.no_fuse: has 1 operands where the operator has 2}}
  %y = torch.operator "torch.quantized_decomposed.convert_element_type.no_fuse"(%x) : (!torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32>
  return %y : !torch.vtensor<[4],f32>
}

// -----

func.func @complex(%x: !torch.vtensor<[4],complex<f32>>) -> !torch.vtensor<[4],complex<f32>> {
  %dtype = torch.constant.int 9
  // expected-error@+1 {{quantized_decomposed.convert_element_type.no_fuse: 'dtype' is the scalar type 9 of PyTorch, which is not supported}}
  %y = torch.operator "torch.quantized_decomposed.convert_element_type.no_fuse"(%x, %dtype) : (!torch.vtensor<[4],complex<f32>>, !torch.int) -> !torch.vtensor<[4],complex<f32>>
  return %y : !torch.vtensor<[4],complex<f32>>
}

// -----

func.func @float_storage(%x: !torch.vtensor<[4],f32>, %s: !torch.float, %z: !torch.int) -> !torch.vtensor<[4],f32> {
  %lo = torch.constant.int 0
  %hi = torch.constant.int 9
  %dtype = torch.constant.int 6
  // expected-error@+1 {{quantized_decomposed.quantize_per_tensor: 'dtype' is f32, which is no type of quantized values}}
  %y = torch.quantized_decomposed.quantize_per_tensor %x, %s, %z, %lo, %hi, %dtype : !torch.vtensor<[4],f32>, !torch.float, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[4],f32>
  return %y : !torch.vtensor<[4],f32>
}

// -----

func.func @axis_not_constant(%x: !torch.vtensor<[4],f32>, %s: !torch.vtensor<[4],f32>, %z: !torch.vtensor<[4],si64>, %axis: !torch.int) -> !torch.vtensor<[4],si8> {
  %lo = torch.constant.int 0
  %hi = torch.constant.int 9
  %dtype = torch.constant.int 1
  // expected-error@+1 {{quantized_decomposed.quantize_per_channel: 'axis' is not constant}}
  %y = torch.quantized_decomposed.quantize_per_channel %x, %s, %z, %axis, %lo, %hi, %dtype : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.vtensor<[4],si64>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[4],si8>
  return %y : !torch.vtensor<[4],si8>
}

// -----

func.func @group_size(%x: !torch.vtensor<[2,6],si8>, %s: !torch.vtensor<[2,2],f32>) -> !torch.vtensor<[2,6],f32> {
  %lo = torch.constant.int -8
  %hi = torch.constant.int 7
  %dtype = torch.constant.int 1
  %none = torch.constant.none
  %group = torch.constant.int 4
  %out = torch.constant.int 6
  // expected-error@+1 {{quantized_decomposed.dequantize_per_channel_group: 'group_size' (4) does not divide the 6 columns of 'input'}}
  %y = torch.operator "torch.quantized_decomposed.dequantize_per_channel_group"(%x, %s, %none, %lo, %hi, %dtype, %group, %out) : (!torch.vtensor<[2,6],si8>, !torch.vtensor<[2,2],f32>, !torch.none, !torch.int, !torch.int, !torch.int, !torch.int, !torch.int) -> !torch.vtensor<[2,6],f32>
  return %y : !torch.vtensor<[2,6],f32>
}

// -----

func.func @groups_of_a_vector(%x: !torch.vtensor<[6],si8>, %s: !torch.vtensor<[2],f32>) -> !torch.vtensor<[6],f32> {
  %lo = torch.constant.int -8
  %hi = torch.constant.int 7
  %dtype = torch.constant.int 1
  %none = torch.constant.none
  %group = torch.constant.int 3
  %out = torch.constant.int 6
  // expected-error@+1 {{quantized_decomposed.dequantize_per_channel_group: 'input' has 1 dimensions; a matrix is needed}}
  %y = torch.operator "torch.quantized_decomposed.dequantize_per_channel_group"(%x, %s, %none, %lo, %hi, %dtype, %group, %out) : (!torch.vtensor<[6],si8>, !torch.vtensor<[2],f32>, !torch.none, !torch.int, !torch.int, !torch.int, !torch.int, !torch.int) -> !torch.vtensor<[6],f32>
  return %y : !torch.vtensor<[6],f32>
}

// -----

func.func @scales_do_not_fit(%x: !torch.vtensor<[2,6],si8>, %s: !torch.vtensor<[3],f32>, %z: !torch.vtensor<[3],si64>) -> !torch.vtensor<[2,6],f32> {
  %zero = torch.constant.int 0
  %lo = torch.constant.int -8
  %hi = torch.constant.int 7
  %dtype = torch.constant.int 1
  %none = torch.constant.none
  // expected-error@+1 {{operand 'scales' must be one-dimensional with 2 elements, as 'input' along 'axis' 0, but got '!torch.vtensor<[3],f32>'}}
  %y = torch.quantized_decomposed.dequantize_per_channel %x, %s, %z, %zero, %lo, %hi, %dtype, %none : !torch.vtensor<[2,6],si8>, !torch.vtensor<[3],f32>, !torch.vtensor<[3],si64>, !torch.int, !torch.int, !torch.int, !torch.int, !torch.none -> !torch.vtensor<[2,6],f32>
  return %y : !torch.vtensor<[2,6],f32>
}

// -----

func.func @block_size(%x: !torch.vtensor<[4,6],si8>, %s: !torch.vtensor<[2,2],f32>) -> !torch.vtensor<[4,6],f32> {
  %b0 = torch.constant.int 2
  %b1 = torch.constant.int 3
  %block = torch.prim.ListConstruct %b0, %b1 : (!torch.int, !torch.int) -> !torch.list<int>
  %dtype = torch.constant.int 1
  %none = torch.constant.none
  %out = torch.constant.int 6
  // expected-error@+1 {{torchao.dequantize_affine: the block size [2, 3] of an input of shape [4, 6] is neither per tensor, nor per channel, nor per token, nor in groups along one dimension}}
  %y = torch.operator "torch.torchao.dequantize_affine"(%x, %block, %s, %none, %dtype, %none, %none, %out) : (!torch.vtensor<[4,6],si8>, !torch.list<int>, !torch.vtensor<[2,2],f32>, !torch.none, !torch.int, !torch.none, !torch.none, !torch.int) -> !torch.vtensor<[4,6],f32>
  return %y : !torch.vtensor<[4,6],f32>
}

// -----

func.func @scales_of_blocks(%x: !torch.vtensor<[4,6],si8>, %s: !torch.vtensor<[3],f32>) -> !torch.vtensor<[4,6],f32> {
  %b0 = torch.constant.int 1
  %b1 = torch.constant.int 6
  %block = torch.prim.ListConstruct %b0, %b1 : (!torch.int, !torch.int) -> !torch.list<int>
  %dtype = torch.constant.int 1
  %none = torch.constant.none
  %out = torch.constant.int 6
  // expected-error@+1 {{torchao.dequantize_affine: 'scale' has type !torch.vtensor<[3],f32>; 4 values are needed, one for each block of [1, 6]}}
  %y = torch.operator "torch.torchao.dequantize_affine"(%x, %block, %s, %none, %dtype, %none, %none, %out) : (!torch.vtensor<[4,6],si8>, !torch.list<int>, !torch.vtensor<[3],f32>, !torch.none, !torch.int, !torch.none, !torch.none, !torch.int) -> !torch.vtensor<[4,6],f32>
  return %y : !torch.vtensor<[4,6],f32>
}

// -----

func.func @fractional_zero_point(%x: !torch.vtensor<[4,6],si8>) -> !torch.vtensor<[4,6],f32> {
  %b0 = torch.constant.int 4
  %b1 = torch.constant.int 6
  %block = torch.prim.ListConstruct %b0, %b1 : (!torch.int, !torch.int) -> !torch.list<int>
  %dtype = torch.constant.int 1
  %none = torch.constant.none
  %out = torch.constant.int 6
  %s = torch.vtensor.literal(dense<0.5> : tensor<f32>) : !torch.vtensor<[],f32>
  // expected-error@+1 {{torchao.dequantize_affine: 'zero_point' has element type f32; integers are needed}}
  %y = torch.operator "torch.torchao.dequantize_affine"(%x, %block, %s, %s, %dtype, %none, %none, %out) : (!torch.vtensor<[4,6],si8>, !torch.list<int>, !torch.vtensor<[],f32>, !torch.vtensor<[],f32>, !torch.int, !torch.none, !torch.none, !torch.int) -> !torch.vtensor<[4,6],f32>
  return %y : !torch.vtensor<[4,6],f32>
}

// -----

func.func @mapping_type(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[],f32> {
  %mapping = torch.constant.str "LOGARITHMIC"
  %b0 = torch.constant.int 4
  %block = torch.prim.ListConstruct %b0 : (!torch.int) -> !torch.list<int>
  %dtype = torch.constant.int 1
  %none = torch.constant.none
  %keep = torch.constant.bool false
  // expected-error@+1 {{torchao.choose_qparams_affine: 'mapping_type' is 'LOGARITHMIC'; the mapping types are ASYMMETRIC, SYMMETRIC, SYMMETRIC_NO_CLIPPING_ERR}}
  %r:2 = torch.operator "torch.torchao.choose_qparams_affine"(%x, %mapping, %block, %dtype, %none, %none, %none, %none, %none, %keep) : (!torch.vtensor<[4],f32>, !torch.str, !torch.list<int>, !torch.int, !torch.none, !torch.none, !torch.none, !torch.none, !torch.none, !torch.bool) -> (!torch.vtensor<[],f32>, !torch.vtensor<[],f32>)
  return %r#0 : !torch.vtensor<[],f32>
}
