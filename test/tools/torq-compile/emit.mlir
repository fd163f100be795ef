// One model at each level of the IR.

// RUN: torq-compile %S/../../data/oracle/conv3x3_same_zp.onnx --emit=onnx | FileCheck %s --check-prefix=ONNX
// RUN: torq-compile %S/../../data/oracle/conv3x3_same_zp.onnx --emit=torch | FileCheck %s --check-prefix=TORCH
// RUN: torq-compile %S/../../data/oracle/conv3x3_same_zp.onnx --emit=linalg | FileCheck %s --check-prefix=LINALG
// RUN: torq-compile %S/../../data/oracle/conv3x3_same_zp.onnx | FileCheck %s --check-prefix=HL
