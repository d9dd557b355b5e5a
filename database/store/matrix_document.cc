#include "database/store/matrix_document.h"

#include <algorithm>
#include <numeric>

namespace handhold::store {
namespace {

constexpr int kBlock = 4096;
constexpr uint64_t kMostValues = uint64_t{1} << 28;

Error Damaged() { return {ErrorCode::kCorrupt, "a stored matrix contradicts itself"}; }

}  // namespace

Bytes EncodeMatrix(const Eigen::Ref<const Eigen::MatrixXd>& matrix) {
  Bytes out, frame;
  PutVarint(out, static_cast<uint64_t>(matrix.rows()));
  PutVarint(out, static_cast<uint64_t>(matrix.cols()));
  FrameEncoder encoder;
  const std::vector<double> quanta(static_cast<size_t>(matrix.rows()), 0.0);
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> block;
  for (Eigen::Index at = 0; at < matrix.cols() && matrix.rows() > 0; at += kBlock) {
    const Eigen::Index n = std::min<Eigen::Index>(kBlock, matrix.cols() - at);
    block = matrix.middleCols(at, n);
    frame.clear();
    encoder.EncodeValues(block.data(), static_cast<size_t>(n), static_cast<int>(n), quanta, true,
                         frame);
    PutVarint(out, frame.size());
    out.insert(out.end(), frame.begin(), frame.end());
  }
  return out;
}

namespace {

/// The columns of a matrix of known size; rows of a block lie one after another in `values`.
Status DecodeBlocks(ByteReader& in, Eigen::MatrixXd& matrix) {
  FrameDecoder decoder;
  const auto rows = static_cast<size_t>(matrix.rows());
  const std::vector<double> quanta(rows, 0.0);
  std::vector<int> wanted(rows);
  std::iota(wanted.begin(), wanted.end(), 0);
  // A column of a million rows is one column: it must not ask for a block of them.
  std::vector<double> values(rows *
                             static_cast<size_t>(std::min<Eigen::Index>(kBlock, matrix.cols())));
  for (Eigen::Index at = 0; at < matrix.cols() && rows > 0; at += kBlock) {
    const Eigen::Index n = std::min<Eigen::Index>(kBlock, matrix.cols() - at);
    const uint64_t size = in.Varint();
    const std::span<const uint8_t> frame = in.Take(size);
    if (!in.ok()) return Damaged();
    HANDHOLD_TRY(decoder.DecodeValues(frame, quanta, static_cast<int>(n), wanted, 0,
                                      static_cast<int>(n), values.data(), static_cast<size_t>(n)));
    for (Eigen::Index r = 0; r < matrix.rows(); ++r) {
      for (Eigen::Index c = 0; c < n; ++c)
        matrix(r, at + c) = values[static_cast<size_t>(r * n + c)];
    }
  }
  if (!in.ok() || in.left() != 0) return Damaged();
  return {};
}

}  // namespace

Status DecodeMatrix(std::span<const uint8_t> bytes, Eigen::MatrixXd& matrix) {
  ByteReader in(bytes);
  const uint64_t rows = in.Varint(), cols = in.Varint();
  if (!in.ok() || rows > kMostValues || cols > kMostValues ||
      (cols > 0 && rows > kMostValues / cols))
    return Damaged();
  matrix.resize(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(cols));
  return DecodeBlocks(in, matrix);
}

Bytes EncodeIntegerList(std::span<const int64_t> values) {
  Bytes out, frame;
  PutVarint(out, values.size());
  FrameEncoder encoder;
  for (size_t at = 0; at < values.size(); at += kMaxFrameSamples) {
    const size_t n = std::min<size_t>(kMaxFrameSamples, values.size() - at);
    frame.clear();
    encoder.EncodeIntegers(values.data() + at, n, static_cast<int>(n), 1, frame);
    PutVarint(out, frame.size());
    out.insert(out.end(), frame.begin(), frame.end());
  }
  return out;
}

Result<std::vector<int64_t>> DecodeIntegerList(std::span<const uint8_t> bytes) {
  ByteReader in(bytes);
  const uint64_t count = in.Varint();
  if (!in.ok() || count > kMostValues) return Damaged();
  std::vector<int64_t> values(count);
  FrameDecoder decoder;
  for (size_t at = 0; at < count; at += kMaxFrameSamples) {
    const size_t n = std::min<size_t>(kMaxFrameSamples, count - at);
    const uint64_t size = in.Varint();
    const std::span<const uint8_t> frame = in.Take(size);
    if (!in.ok()) return Damaged();
    HANDHOLD_TRY(decoder.DecodeIntegers(frame, 1, static_cast<int>(n), values.data() + at, n));
  }
  if (!in.ok() || in.left() != 0) return Damaged();
  return values;
}

}  // namespace handhold::store
