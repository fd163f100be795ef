// Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules of quantized_decomposed operations that hold across operands, attributes and results.

#include "Shapes.h"
#include "torq_mlir/Dialect/QuantizedDecomposed/QuantizedDecomposed.h"

using namespace mlir;
using namespace torq_mlir;
using namespace torq_mlir::quantized_decomposed;

//===----------------------------------------------------------------------===//
// Shapes and element types
//===----------------------------------------------------------------------===//

/// Input and result are builtin tensors, or both are torch tensors.
static LogicalResult oneLevel(Operation *op, const TensorInfo &input, const TensorInfo &result) {
  if (input.isTorch == result.isTorch)
    return success();
  return op->emitOpError() << "operand 'input' and the result must both be builtin or both be torch tensors, but are "
                           << input.type << " and " << result.type;
}

/// Integers are signless on builtin tensors, where an attribute carries the sign.
static LogicalResult requireDeclared(Operation *op, StringRef name, const TensorInfo &value, StringRef attribute,
                                     Type declared) {
  Type expected = declared;
  if (auto integer = dyn_cast<IntegerType>(declared); integer && !value.isTorch)
    expected = IntegerType::get(op->getContext(), integer.getWidth());
  if (!value.element || value.element == expected)
    return success();
  return op->emitOpError() << "'" << name << "' must have element type " << text(expected) << " for '" << attribute
                           << "' " << text(declared) << ", but got " << value.type;
}

static LogicalResult requireFloat(Operation *op, StringRef name, const TensorInfo &value) {
  if (!value.element || value.isFloat())
    return success();
  return op->emitOpError() << "'" << name << "' must have a floating-point element type, but got " << value.type;
}

/// Torch tensors of zero points keep their sign on builtin tensors. There, a zero point is as signed as the storage
/// unless it is wider, and signed then.
static LogicalResult zeroPointSign(Operation *op, StringRef name, Value zeroPoint, IntegerType dtype) {
  if (!zeroPoint)
    return success();
  TensorInfo value = describe(zeroPoint);
  auto element = dyn_cast_or_null<IntegerType>(value.element);
  if (!value.isTorch || !element)
    return success();
  bool isSigned = element.getWidth() > dtype.getWidth() || dtype.isSigned();
  if (element.isSigned() == isSigned)
    return success();
  return op->emitOpError() << "'" << name << "' of " << element.getWidth() << " bits must be "
                           << (isSigned ? "signed" : "unsigned") << " for 'dtype' " << text(dtype) << ", but got "
                           << value.type;
}

//===----------------------------------------------------------------------===//
// Ranges of values
//===----------------------------------------------------------------------===//

static LogicalResult orderedRange(Operation *op, IntegerAttr low, IntegerAttr high) {
  if (low.getInt() < high.getInt())
    return success();
  return op->emitOpError() << "attribute 'quant_min' (" << low.getInt() << ") must be less than 'quant_max' ("
                           << high.getInt() << ")";
}

/// quant_min and quant_max are attributes within dtype and in order, or both are run-time operands.
static LogicalResult valueRange(Operation *op, IntegerAttr low, IntegerAttr high, IntegerType dtype,
                                size_t runTime = 0) {
  if (runTime != 0 && runTime != 2)
    return op->emitOpError() << "'range' must be empty or hold two bounds, but has " << runTime;
  const std::pair<StringRef, IntegerAttr> bounds[] = {{"quant_min", low}, {"quant_max", high}};
  for (auto [name, bound] : bounds) {
    if (!bound && !runTime)
      return op->emitOpError() << "requires attribute '" << name << "', or 'range'";
    if (bound && runTime)
      return op->emitOpError() << "attribute '" << name << "' and 'range' exclude each other";
  }
  if (runTime)
    return success();
  int64_t least = dtype.isUnsigned() ? 0 : -(int64_t(1) << (dtype.getWidth() - 1));
  int64_t most = least + (int64_t(1) << dtype.getWidth()) - 1;
  for (auto [name, bound] : bounds)
    if (bound.getInt() < least || bound.getInt() > most)
      return op->emitOpError() << "attribute '" << name << "' (" << bound.getInt() << ") must lie within the range of "
                               << text(dtype) << ", " << least << " to " << most;
  return orderedRange(op, low, high);
}

