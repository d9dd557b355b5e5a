/// A matrix or vector that keeps its memory when it gets smaller: what a step reuses while contacts
/// come and go.
///
/// Eigen's own give memory back and ask for it anew whenever their number of entries changes.
/// Otherwise as Eigen::Map<Plain>; entries mean nothing after Resize. Pinned by
/// tests/synthesis/contact/grown_test.cc.
#pragma once

#include <new>
#include <vector>

#include <Eigen/Core>

namespace handhold::synthesis {

template <typename Plain>
class Grown : public Eigen::Map<Plain, Eigen::AlignedMax> {
  using View = Eigen::Map<Plain, Eigen::AlignedMax>;

 public:
  Grown()
      : View(nullptr, Plain::RowsAtCompileTime > 0 ? Eigen::Index{Plain::RowsAtCompileTime} : 0,
             Plain::ColsAtCompileTime > 0 ? Eigen::Index{Plain::ColsAtCompileTime} : 0) {}
  Grown(const Grown& other) : Grown() { *this = other; }
  Grown& operator=(const Grown& other) {
    return *this = static_cast<const Eigen::DenseBase<View>&>(other);
  }
  template <typename Other>
  Grown& operator=(const Eigen::DenseBase<Other>& other) {
    Resize(other.rows(), other.cols());
    View::operator=(other.derived());
    return *this;
  }

  void Resize(Eigen::Index rows, Eigen::Index cols = 1) {
    const auto most = static_cast<size_t>(rows * cols);
    if (entries_.size() < most) entries_.resize(most + most / 2);
    new (static_cast<View*>(this)) View(entries_.data(), rows, cols);
  }
  void SetZero(Eigen::Index rows, Eigen::Index cols = 1) {
    Resize(rows, cols);
    View::setZero();
  }

 private:
  std::vector<double, Eigen::aligned_allocator<double>> entries_;
};

using GrownMatrix = Grown<Eigen::MatrixXd>;
using GrownVector = Grown<Eigen::VectorXd>;

}  // namespace handhold::synthesis
