// Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Shapes.h"

using namespace mlir;
using namespace torq_mlir;
using namespace torq_mlir::shapes;

LogicalResult shapes::requireInferred(Operation *op, unsigned position, StringRef name,
                                      const std::optional<Shape> &inferred) {
  Type type = op->getResult(position).getType();
  if (compatible(describe(type).shape, inferred))
    return success();
  return op->emitOpError() << "result #" << position << " ('" << name << "') must have the inferred shape "
                           << text(inferred) << ", but got " << type;
}

static bool known(int64_t size) { return !ShapedType::isDynamic(size); }

static LogicalResult requireRank(Error error, StringRef name, const Shape &shape, size_t rank, StringRef layout) {
  if (shape.size() == rank)
    return success();
  return error() << "'" << name << "' must have rank " << rank << " (" << layout << "), but has rank " << shape.size();
}

/// Number of positions of a window along one dimension, rounded down.
static FailureOr<int64_t> positions(Error error, int64_t size, int64_t kernel, int64_t before, int64_t after,
                                    int64_t stride, int64_t dilation, StringRef dimension) {
  if (!known(size) || !known(kernel))
    return ShapedType::kDynamic;
  int64_t extent = dilation * (kernel - 1) + 1;
  int64_t padded = size + before + after;
  if (padded < extent)
    return error() << "the window of " << extent << " does not fit the padded " << dimension << " of 'input', "
                   << padded;
  return (padded - extent) / stride + 1;
}

/// The output channels of a convolution, checked against its groups.
static FailureOr<int64_t> outputChannels(Error error, const Shape &weights, int64_t channels, int64_t groups) {
  int64_t output = weights[0], perGroup = weights[1];
  if (known(output) && output % groups)
    return error() << "'groups' (" << groups << ") must divide the " << output << " output channels of 'weights'";
  if (known(channels) && known(perGroup) && perGroup * groups != channels)
    return error() << "'weights' has " << perGroup << " input channels and 'groups' is " << groups
                   << ", but 'input' has " << channels << " channels";
  return output;
}

Result shapes::conv2d(Error error, const Shape &input, const Shape &weights, int64_t groups, const Window &window,
                      bool nhwc) {
  if (failed(requireRank(error, "input", input, 4, nhwc ? "NHWC" : "NCHW")) ||
      failed(requireRank(error, "weights", weights, 4, "OIHW")))
    return failure();
  int64_t channels = input[nhwc ? 3 : 1], height = input[nhwc ? 1 : 2], width = input[nhwc ? 2 : 3];
  FailureOr<int64_t> output = outputChannels(error, weights, channels, groups);
  if (failed(output))
    return failure();
  FailureOr<int64_t> rows = positions(error, height, weights[2], window.pad[2], window.pad[3], window.stride[0],
                                      window.dilation[0], "height");
  if (failed(rows))
    return failure();
  FailureOr<int64_t> columns = positions(error, width, weights[3], window.pad[0], window.pad[1], window.stride[1],
                                         window.dilation[1], "width");
  if (failed(columns))
    return failure();
  return Shape{input[0], *output, *rows, *columns};
}

Result shapes::depthwiseConv2d(Error error, const Shape &input, const Shape &weights, int64_t groups,
                               const Window &window, bool nhwc) {
  if (failed(requireRank(error, "weights", weights, 4, "OIHW")))
    return failure();
  if (!compatible(weights[1], 1))
    return error() << "'weights' must have 1 input channel, but has " << weights[1];
  return conv2d(error, input, weights, groups, window, nhwc);
}

Result shapes::conv1d(Error error, const Shape &input, const Shape &weights, int64_t groups, const Window &window) {
  if (failed(requireRank(error, "input", input, 3, "NCW")) || failed(requireRank(error, "weights", weights, 3, "OIW")))
    return failure();
  FailureOr<int64_t> output = outputChannels(error, weights, input[1], groups);
  if (failed(output))
    return failure();
  FailureOr<int64_t> columns = positions(error, input[2], weights[2], window.pad[0], window.pad[1], window.stride[0],
                                         window.dilation[0], "width");
  if (failed(columns))
    return failure();
  return Shape{input[0], *output, *columns};
}

Result shapes::fullyConnected(Error error, const Shape &input, const Shape &weights) {
  if (failed(requireRank(error, "weights", weights, 2, "KN")))
    return failure();
  if (input.empty())
    return error() << "'input' must have rank 1 or more";
  if (!compatible(input.back(), weights[0]))
    return error() << "'weights' has " << weights[0] << " rows, but the last dimension of 'input' is " << input.back();
  Shape result = input;
  result.back() = weights[1];
  return result;
}

Result shapes::matmul(Error error, const Shape &input1, const Shape &input2) {
  size_t rank = input1.size();
  if (rank < 2 || rank != input2.size())
    return error() << "'input1' and 'input2' must have one rank of at least 2, but have " << rank << ", "
                   << input2.size();
  if (!compatible(input1.back(), input2[rank - 2]))
    return error() << "'input1' has " << input1.back() << " columns, but 'input2' has " << input2[rank - 2] << " rows";
  Shape result = input1;
  for (size_t dimension = 0; dimension + 2 < rank; ++dimension) {
    int64_t first = input1[dimension], second = input2[dimension];
    if (!compatible(first, second))
      return error() << "a leading dimension is " << first << " in 'input1', but " << second << " in 'input2'";
    result[dimension] = known(first) ? first : second;
  }
  result.back() = input2.back();
  return result;
}