/// Zero, which the range of the values is extended to, lies between quant_min and quant_max.
static LogicalResult rangeWithZero(Operation *op, IntegerAttr low, IntegerAttr high) {
  if (low.getInt() <= 0 && high.getInt() >= 0)
    return success();
  return op->emitOpError() << "0 must lie between attributes 'quant_min' (" << low.getInt() << ") and 'quant_max' ("
                           << high.getInt() << ")";
}

//===----------------------------------------------------------------------===//
// Shapes of parameters
//===----------------------------------------------------------------------===//

static LogicalResult oneElement(Operation *op, StringRef name, Value operand) {
  TensorInfo value = describe(operand);
  if (!value.shape || llvm::all_of(*value.shape, [](int64_t size) { return compatible(size, 1); }))
    return success();
  return op->emitOpError() << "operand '" << name << "' must have one element, but got " << value.type;
}

static LogicalResult requireAxis(Operation *op, int64_t axis, const Shape &input) {
  int64_t rank = input.size();
  if (-rank <= axis && axis < rank)
    return success();
  return op->emitOpError() << "attribute 'axis' (" << axis << ") must be a dimension of 'input', of rank " << rank;
}

/// axis is a dimension of the input, and there is a scale and zero point for each of its indices.
template <typename OpTy> static LogicalResult parametersAlongAxis(OpTy op) {
  std::optional<Shape> shape = describe(op.getInput()).shape;
  int64_t axis = op.getAxisAttr().getInt();
  int64_t size = ShapedType::kDynamic;
  if (shape) {
    if (failed(requireAxis(op, axis, *shape)))
      return failure();
    size = (*shape)[axis < 0 ? axis + shape->size() : axis];
  }
  const std::pair<StringRef, Value> parameters[] = {{"scales", op.getScales()}, {"zero_points", op.getZeroPoints()}};
  for (auto [name, value] : parameters) {
    if (compatible(describe(value).shape, Shape{size}))
      continue;
    std::string wanted = ShapedType::isDynamic(size) ? "" : " with " + std::to_string(size) + " elements";
    return op.emitOpError() << "operand '" << name << "' must be one-dimensional" << wanted
                            << ", as 'input' along 'axis' " << axis << ", but got " << value.getType();
  }
  return success();
}

template <typename OpTy> static LogicalResult requireParameters(OpTy op, const Shape &shape) {
  const std::pair<StringRef, Value> parameters[] = {{"scales", op.getScales()}, {"zero_points", op.getZeroPoints()}};
  for (auto [name, value] : parameters)
    if (value && !compatible(describe(value).shape, shape))
      return op.emitOpError() << "operand '" << name << "' must have shape " << text(shape) << ", but got "
                              << value.getType();
  return requireFloat(op, "scales", describe(op.getScales()));
}

/// There is a scale and zero point for each row: [.., 1] of an input [.., N].
template <typename OpTy> static LogicalResult parametersPerToken(OpTy op) {
  std::optional<Shape> shape = describe(op.getInput()).shape;
  if (!shape)
    return success();
  if (shape->empty())
    return op.emitOpError() << "operand 'input' must have rank 1 or more";
  shape->back() = 1;
  return requireParameters(op, *shape);
}

/// axis is a dimension of the input that group_size divides, and there is a scale and zero point for each group.
template <typename OpTy> static LogicalResult parametersPerGroup(OpTy op) {
  std::optional<Shape> shape = describe(op.getInput()).shape;
  if (!shape)
    return success();
  int64_t axis = static_cast<int64_t>(op.getAxis()), groupSize = op.getGroupSizeAttr().getInt();
  if (failed(requireAxis(op, axis, *shape)))
    return failure();
  axis = axis < 0 ? axis + shape->size() : axis;
  int64_t &size = (*shape)[axis];
  if (!ShapedType::isDynamic(size)) {
    if (size > groupSize && size % groupSize)
      return op.emitOpError() << "attribute 'group_size' (" << groupSize << ") must divide dimension " << axis
                              << " of 'input', which is " << size;
    size = llvm::divideCeil(size, groupSize);
  }
  return requireParameters(op, *shape);
}

//===----------------------------------------------------------------------===//
// Quantize and dequantize
//===----------------------------------------------------------------------===//

