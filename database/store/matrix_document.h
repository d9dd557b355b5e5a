/// Matrices of doubles as bytes, exactly: the column codec over rows, in blocks of 4096 columns.
/// Internal to the store.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "database/store/codec.h"

namespace handhold::store {

Bytes EncodeMatrix(const Eigen::Ref<const Eigen::MatrixXd>& matrix);
Status DecodeMatrix(std::span<const uint8_t> bytes, Eigen::MatrixXd& matrix);
Bytes EncodeIntegerList(std::span<const int64_t> values);
Result<std::vector<int64_t>> DecodeIntegerList(std::span<const uint8_t> bytes);

}  // namespace handhold::store
