// Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An mlir-opt with one pass, `npu-work`: it removes copies, and says how much of each function the NPU does.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "torq_mlir/Dialect/QuantizedDecomposed/QuantizedDecomposed.h"
#include "torq_mlir/Dialect/TorqHL/TorqHL.h"

using namespace mlir;
namespace torq_hl = torq_mlir::torq_hl;

namespace {

/// A copy of a value that is not written to is the value. One for another executor stays.
struct RemoveCopy : OpRewritePattern<torq_hl::IdentityOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(torq_hl::IdentityOp copy, PatternRewriter &rewriter) const override {
    Operation *source = copy.getInput().getDefiningOp();
    if (!source || source->getAttr("torq-executor") != copy->getAttr("torq-executor"))
      return failure();
    rewriter.replaceOp(copy, copy.getInput());
    return success();
  }
};

/// Products of a convolution, for a shape that is known.
int64_t products(torq_hl::Conv2DOp convolution) {
  auto weights = cast<RankedTensorType>(convolution.getWeights().getType());
  auto output = cast<RankedTensorType>(convolution.getOutput().getType());
  if (!weights.hasStaticShape() || !output.hasStaticShape())
    return 0;
  return output.getNumElements() * weights.getNumElements() / weights.getDimSize(0);
}

struct NpuWork : PassWrapper<NpuWork, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(NpuWork)

  StringRef getArgument() const override { return "npu-work"; }
  StringRef getDescription() const override { return "Remove copies, and count what the NPU does"; }

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<RemoveCopy>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();

    int64_t operations = 0, multiplications = 0;
    getOperation().walk([&](Operation *op) {
      auto executor = op->getAttrOfType<StringAttr>("torq-executor");
      if (!executor || executor != "nss")
        return;
      ++operations;
      if (auto convolution = dyn_cast<torq_hl::Conv2DOp>(op))
        multiplications += products(convolution);
    });
    emitRemark(getOperation().getLoc()) << operations << " operations on the NPU, " << multiplications
                                        << " products in convolutions";
  }
};

} // namespace

int main(int argc, char **argv) {
  PassRegistration<NpuWork>();
  DialectRegistry registry;
  registry.insert<arith::ArithDialect, func::FuncDialect, tensor::TensorDialect, torq_hl::TorqHLDialect,
                  torq_mlir::quantized_decomposed::QuantizedDecomposedDialect>();
  return asMainReturnCode(MlirOptMain(argc, argv, "A pass on torq_hl\n", registry));
}
