// Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shape and element type of builtin tensors, scalars and `!torch.vtensor`, whose dialect need not be linked.

#ifndef TORQ_MLIR_LIB_TENSORINFO_H
#define TORQ_MLIR_LIB_TENSORINFO_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include <optional>
#include <string>

namespace torq_mlir {

/// Sizes of dimensions, ShapedType::kDynamic where one is not known.
using Shape = llvm::SmallVector<int64_t, 6>;

/// A type taken apart.
struct TensorInfo {
  mlir::Type type;
  /// None when there is no rank; empty for a scalar, whose type is `element`.
  std::optional<Shape> shape;
  /// Null when a torch tensor does not tell its dtype.
  mlir::Type element;
  bool isTorch = false;

  bool isInteger() const { return llvm::isa_and_nonnull<mlir::IntegerType>(element); }
  bool isFloat() const { return llvm::isa_and_nonnull<mlir::FloatType>(element); }
};

TensorInfo describe(mlir::Type type);
inline TensorInfo describe(mlir::Value value) { return describe(value.getType()); }

/// Whether two sizes can be that of one dimension.
bool compatible(int64_t first, int64_t second);

/// Whether two shapes can be that of one tensor.
bool compatible(const std::optional<Shape> &first, const std::optional<Shape> &second);

/// A shape as it appears in a tensor type.
std::string text(const std::optional<Shape> &shape);

/// A type without quotes, which diagnostics put around it.
std::string text(mlir::Type type);

/// The body of a `!torch.<mnemonic><body>` type, empty without one; nullopt for other types.
std::optional<std::string> torchTypeBody(mlir::Type type, llvm::StringRef mnemonic);

} // namespace torq_mlir

#endif // TORQ_MLIR_LIB_TENSORINFO_H
