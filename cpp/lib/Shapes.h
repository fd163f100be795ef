// Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Result shapes of operations, from the shapes of operands and attributes, which are named as in the ODS. What does not
// fit together is reported to `error`, which starts a diagnostic.

#ifndef TORQ_MLIR_LIB_SHAPES_H
#define TORQ_MLIR_LIB_SHAPES_H

#include "TensorInfo.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"

namespace torq_mlir::shapes {

using Error = llvm::function_ref<mlir::InFlightDiagnostic()>;
using Result = llvm::FailureOr<Shape>;
using Sizes = llvm::ArrayRef<int64_t>;

/// Reports a result that can not have the inferred shape, which is none where an operand has no rank.
llvm::LogicalResult requireInferred(mlir::Operation *op, unsigned position, llvm::StringRef name,
                                    const std::optional<Shape> &inferred);

/// How the window of a convolution or pooling moves. `pad` is [left, right] or [left, right, top, bottom].
struct Window {
  Sizes pad;
  Sizes stride;
  Sizes dilation;
};

/// [N, O, H', W'] of [N, C, H, W], or [N, H, W, C] with `nhwc`, and weights [O, C / groups, kh, kw].
Result conv2d(Error error, const Shape &input, const Shape &weights, int64_t groups, const Window &window, bool nhwc);

/// As `conv2d` with weights [C * m, 1, kh, kw].
Result depthwiseConv2d(Error error, const Shape &input, const Shape &weights, int64_t groups, const Window &window,
                       bool nhwc);

/// [N, O, W'] of an input [N, C, W] and weights [O, C / groups, kw].
Result conv1d(Error error, const Shape &input, const Shape &weights, int64_t groups, const Window &window);

/// [.., N] of an input [.., K] and weights [K, N].
Result fullyConnected(Error error, const Shape &input, const Shape &weights);

/// [.., M, N] of [.., M, K] and [.., K, N].
Result matmul(Error error, const Shape &input1, const Shape &input2);

/// The shape to which both inputs broadcast by the rules of numpy.
Result broadcastInputs(Error error, const Shape &input1, const Shape &input2);

/// [.., 1] of an input [.., N].
Result tokens(Error error, const Shape &input);

/// [N, C, H', W'] of an input [N, C, H, W].
Result maxpool2d(Error error, const Shape &input, Sizes kernel, const Window &window);

/// [N, 1, 1, C] of an input [N, H, W, C].
Result avgPool2d(Error error, const Shape &input);

/// [.., 1] of an input [.., K].
Result reduceMean(Error error, const Shape &input);

/// The shape of the input without one dimension.
Result withoutAxis(Error error, const Shape &input, int64_t axis);

/// Dimension d of the result is dimension perm[d] of the input.
Result transpose(Error error, const Shape &input, Sizes perm);

/// The shape of init, which is that of the input where it has no new dimension.
Result broadcast(Error error, const Shape &input, const Shape &init, Sizes dimensions);

/// [i.., j..] of values [K, j..] and indices [i..].
Result gather(Error error, const Shape &values, const Shape &indices);

/// [N, C, H * scaleFactor, W * scaleFactor] of an input [N, C, H, W].
Result resizeNearestNeighbor(Error error, const Shape &input, int64_t scaleFactor);

/// [N, C / b^2, H * b, W * b] of an input [N, C, H, W] and `b = blockSize`.
Result depthToSpace(Error error, const Shape &input, int64_t blockSize);

} // namespace torq_mlir::shapes

#endif // TORQ_MLIR_LIB_SHAPES_H