Result shapes::broadcastInputs(Error error, const Shape &input1, const Shape &input2) {
  size_t rank = std::max(input1.size(), input2.size());
  auto extended = [&](const Shape &shape) {
    Shape all(rank - shape.size(), 1);
    all.append(shape);
    return all;
  };
  Shape result;
  for (auto [first, second] : llvm::zip_equal(extended(input1), extended(input2))) {
    if (first != 1 && second != 1 && !compatible(first, second))
      return error() << "'input1' and 'input2' do not broadcast: " << first << " against " << second;
    result.push_back(first == 1 || (second != 1 && !known(first)) ? second : first);
  }
  return result;
}

Result shapes::tokens(Error error, const Shape &input) {
  if (input.empty())
    return error() << "'input' must have rank 1 or more";
  if (input.back() == 0)
    return error() << "'input' must not be empty along its last dimension";
  return reduceMean(error, input);
}

Result shapes::maxpool2d(Error error, const Shape &input, Sizes kernel, const Window &window) {
  if (failed(requireRank(error, "input", input, 4, "NCHW")))
    return failure();
  FailureOr<int64_t> rows =
      positions(error, input[2], kernel[0], window.pad[2], window.pad[3], window.stride[0], 1, "height");
  if (failed(rows))
    return failure();
  FailureOr<int64_t> columns =
      positions(error, input[3], kernel[1], window.pad[0], window.pad[1], window.stride[1], 1, "width");
  if (failed(columns))
    return failure();
  return Shape{input[0], input[1], *rows, *columns};
}

Result shapes::avgPool2d(Error error, const Shape &input) {
  if (failed(requireRank(error, "input", input, 4, "NHWC")))
    return failure();
  return Shape{input[0], 1, 1, input[3]};
}

Result shapes::reduceMean(Error error, const Shape &input) {
  if (input.empty())
    return error() << "'input' must have rank 1 or more";
  Shape result = input;
  result.back() = 1;
  return result;
}

Result shapes::withoutAxis(Error error, const Shape &input, int64_t axis) {
  if (axis < 0 || axis >= static_cast<int64_t>(input.size()))
    return error() << "'axis' (" << axis << ") must be a dimension of 'input', which has rank " << input.size();
  Shape result = input;
  result.erase(result.begin() + axis);
  return result;
}

Result shapes::transpose(Error error, const Shape &input, Sizes perm) {
  SmallVector<int64_t> sorted(perm);
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, input.size())))
    return error() << "'perm' must be a permutation of 0.." << static_cast<int64_t>(input.size()) - 1 << ", but is ["
                   << perm << "]";
  return Shape(llvm::map_range(perm, [&](int64_t dimension) { return input[dimension]; }));
}

Result shapes::broadcast(Error error, const Shape &input, const Shape &init, Sizes dimensions) {
  int64_t rank = init.size();
  const int64_t *end = dimensions.end();
  bool increasing = std::adjacent_find(dimensions.begin(), end, std::greater_equal<>()) == end;
  if (!increasing || llvm::any_of(dimensions, [&](int64_t each) { return each < 0 || each >= rank; }))
    return error() << "'dimensions' must be increasing and within 0.." << rank - 1 << ", but is [" << dimensions
                   << "]";
  Shape kept;
  for (auto [dimension, size] : llvm::enumerate(init))
    if (!llvm::is_contained(dimensions, dimension))
      kept.push_back(size);
  if (!compatible(kept, input))
    return error() << "'init' without 'dimensions' has shape " << text(kept) << ", but 'input' has shape "
                   << text(input);
  return init;
}

Result shapes::gather(Error error, const Shape &values, const Shape &indices) {
  if (values.empty())
    return error() << "'values' must have rank 1 or more";
  if (values.front() == 0)
    return error() << "'values' must not be empty along its first dimension";
  Shape result = indices;
  result.append(values.begin() + 1, values.end());
  return result;
}

/// Height and width of an [N, C, H, W] shape times a factor.
static Shape enlarged(Shape shape, int64_t factor) {
  for (int64_t &size : MutableArrayRef<int64_t>(shape).drop_front(2))
    size = known(size) ? size * factor : size;
  return shape;
}

Result shapes::resizeNearestNeighbor(Error error, const Shape &input, int64_t scaleFactor) {
  if (failed(requireRank(error, "input", input, 4, "NCHW")))
    return failure();
  return enlarged(input, scaleFactor);
}

Result shapes::depthToSpace(Error error, const Shape &input, int64_t blockSize) {
  if (failed(requireRank(error, "input", input, 4, "NCHW")))
    return failure();
  Shape result = enlarged(input, blockSize);
  if (!known(input[1]))
    return result;
  if (input[1] % (blockSize * blockSize))
    return error() << "'blockSize' (" << blockSize << ") squared must divide the " << input[1]
                   << " channels of 'input'";
  result[1] = input[1] / (blockSize * blockSize);
  return result;
}
