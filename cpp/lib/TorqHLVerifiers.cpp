// Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules of torq_hl operations that hold across operands, attributes and the result.

#include "TorqHLRules.h"
#include "mlir/IR/TypeUtilities.h"
#include "torq_mlir/Dialect/TorqHL/TorqHL.h"
#include "llvm/ADT/SmallString.h"

using namespace mlir;
using namespace torq_mlir;
using namespace torq_mlir::torq_hl;

static Shape shapeOf(Value value) { return *describe(value).shape; }

/// A dimension of weights, of which the rank is known once the shape of the result is inferred.
static Channels size(Value value, unsigned dimension) {
  Shape shape = shapeOf(value);
  return dimension < shape.size() ? Channels(shape[dimension]) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Weighted operations
//===----------------------------------------------------------------------===//

/// What all operations with constant weights have in common.
template <typename OpTy>
static LogicalResult verifyWeighted(OpTy op, FailureOr<Shape> inferred, Channels channels) {
  return Rules(op)
      .destination(inferred)
      .oneKind("input", op.getInput())
      .oneKind("weights", op.getWeights())
      .scaleBias(op.getScaleBias(), channels)
      .zeroPoint("input_zp", op.getInputZpAttr(), op.getInput())
      .zeroPoint("weight_zp", op.getWeightZpAttr(), op.getWeights())
      .outputZeroPoint(op.getOutputZpAttr().getInt())
      .outputBounds(op.getOutputMinAttr(), op.getOutputMaxAttr())
      .outcome();
}

template <typename OpTy> static shapes::Window window(OpTy op) {
  return {op.getPad(), op.getStride(), op.getDilation()};
}

LogicalResult Conv2DOp::verify() {
  auto error = [&] { return emitOpError(); };
  FailureOr<Shape> inferred = shapes::conv2d(error, shapeOf(getInput()), shapeOf(getWeights()), getGroups(),
                                             window(*this), getNhwcInput());
  return verifyWeighted(*this, inferred, size(getWeights(), 0));
}

LogicalResult DepthwiseConv2DOp::verify() {
  auto error = [&] { return emitOpError(); };
  FailureOr<Shape> inferred = shapes::depthwiseConv2d(error, shapeOf(getInput()), shapeOf(getWeights()), getGroups(),
                                                      window(*this), getNhwcInput());
  return verifyWeighted(*this, inferred, size(getWeights(), 0));
}

LogicalResult Conv1DOp::verify() {
  auto error = [&] { return emitOpError(); };
  FailureOr<Shape> inferred =
      shapes::conv1d(error, shapeOf(getInput()), shapeOf(getWeights()), getGroups(), window(*this));
  return verifyWeighted(*this, inferred, size(getWeights(), 0));
}

/// With is_batch_scaled the pairs belong to rows, and their number is not checked.
LogicalResult FullyConnectedOp::verify() {
  auto error = [&] { return emitOpError(); };
  FailureOr<Shape> inferred = shapes::fullyConnected(error, shapeOf(getInput()), shapeOf(getWeights()));
  return verifyWeighted(*this, inferred, getIsBatchScaled() ? Channels() : size(getWeights(), 1));
}

LogicalResult MatMulOp::verify() {
  auto error = [&] { return emitOpError(); };
  return Rules(*this)
      .destination(shapes::matmul(error, shapeOf(getInput1()), shapeOf(getInput2())))
      .oneKind("input1", getInput1())
      .oneKind("input2", getInput2())
      .scaleBias(getScaleBias(), 1)
      .outputZeroPoint(getOutputZpAttr().getInt())
      .outputBounds(getOutputMinAttr(), getOutputMaxAttr())
      .outcome();
}

//===----------------------------------------------------------------------===//
// Elementwise operations
//===----------------------------------------------------------------------===//

template <typename OpTy> static FailureOr<Shape> broadcastShape(OpTy op) {
  return shapes::broadcastInputs([&] { return op.emitOpError(); }, shapeOf(op.getInput1()), shapeOf(op.getInput2()));
}

/// With rhs_is_scalar the second input has one element.
static LogicalResult scalarRight(AddOp op) {
  Value right = op.getInput2();
  if (!op.getRhsIsScalar() || llvm::all_of(shapeOf(right), [](int64_t each) { return compatible(each, 1); }))
    return success();
  return op.emitOpError() << "operand 'input2' must have one element with 'rhs_is_scalar', but got " << right.getType();
}

LogicalResult AddOp::verify() {
  return Rules(*this)
      .destination(broadcastShape(*this))
      .oneKind("input1", getInput1())
      .oneKind("input2", getInput2())
      .oneKind("weights", getWeights())
      .elements("weights", getWeights(), {2})
      .scaleBias(getScaleBias(), 1)
      .check([&] { return scalarRight(*this); })
      .outputZeroPoint(getOutputZpAttr().getInt())
      .outputBounds(getOutputMinAttr(), getOutputMaxAttr())
      .outcome();
}

LogicalResult MulOp::verify() {
  return Rules(*this)
      .destination(broadcastShape(*this))
      .oneKind("input1", getInput1())
      .oneKind("input2", getInput2())
      .scaleBias(getScaleBias(), 1)
      .outputZeroPoint(getOutputZpAttr().getInt())
      .outputBounds(getOutputMinAttr(), getOutputMaxAttr())
      .outcome();
}

/// One weight and one pair, or one for each channel.
LogicalResult FmaOp::verify() {
  Shape input = shapeOf(getInput());
  int64_t channels = input.empty() ? 1 : input.size() >= 3 ? input[1] : input.back();
  Rules rules(*this);
  rules.destination(input).oneKind("input", getInput()).oneKind("weights", getWeights());
  if (!ShapedType::isDynamic(channels))
    rules.elements("weights", getWeights(), {1, channels});
  return rules.scaleBias(getScaleBias(), channels)
      .outputZeroPoint(getOutputZpAttr().getInt())
      .outputBounds(getOutputMinAttr(), getOutputMaxAttr())
      .outcome();
}

/// The element types are those that `name` converts between; other functions have one for both.
static LogicalResult actTypes(ActOp op) {
  StringRef name = op.getName();
  bool fromInteger = name == "i2f", toInteger = name == "f2i";
  const std::tuple<StringRef, Value, bool> values[] = {{"input", op.getInput(), fromInteger},
                                                       {"output", op.getOutput(), toInteger}};
  for (auto [which, value, integers] : values)
    if (describe(value).isInteger() != integers)
      return op.emitOpError() << "'" << which << "' of \"" << name << "\" must hold "
                              << (integers ? "integers" : "floats") << ", but got " << value.getType();
  return success();
}

/// Lower bounds do not exceed upper ones.
static LogicalResult actBounds(ActOp op) {
  int64_t minInt = op.getMinIntAttr().getInt(), maxInt = op.getMaxIntAttr().getInt();
  if (minInt > maxInt)
    return op.emitOpError() << "attribute 'min_int' (" << minInt << ") must not exceed 'max_int' (" << maxInt << ")";
  APFloat minFp = op.getMinFp(), maxFp = op.getMaxFp();
  if (minFp > maxFp) {
    SmallString<16> low, high;
    minFp.toString(low);
    maxFp.toString(high);
    return op.emitOpError() << "attribute 'min_fp' (" << low << ") must not exceed 'max_fp' (" << high << ")";
  }
  return success();
}

LogicalResult ActOp::verify() {
  Rules rules(*this);
  rules.destination(shapeOf(getInput()));
  StringRef name = getName();
  if (name == "clamp" || name == "abs" || name == "negate")
    rules.oneElementType("input", getInput(), "output", getOutput());
  else
    rules.check([&] { return actTypes(*this); });
  return rules.check([&] { return actBounds(*this); }).outcome();
}

/// From i8 to i8 or i16, or from i16 to i16.
static LogicalResult tableTypes(TableOp op) {
  Type input = op.getInput().getType(), output = op.getOutput().getType();
  if (getElementTypeOrSelf(input).getIntOrFloatBitWidth() <= getElementTypeOrSelf(output).getIntOrFloatBitWidth())
    return success();
  return op.emitOpError() << "the result must not be narrower than operand 'input', " << input << ", but is " << output;
}

/// The table is an attribute or an operand.
LogicalResult TableOp::verify() {
  Rules rules(*this);
  rules.destination(shapeOf(getInput()))
      .check([&] { return tableTypes(*this); })
      .elements("scale_bias", getScaleBias(), {2})
      .check([&]() -> LogicalResult {
        if (!getStaticTableAttr() != !getDynamicTable())
          return success();
        return emitOpError() << "must have either the attribute 'static_table' or the operand 'dynamic_table'";
      });
  if (getDynamicTable())
    rules.elements("dynamic_table", getDynamicTable(), {256});
  return rules.outputZeroPoint(static_cast<int32_t>(getOutputZp())).outcome();
}

/// The result has the element type of the inputs, or is i1 for comparisons and logical operations.
static LogicalResult binaryTypes(ElementwiseBinaryOp op) {
  ElementwiseOp kind = op.getOpType();
  unsigned number = static_cast<unsigned>(kind);
  Type input = op.getInput1().getType(), element = getElementTypeOrSelf(input), output = op.getOutput().getType();
  if (kind == ElementwiseOp::BitwiseNot || kind == ElementwiseOp::LogicalNot)
    return op.emitOpError() << "attribute 'op_type' (" << number << ") is an operation on one input";
  if (kind <= ElementwiseOp::BitwiseNot && !isa<IntegerType>(element))
    return op.emitOpError() << "operand 'input1' must hold integers for a bitwise 'op_type' (" << number
                            << "), but got " << input;
  if ((kind == ElementwiseOp::Add || kind == ElementwiseOp::Sub) && element.isInteger(1))
    return op.emitOpError() << "attribute 'op_type' (" << number << ") is arithmetic, which i1 does not have";
  bool predicate = kind >= ElementwiseOp::Greater && kind <= ElementwiseOp::LogicalNot;
  Type expected = predicate ? IntegerType::get(op.getContext(), 1) : element;
  if (getElementTypeOrSelf(output) == expected)
    return success();
  return op.emitOpError() << "the result must have element type " << text(expected) << " for 'op_type' " << number
                          << ", but got " << output;
}

LogicalResult ElementwiseBinaryOp::verify() {
  return Rules(*this)
      .destination(broadcastShape(*this))
      .oneElementType("input1", getInput1(), "input2", getInput2())
      .check([&] { return binaryTypes(*this); })
      .outcome();
}

LogicalResult SelectOp::verify() {
  auto error = [&] { return emitOpError(); };
  FailureOr<Shape> inferred = shapes::broadcastInputs(error, shapeOf(getInput2()), shapeOf(getInput3()));
  if (succeeded(inferred))
    inferred = shapes::broadcastInputs(error, shapeOf(getInput1()), *inferred);
  return Rules(*this)
      .destination(inferred)
      .oneElementType("input2", getInput2(), "input3", getInput3())
      .oneElementType("input2", getInput2(), "output", getOutput())
      .outcome();
}

//===----------------------------------------------------------------------===//
// Pooling and reductions
//===----------------------------------------------------------------------===//

LogicalResult MaxPool2DOp::verify() {
  auto error = [&] { return emitOpError(); };
  const int64_t undilated[] = {1, 1};
  return Rules(*this)
      .destination(shapes::maxpool2d(error, shapeOf(getInput()), getKernel(), {getPad(), getStride(), undilated}))
      .oneElementType("input", getInput(), "output", getOutput())
      .elements("weights", getWeights(), {1})
      .scaleBias(getScaleBias(), 1)
      .zeroPoint("input_zp", getInputZpAttr(), getInput())
      .outputBounds(getOutputMinAttr(), getOutputMaxAttr())
      .outcome();
}

/// Rules of sums over pixels or elements, up to the zero point of the input, which some have.
template <typename OpTy> static Rules reductionRules(OpTy op, FailureOr<Shape> inferred) {
  Rules rules(op);
  rules.destination(inferred)
      .oneKind("input", op.getInput())
      .oneKind("weights", op.getWeights())
      .elements("weights", op.getWeights(), {1})
      .scaleBias(op.getScaleBias(), 1);
  return rules;
}

template <typename OpTy> static LogicalResult verifyMean(OpTy op, FailureOr<Shape> inferred) {
  return reductionRules(op, inferred)
      .zeroPoint("input_zp", op.getInputZpAttr(), op.getInput())
      .outputZeroPoint(op.getOutputZpAttr().getInt())
      .outputBounds(op.getOutputMinAttr(), op.getOutputMaxAttr())
      .outcome();
}

LogicalResult AvgPool2DOp::verify() {
  return verifyMean(*this, shapes::avgPool2d([&] { return emitOpError(); }, shapeOf(getInput())));
}

LogicalResult ReduceMeanOp::verify() {
  return verifyMean(*this, shapes::reduceMean([&] { return emitOpError(); }, shapeOf(getInput())));
}

LogicalResult ReduceOp::verify() {
  auto error = [&] { return emitOpError(); };
  return reductionRules(*this, shapes::withoutAxis(error, shapeOf(getInput()), getAxis()))
      .outputZeroPoint(getOutputZpAttr().getInt())
      .outputBounds(getOutputMinAttr(), getOutputMaxAttr())
      .outcome();
}

LogicalResult ArgMaxOp::verify() {
  auto error = [&] { return emitOpError(); };
  return Rules(*this)
      .destination(shapes::withoutAxis(error, shapeOf(getInput()), getAxis()))
      .elements("scale_bias", getScaleBias(), {2})
      .outcome();
}

//===----------------------------------------------------------------------===//
// Data movement
//===----------------------------------------------------------------------===//

template <typename OpTy> static Rules moveRules(OpTy op, FailureOr<Shape> inferred) {
  return Rules(op).destination(inferred).oneElementType("input", op.getInput(), "output", op.getOutput());
}

LogicalResult TransposeOp::verify() {
  auto error = [&] { return emitOpError(); };
  return moveRules(*this, shapes::transpose(error, shapeOf(getInput()), getPerm())).outcome();
}

LogicalResult BroadcastOp::verify() {
  auto error = [&] { return emitOpError(); };
  return moveRules(*this, shapes::broadcast(error, shapeOf(getInput()), shapeOf(getInit()), getDimensions())).outcome();
}

LogicalResult FillOp::verify() { return Rules(*this).destination(shapeOf(getInit())).outcome(); }

LogicalResult IdentityOp::verify() { return moveRules(*this, shapeOf(getInput())).outcome(); }

LogicalResult ConvertOp::verify() { return Rules(*this).destination(shapeOf(getInput())).outcome(); }

LogicalResult GatherOp::verify() {
  auto error = [&] { return emitOpError(); };
  return Rules(*this)
      .destination(shapes::gather(error, shapeOf(getValues()), shapeOf(getIndices())))
      .oneElementType("values", getValues(), "output", getOutput())
      .outcome();
}

LogicalResult ResizeNearestNeighborOp::verify() {
  auto error = [&] { return emitOpError(); };
  return moveRules(*this, shapes::resizeNearestNeighbor(error, shapeOf(getInput()), getScaleFactor())).outcome();
}

LogicalResult DepthToSpaceOp::verify() {
  auto error = [&] { return emitOpError(); };
  return moveRules(*this, shapes::depthToSpace(error, shapeOf(getInput()), getBlockSize()))
      .elements("weights", getWeights(), {1})
      .outcome();
}
