// Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules that several torq_hl operations have in common.

#ifndef TORQ_MLIR_LIB_TORQHLRULES_H
#define TORQ_MLIR_LIB_TORQHLRULES_H

#include "Shapes.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace torq_mlir::torq_hl {

/// A number of channels; none where it is not to be checked.
using Channels = std::optional<int64_t>;

/// Rules of one operation. The first that does not hold is reported, and the others are not looked at.
class Rules {
public:
  explicit Rules(mlir::Operation *op) : op(op), result(describe(op->getResult(0))) {}

  llvm::LogicalResult outcome() const { return llvm::success(valid); }

  /// The result has the inferred shape, and init its type.
  Rules &destination(llvm::FailureOr<Shape> inferred);

  /// The operand and the result are integers, or both are floats.
  Rules &oneKind(llvm::StringRef name, mlir::Value operand);

  /// Both values have one element type.
  Rules &oneElementType(llvm::StringRef first, mlir::Value firstValue, llvm::StringRef second, mlir::Value secondValue);

  /// The operand is one-dimensional with one of the counts of elements.
  Rules &elements(llvm::StringRef name, mlir::Value operand, llvm::ArrayRef<int64_t> counts);

  /// scale_bias holds a pair, or on floats a bias, for all channels or for each.
  Rules &scaleBias(mlir::Value operand, Channels channels);

  /// The zero point is a value of the operand's element type, if that is an integer.
  Rules &zeroPoint(llvm::StringRef name, mlir::IntegerAttr number, mlir::Value operand);
  Rules &outputZeroPoint(int64_t number) { return within("output_zp", number, result); }

  /// output_min and output_max are values of the result's element type, in order.
  Rules &outputBounds(mlir::IntegerAttr low, mlir::IntegerAttr high);

  /// A rule of this operation alone.
  Rules &check(llvm::function_ref<llvm::LogicalResult()> rule);

private:
  Rules &within(llvm::StringRef name, int64_t number, const TensorInfo &value);

  mlir::Operation *op;
  TensorInfo result;
  bool valid = true;
};

} // namespace torq_mlir::torq_hl

#endif // TORQ_MLIR_LIB_TORQHLRULES_H
