// RUN: torq-opt --torq-assign-executors='map=3:4=css,5:4=host,7:4=nss' %s | FileCheck %s

// Locations that the IR names count, with the names of source nodes around them or without. What stands for several
// lines goes to the executor that all of them can run on. Constants are nobody's.

// CHECK-LABEL: @main
// CHECK-NOT: arith.constant{{.*}}torq-executor
// CHECK: linalg.fill {"torq-executor" = "css"}
// CHECK: tensor.pad
// CHECK: "torq-executor" = "host"
// CHECK: "torq_hl.identity"{{.*}}"torq-executor" = "nss"
func.func @main(%x: tensor<2x2xi8>) -> tensor<3x2xi8> {
  %zero = arith.constant 0 : i8 loc("model.mlir":3:4)
  %0 = linalg.fill ins(%zero : i8) outs(%x : tensor<2x2xi8>) -> tensor<2x2xi8> loc("conv"("model.mlir":3:4))
  %1 = tensor.pad %0 low[1, 0] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : i8
  } : tensor<2x2xi8> to tensor<3x2xi8> loc(fused["conv"("model.mlir":3:4), "relu"("model.mlir":5:4), "q"])
  %2 = "torq_hl.identity"(%1, %1) : (tensor<3x2xi8>, tensor<3x2xi8>) -> tensor<3x2xi8> loc("pool"("model.mlir":7:4))
  return %2 : tensor<3x2xi8>
}
