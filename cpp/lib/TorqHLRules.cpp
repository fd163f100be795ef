// Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TorqHLRules.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace torq_mlir;
using namespace torq_mlir::torq_hl;

Rules &Rules::check(llvm::function_ref<LogicalResult()> rule) {
  valid = valid && succeeded(rule());
  return *this;
}

Rules &Rules::destination(FailureOr<Shape> inferred) {
  return check([&]() -> LogicalResult {
    if (failed(inferred) || failed(shapes::requireInferred(op, 0, "output", *inferred)))
      return failure();
    Type init = op->getOperand(0).getType();
    if (init == result.type)
      return success();
    return op->emitOpError() << "operand 'init' must have the type of the result, " << result.type << ", but got "
                             << init;
  });
}

Rules &Rules::oneKind(StringRef name, Value operand) {
  return check([&]() -> LogicalResult {
    if (describe(operand).isInteger() == result.isInteger())
      return success();
    return op->emitOpError() << "operand '" << name << "' must hold " << (result.isInteger() ? "integers" : "floats")
                             << " as the result does, but got " << operand.getType();
  });
}

Rules &Rules::oneElementType(StringRef first, Value firstValue, StringRef second, Value secondValue) {
  return check([&]() -> LogicalResult {
    Type wanted = describe(firstValue).element, found = describe(secondValue).element;
    if (wanted == found)
      return success();
    return op->emitOpError() << "'" << second << "' must have the element type of '" << first << "', " << text(wanted)
                             << ", but has " << text(found);
  });
}

Rules &Rules::elements(StringRef name, Value operand, ArrayRef<int64_t> counts) {
  return check([&]() -> LogicalResult {
    Shape shape = *describe(operand).shape;
    if (shape.size() == 1 && llvm::any_of(counts, [&](int64_t count) { return compatible(shape[0], count); }))
      return success();
    SmallVector<std::string> allowed;
    for (int64_t count : counts)
      if (!llvm::is_contained(allowed, std::to_string(count)))
        allowed.push_back(std::to_string(count));
    std::string listed = llvm::join(allowed, " or ");
    return op->emitOpError() << "operand '" << name << "' must be one-dimensional with " << listed
                             << (listed == "1" ? " element" : " elements") << ", but got " << operand.getType();
  });
}

Rules &Rules::scaleBias(Value operand, Channels channels) {
  TensorInfo value = describe(operand);
  check([&]() -> LogicalResult {
    if (value.isInteger() == result.isInteger())
      return success();
    return op->emitOpError() << "operand 'scale_bias' must hold "
                             << (result.isInteger() ? "i32 (bias, multiplier) pairs" : "f32 biases") << ", but got "
                             << value.type;
  });
  int64_t each = value.isInteger() ? 2 : 1;
  if (channels && !ShapedType::isDynamic(*channels))
    return elements("scale_bias", operand, {each, each * *channels});
  return check([&]() -> LogicalResult {
    int64_t size = value.shape->front();
    if (ShapedType::isDynamic(size) || size % each == 0)
      return success();
    return op->emitOpError() << "operand 'scale_bias' must hold pairs, but got " << value.type;
  });
}

Rules &Rules::within(StringRef name, int64_t number, const TensorInfo &value) {
  return check([&]() -> LogicalResult {
    auto element = dyn_cast<IntegerType>(value.element);
    if (!element)
      return success();
    int64_t limit = int64_t(1) << (element.getWidth() - 1);
    if (-limit <= number && number < limit)
      return success();
    return op->emitOpError() << "attribute '" << name << "' (" << number << ") must lie within the range of "
                             << text(element) << ", " << -limit << " to " << limit - 1;
  });
}

Rules &Rules::zeroPoint(StringRef name, IntegerAttr number, Value operand) {
  return within(name, number.getInt(), describe(operand));
}

Rules &Rules::outputBounds(IntegerAttr low, IntegerAttr high) {
  check([&]() -> LogicalResult {
    if (low.getInt() <= high.getInt())
      return success();
    return op->emitOpError() << "attribute 'output_min' (" << low.getInt() << ") must not exceed 'output_max' ("
                             << high.getInt() << ")";
  });
  return within("output_min", low.getInt(), result).within("output_max", high.getInt(), result);
}