/// Types and range of a quantization, or of a dequantization.
template <typename OpTy>
static LogicalResult verifyConversion(OpTy op, bool quantizes, StringRef zeroPointName, Value zeroPoint,
                                      size_t runTime = 0) {
  TensorInfo input = describe(op.getInput()), output = describe(op.getOutput());
  const TensorInfo &storage = quantizes ? output : input, &real = quantizes ? input : output;
  IntegerType dtype = op.getDtype();
  return success(succeeded(shapes::requireInferred(op, 0, "output", input.shape)) &&
                 succeeded(oneLevel(op, input, output)) &&
                 succeeded(requireDeclared(op, quantizes ? "output" : "input", storage, "dtype", dtype)) &&
                 succeeded(requireFloat(op, quantizes ? "input" : "output", real)) &&
                 succeeded(valueRange(op, op.getQuantMinAttr(), op.getQuantMaxAttr(), dtype, runTime)) &&
                 succeeded(zeroPointSign(op, zeroPointName, zeroPoint, dtype)));
}

template <typename OpTy> static LogicalResult verifyPerTensor(OpTy op, bool quantizes) {
  return success(succeeded(verifyConversion(op, quantizes, "zero_point", op.getZeroPoint(), op.getRange().size())) &&
                 succeeded(oneElement(op, "scale", op.getScale())) &&
                 succeeded(oneElement(op, "zero_point", op.getZeroPoint())));
}

LogicalResult QuantizePerTensorOp::verify() { return verifyPerTensor(*this, /*quantizes=*/true); }
LogicalResult DequantizePerTensorOp::verify() { return verifyPerTensor(*this, /*quantizes=*/false); }

template <typename OpTy>
static LogicalResult verifyWith(OpTy op, bool quantizes, LogicalResult (*parameters)(OpTy)) {
  return success(succeeded(verifyConversion(op, quantizes, "zero_points", op.getZeroPoints())) &&
                 succeeded(parameters(op)));
}

LogicalResult QuantizePerChannelOp::verify() { return verifyWith(*this, true, parametersAlongAxis); }
LogicalResult DequantizePerChannelOp::verify() { return verifyWith(*this, false, parametersAlongAxis); }
LogicalResult QuantizePerTokenOp::verify() { return verifyWith(*this, true, parametersPerToken); }
LogicalResult DequantizePerTokenOp::verify() { return verifyWith(*this, false, parametersPerToken); }
LogicalResult QuantizePerChannelGroupOp::verify() { return verifyWith(*this, true, parametersPerGroup); }
LogicalResult DequantizePerChannelGroupOp::verify() { return verifyWith(*this, false, parametersPerGroup); }

LogicalResult FakeQuantPerChannelOp::verify() {
  TensorInfo input = describe(getInput()), output = describe(getOutput()), zeroPoints = describe(getZeroPoints());
  if (failed(shapes::requireInferred(*this, 0, "output", input.shape)) || failed(oneLevel(*this, input, output)))
    return failure();
  const std::pair<StringRef, TensorInfo> values[] = {{"input", input}, {"output", output}};
  for (const auto &[name, value] : values)
    if (value.element && !value.element.isF32())
      return emitOpError() << "'" << name << "' must have element type f32, but got " << value.type;
  if (failed(requireFloat(*this, "scales", describe(getScales()))))
    return failure();
  if (zeroPoints.isTorch && zeroPoints.element && !zeroPoints.element.isSignedInteger())
    return emitOpError() << "'zero_points' must be signed integers, but got " << zeroPoints.type;
  return success(succeeded(orderedRange(*this, getQuantMinAttr(), getQuantMaxAttr())) &&
                 succeeded(parametersAlongAxis(*this)));
}

//===----------------------------------------------------------------------===//
// Parameters chosen at run time
//===----------------------------------------------------------------------===//

namespace {
/// A choice of parameters: the input, and scale and zero point with the names of their results.
struct Choice {
  Operation *op;
  TensorInfo input, scale, zeroPoint;
  StringRef scaleName, zeroPointName;

  Choice(Operation *op, StringRef scaleName, StringRef zeroPointName)
      : op(op), input(describe(op->getOperand(0))), scale(describe(op->getResult(0))),
        zeroPoint(describe(op->getResult(1))), scaleName(scaleName), zeroPointName(zeroPointName) {}

  /// Both results have the inferred shape and are of the level of the input.
  LogicalResult verifyResults(const std::optional<Shape> &shape) {
    return success(succeeded(shapes::requireInferred(op, 0, scaleName, shape)) &&
                   succeeded(shapes::requireInferred(op, 1, zeroPointName, shape)) &&
                   succeeded(oneLevel(op, input, scale)) && succeeded(oneLevel(op, input, zeroPoint)));
  }

