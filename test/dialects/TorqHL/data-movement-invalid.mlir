// RUN: torq-opt %s -split-input-file -verify-diagnostics

func.func @gather_empty(%i: tensor<2x16xi8>, %v: tensor<0x16xi8>, %n: tensor<2xi32>) -> tensor<2x16xi8> {
  // expected-error@+1 {{'torq_hl.gather' op 'values' must not be empty along its first dimension}}
  %0 = "torq_hl.gather"(%i, %v, %n) : (tensor<2x16xi8>, tensor<0x16xi8>, tensor<2xi32>) -> tensor<2x16xi8>
  return %0 : tensor<2x16xi8>
}

// -----

func.func @gather_shape(%i: tensor<3x16xi8>, %v: tensor<10x16xi8>, %n: tensor<2xi32>) -> tensor<3x16xi8> {
  // expected-error@+1 {{'torq_hl.gather' op result #0 ('output') must have the inferred shape 2x16, but got 'tensor<3x16xi8>'}}
  %0 = "torq_hl.gather"(%i, %v, %n) : (tensor<3x16xi8>, tensor<10x16xi8>, tensor<2xi32>) -> tensor<3x16xi8>
  return %0 : tensor<3x16xi8>
}

// -----

func.func @gather_indices(%i: tensor<2x16xi8>, %v: tensor<10x16xi8>, %n: tensor<2xi8>) -> tensor<2x16xi8> {
  // expected-error-re@+1 {{'torq_hl.gather' op operand #2{{.*}} must be ranked tensor of 32-bit signless integer or 64-bit signless integer values, but got 'tensor<2xi8>'}}
  %0 = "torq_hl.gather"(%i, %v, %n) : (tensor<2x16xi8>, tensor<10x16xi8>, tensor<2xi8>) -> tensor<2x16xi8>
  return %0 : tensor<2x16xi8>
}

// -----

func.func @gather_element(%i: tensor<2x16xi16>, %v: tensor<10x16xi8>, %n: tensor<2xi32>) -> tensor<2x16xi16> {
  // expected-error@+1 {{'torq_hl.gather' op 'output' must have the element type of 'values', i8, but has i16}}
  %0 = "torq_hl.gather"(%i, %v, %n) : (tensor<2x16xi16>, tensor<10x16xi8>, tensor<2xi32>) -> tensor<2x16xi16>
  return %0 : tensor<2x16xi16>
}

// -----

func.func @resize_factor(%i: tensor<1x3x8x6xi8>, %x: tensor<1x3x4x3xi8>) -> tensor<1x3x8x6xi8> {
  // expected-error@+1 {{'torq_hl.ResizeNearestNeighbor' op attribute 'scale_factor' failed to satisfy constraint: 32-bit signless integer attribute whose value is positive}}
  %0 = "torq_hl.ResizeNearestNeighbor"(%i, %x) {scale_factor = 0 : i32} : (tensor<1x3x8x6xi8>, tensor<1x3x4x3xi8>) -> tensor<1x3x8x6xi8>
  return %0 : tensor<1x3x8x6xi8>
}

// -----

func.func @resize_rank(%i: tensor<3x8x6xi8>, %x: tensor<3x4x3xi8>) -> tensor<3x8x6xi8> {
  // expected-error@+1 {{'torq_hl.ResizeNearestNeighbor' op 'input' must have rank 4 (NCHW), but has rank 3}}
  %0 = "torq_hl.ResizeNearestNeighbor"(%i, %x) {scale_factor = 2 : i32} : (tensor<3x8x6xi8>, tensor<3x4x3xi8>) -> tensor<3x8x6xi8>
  return %0 : tensor<3x8x6xi8>
}

// -----

func.func @depth_to_space_channels(%i: tensor<1x3x8x6xi8>, %w: tensor<1xi8>, %x: tensor<1x13x4x3xi8>) -> tensor<1x3x8x6xi8> {
  // expected-error@+1 {{'torq_hl.DepthToSpace' op 'blockSize' (2) squared must divide the 13 channels of 'input'}}
  %0 = "torq_hl.DepthToSpace"(%i, %w, %x) {blockSize = 2 : i32, mode_type = 1 : i32} : (tensor<1x3x8x6xi8>, tensor<1xi8>, tensor<1x13x4x3xi8>) -> tensor<1x3x8x6xi8>
  return %0 : tensor<1x3x8x6xi8>
}

// -----

func.func @depth_to_space_mode(%i: tensor<1x3x8x6xi8>, %w: tensor<1xi8>, %x: tensor<1x12x4x3xi8>) -> tensor<1x3x8x6xi8> {
  // expected-error@+1 {{'torq_hl.DepthToSpace' op attribute 'mode_type' failed to satisfy constraint: order of the channels of a block}}
  %0 = "torq_hl.DepthToSpace"(%i, %w, %x) {blockSize = 2 : i32, mode_type = 2 : i32} : (tensor<1x3x8x6xi8>, tensor<1xi8>, tensor<1x12x4x3xi8>) -> tensor<1x3x8x6xi8>
  return %0 : tensor<1x3x8x6xi8>
}
