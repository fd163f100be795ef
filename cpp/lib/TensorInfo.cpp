// Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TensorInfo.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Dialect.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace torq_mlir;

std::string torq_mlir::text(Type type) {
  std::string printed;
  llvm::raw_string_ostream(printed) << type;
  return printed;
}

std::optional<std::string> torq_mlir::torchTypeBody(Type type, StringRef mnemonic) {
  auto opaque = dyn_cast<OpaqueType>(type);
  if ((opaque ? opaque.getDialectNamespace().getValue() : type.getDialect().getNamespace()) != "torch")
    return std::nullopt;
  std::string printed = text(type);
  StringRef body = printed;
  if (!body.consume_front("!torch.") || !body.consume_front(mnemonic))
    return std::nullopt;
  if (body.empty())
    return "";
  if (!body.consume_front("<") || !body.consume_back(">"))
    return std::nullopt;
  return body.str();
}

/// `[2,?],f32` and what may follow after a comma: shape and dtype of a torch tensor, `*` and `unk` where not known.
static TensorInfo describeTorch(Type type, StringRef body) {
  TensorInfo info{type, std::nullopt, Type(), true};
  if (body.empty())
    return info;
  if (body.consume_front("[")) {
    auto [sizes, rest] = body.split(']');
    info.shape.emplace();
    SmallVector<StringRef> parts;
    sizes.split(parts, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
    for (StringRef part : parts) {
      int64_t size = ShapedType::kDynamic;
      if (part.trim() != "?")
        part.trim().getAsInteger(10, size);
      info.shape->push_back(size);
    }
    body = rest;
  } else {
    body.consume_front("*");
  }
  body.consume_front(",");
  StringRef dtype = body.split(',').first;
  if (!dtype.empty() && dtype != "unk")
    info.element = parseType(dtype, type.getContext());
  return info;
}

TensorInfo torq_mlir::describe(Type type) {
  if (auto ranked = dyn_cast<RankedTensorType>(type))
    return {type, Shape(ranked.getShape()), ranked.getElementType(), false};
  if (auto unranked = dyn_cast<UnrankedTensorType>(type))
    return {type, std::nullopt, unranked.getElementType(), false};
  if (std::optional<std::string> body = torchTypeBody(type, "vtensor"))
    return describeTorch(type, *body);
  return {type, Shape(), type, false};
}

bool torq_mlir::compatible(int64_t first, int64_t second) {
  return first == second || ShapedType::isDynamic(first) || ShapedType::isDynamic(second);
}

bool torq_mlir::compatible(const std::optional<Shape> &first, const std::optional<Shape> &second) {
  if (!first || !second)
    return true;
  return first->size() == second->size() && llvm::all_of(llvm::zip_equal(*first, *second), [](auto sizes) {
           return compatible(std::get<0>(sizes), std::get<1>(sizes));
         });
}

std::string torq_mlir::text(const std::optional<Shape> &shape) {
  if (!shape)
    return "*";
  if (shape->empty())
    return "()";
  return llvm::join(
      llvm::map_range(*shape, [](int64_t size) { return ShapedType::isDynamic(size) ? "?" : std::to_string(size); }),
      "x");
}