  /// There is a value to choose parameters for.
  LogicalResult verifyNotEmpty() {
    if (!input.shape || !llvm::is_contained(*input.shape, 0))
      return success();
    return op->emitOpError() << "operand 'input' must not be empty, but got " << input.type;
  }

  /// Torch tensors: a scale is f64 and a zero point si64, of values of at most 32 bits when per tensor.
  LogicalResult verifyTypes(bool perTensor) {
    if (failed(requireFloat(op, "input", input)))
      return failure();
    if (perTensor && input.element && input.element.isF64())
      return op->emitOpError() << "'input' must have element type f16, bf16 or f32, but got " << input.type;
    if (scale.isTorch && scale.element && !scale.element.isF64())
      return op->emitOpError() << "the scale must have element type f64, but got " << scale.type;
    if (zeroPoint.isTorch && zeroPoint.element && !zeroPoint.element.isSignedInteger(64))
      return op->emitOpError() << "the zero point must have element type si64, but got " << zeroPoint.type;
    return success();
  }

  /// Rows have one scale each.
  LogicalResult verifyTokens() {
    std::optional<Shape> shape = input.shape;
    if (shape) {
      FailureOr<Shape> tokens = shapes::tokens([&] { return op->emitOpError(); }, *shape);
      if (failed(tokens))
        return failure();
      shape = *tokens;
    }
    return success(succeeded(verifyResults(shape)) && succeeded(verifyNotEmpty()));
  }
};
} // namespace

template <typename OpTy> static LogicalResult verifyChoice(OpTy op) {
  Choice choice(op, "scale", "zero_point");
  return success(succeeded(choice.verifyResults(Shape{1})) && succeeded(choice.verifyTypes(/*perTensor=*/true)) &&
                 succeeded(valueRange(op, op.getQuantMinAttr(), op.getQuantMaxAttr(), op.getDtype())) &&
                 succeeded(rangeWithZero(op, op.getQuantMinAttr(), op.getQuantMaxAttr())) &&
                 succeeded(choice.verifyNotEmpty()));
}

LogicalResult ChooseQParamsOp::verify() { return verifyChoice(*this); }
LogicalResult ChooseQParamsSymmetricOp::verify() { return verifyChoice(*this); }

static LogicalResult verifyAsymmetricTokens(Operation *op) {
  Choice choice(op, "scales", "zero_points");
  return success(succeeded(choice.verifyTokens()) && succeeded(choice.verifyTypes(/*perTensor=*/false)));
}

LogicalResult ChooseQParamsPerTokenAsymmetricOp::verify() { return verifyAsymmetricTokens(*this); }
LogicalResult ChooseQParamsPerTokenAsymmetricImplOp::verify() { return verifyAsymmetricTokens(*this); }

/// dtype is si8; both parameters have the type of the input, or f32 instead of f16.
LogicalResult ChooseQParamsPerTokenOp::verify() {
  Choice choice(*this, "scales", "zero_points");
  if (failed(choice.verifyTokens()))
    return failure();
  if (!getDtype().isSignedInteger(8))
    return emitOpError() << "attribute 'dtype' must be si8, but is " << text(getDtype());
  if (failed(requireFloat(*this, "input", choice.input)))
    return failure();
  Type element = choice.input.element;
  if (!element)
    return success();
  Type wanted = element.isF16() ? Float32Type::get(getContext()) : element;
  const std::pair<StringRef, TensorInfo> values[] = {{"scales", choice.scale}, {"zero_points", choice.zeroPoint}};
  for (const auto &[name, value] : values)
    if (value.element && value.element != wanted)
      return emitOpError() << "'" << name << "' must have element type " << text(wanted) << " for 'input' of "
                           << text(element) << ", but got " << value.type;
  return success();
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

LogicalResult ConvertElementTypeOp::verify() {
  TensorInfo input = describe(getInput()), output = describe(getOutput());
  return success(succeeded(shapes::requireInferred(*this, 0, "output", input.shape)) &&
                 succeeded(oneLevel(*this, input, output)) &&
                 succeeded(requireDeclared(*this, "input", input, "input_dtype", getInputDtype())) &&
                 succeeded(requireDeclared(*this, "output", output, "dtype", getDtype())));
}
