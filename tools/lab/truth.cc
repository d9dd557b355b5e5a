#include "tools/lab/truth.h"

#include <algorithm>
#include <cmath>

#include "database/base/check.h"

namespace handhold::lab {

std::vector<TruthContact> TruthRun::ContactsOf(int stroke) const {
  std::vector<TruthContact> found;
  for (const TruthContact& c : contacts) {
    if (c.stroke == stroke) found.push_back(c);
  }
  return found;
}

const TruthRun* Truth::FindRun(std::string_view name) const {
  for (const TruthRun& run : runs) {
    if (run.name == name) return &run;
  }
  return nullptr;
}

const PlantedImpedance* Truth::FindImpedance(std::string_view task) const {
  for (const PlantedImpedance& impedance : impedances) {
    if (impedance.task == task) return &impedance;
  }
  return nullptr;
}

Eigen::VectorXd Interpolate(const TruthSeries& series, const Eigen::MatrixXd& columns, double t_s) {
  const Eigen::Index n = columns.rows();
  CHECK_GE(n, 2);
  const double x =
      std::clamp((t_s - series.begin_s) * series.rate_hz, 0.0, static_cast<double>(n - 1));
  const Eigen::Index i = std::min<Eigen::Index>(static_cast<Eigen::Index>(x), n - 2);
  const double s = x - static_cast<double>(i);
  if (s == 0.0) return columns.row(i).transpose();  // a NaN beyond must not leak into an exact row
  return ((1 - s) * columns.row(i) + s * columns.row(i + 1)).transpose();
}

}  // namespace handhold::lab
