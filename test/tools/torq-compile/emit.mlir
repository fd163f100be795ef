// A convolution at each level of the IR.

// RUN: torq-compile %S/../../data/oracle/conv3x3_same_zp.onnx --emit=onnx | FileCheck %s --check-prefix=ONNX
// RUN: torq-compile %S/../../data/oracle/conv3x3_same_zp.onnx --emit=torch | FileCheck %s --check-prefix=TORCH
// RUN: torq-compile %S/../../data/oracle/conv3x3_same_zp.onnx --emit=linalg | FileCheck %s --check-prefix=LINALG
// RUN: torq-compile %S/../../data/oracle/conv3x3_same_zp.onnx | FileCheck %s --check-prefix=HL

// ONNX-LABEL: func.func @main(%arg0: !torch.vtensor<[1,8,8,8],si8>) -> !torch.vtensor<[1,16,8,8],si8>
// ONNX:         %[[X:.*]] = torch.operator "onnx.DequantizeLinear"(%arg0
// ONNX:         %[[Y:.*]] = torch.operator "onnx.Conv"(%[[X]]
// ONNX:         torch.operator "onnx.QuantizeLinear"(%[[Y]]

// TORCH-LABEL: func.func @main
// TORCH:         %[[X:.*]] = "quantized_decomposed.dequantize_per_tensor"(%arg0
// TORCH:         %[[Y:.*]] = torch.aten.convolution %[[X]]
// TORCH:         "quantized_decomposed.quantize_per_tensor"(%[[Y]]{{.*}}divide, dtype = si8

// LINALG-LABEL: func.func @main(%arg0: tensor<1x8x8x8xi8>) -> tensor<1x16x8x8xi8>
// LINALG:         %[[X:.*]] = "quantized_decomposed.dequantize_per_tensor"(%arg0
// LINALG:         %[[PADDED:.*]] = tensor.pad %[[X]] low[0, 0, 1, 1] high[0, 0, 1, 1]
// LINALG:         %[[Y:.*]] = linalg.conv_2d_nchw_fchw {{.*}} ins(%[[PADDED]]
// LINALG:         "quantized_decomposed.quantize_per_tensor"(%[[Y]]

// HL-LABEL: func.func @main
// HL-SAME:    (%arg0: tensor<1x8x8x8xi8> {torq_hl.dtype = "int8", torq_hl.name = "x0", torq_hl.scale = 0.05{{[0-9]*}} : f64, torq_hl.zero_point = -17 : i64})
// HL-SAME:    -> (tensor<1x16x8x8xi8> {torq_hl.dtype = "int8", torq_hl.name = "y", {{.*}}torq_hl.zero_point = 11 : i64})
// HL:         %[[INIT:.*]] = tensor.empty() : tensor<1x16x8x8xi8>
// HL:         %[[Y:.*]] = "torq_hl.conv2d"(%[[INIT]], %{{.*}}, %{{.*}}, %arg0)
// HL-SAME:      input_zp = -17 : i32
// HL-SAME:      output_zp = 11 : i32, pad = array<i64: 1, 1, 1, 1>
// HL-NEXT:    return %[[Y]]
