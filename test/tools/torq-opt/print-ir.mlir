// The IR around passes, on stderr, Python and C++ passes alike.

// RUN: torq-opt %s --pass-pipeline='builtin.module(func.func(torq-signed-storage,cse),symbol-dce)' \
// RUN:   --mlir-print-ir-before=torq-signed-storage,symbol-dce --mlir-print-ir-after=cse -o /dev/null 2>&1 | FileCheck %s
// RUN: torq-opt %s --cse --torq-fuse-quantized-ops=explain --mlir-print-ir-before-all --mlir-print-ir-after-all \
// RUN:   -mlir-print-op-generic -o /dev/null 2>&1 | FileCheck %s --check-prefix=ALL
// RUN: torq-opt %s --pass-pipeline='builtin.module(func.func(cse,torq-signed-storage))' --mlir-print-ir-after-all \
// RUN:   --mlir-print-ir-after-change --mlir-print-ir-module-scope -o /dev/null 2>&1 | FileCheck %s --check-prefix=CHANGE
// RUN: not torq-opt %s --cse --torch-verify-linalg-on-tensors-backend-contract --mlir-print-ir-after-failure 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FAILURE

// CHECK:      // -----// IR Dump Before TorqSignedStorage: torq-signed-storage //----- //
// CHECK-NEXT: func.func @f
// CHECK:      // -----// IR Dump After CSEPass: cse //----- //
// CHECK-NEXT: func.func @f
// CHECK-NOT:  IR Dump After
// CHECK:      // -----// IR Dump Before SymbolDCEPass: symbol-dce //----- //
// CHECK-NEXT: module {

// ALL:      IR Dump Before CSEPass: cse
// ALL-NEXT: "builtin.module"() ({
// ALL:      IR Dump After CSEPass: cse
// ALL:      IR Dump Before TorqFuseQuantizedOps: torq-fuse-quantized-ops{explain=true}
// ALL:      IR Dump After TorqFuseQuantizedOps: torq-fuse-quantized-ops{explain=true}

// CHANGE:      IR Dump After CSEPass: cse ('func.func' operation: @f)
// CHANGE-NEXT: module {
// CHANGE-NOT:  TorqSignedStorage

// FAILURE-NOT: CSEPass
// FAILURE:     IR Dump After VerifyLinalgOnTensorsBackendContract Failed: torch-verify-linalg-on-tensors-backend-contract

func.func @f() -> (!torch.int, !torch.int) {
  %0 = torch.constant.int 1
  %1 = torch.constant.int 1
  return %0, %1 : !torch.int, !torch.int
}
