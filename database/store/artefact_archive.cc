#include "database/store/artefact_archive.h"

namespace handhold::store {

Eigen::MatrixXd PosesToMatrix(const std::vector<geometry::RigidTransform>& poses) {
  Eigen::MatrixXd m(12, static_cast<Eigen::Index>(poses.size()));
  for (size_t i = 0; i < poses.size(); ++i)
    m.col(static_cast<Eigen::Index>(i)) << poses[i].R.reshaped(), poses[i].p;
  return m;
}

bool MatrixToPoses(const Eigen::MatrixXd& m, std::vector<geometry::RigidTransform>* poses) {
  poses->clear();
  if (m.rows() != 12) return m.cols() == 0;
  for (Eigen::Index i = 0; i < m.cols(); ++i)
    poses->push_back({m.col(i).head<9>().reshaped(3, 3), m.col(i).tail<3>()});
  return true;
}

Eigen::MatrixXd RowsToMatrix(const std::vector<artefact::ContactRow>& rows) {
  Eigen::MatrixXd m(16, static_cast<Eigen::Index>(rows.size()));
  for (size_t i = 0; i < rows.size(); ++i) {
    const artefact::ContactRow& r = rows[i];
    m.col(static_cast<Eigen::Index>(i)) << r.frame, r.touch, r.f_onA_W, r.m_onA_W, r.p_W,
        r.normal_W, r.offset_m, r.slip_m_per_s;
  }
  return m;
}

bool MatrixToRows(const Eigen::MatrixXd& m, std::vector<artefact::ContactRow>* rows) {
  rows->clear();
  if (m.rows() != 16) return m.cols() == 0;
  for (Eigen::Index i = 0; i < m.cols(); ++i) {
    const auto c = m.col(i);
    artefact::ContactRow& r = rows->emplace_back();
    // Whole numbers that were ints; anything else is no row.
    if (!(std::abs(c[0]) < 2e9) || !(std::abs(c[1]) < 2e9)) return false;
    r.frame = static_cast<int>(c[0]);
    r.touch = static_cast<int>(c[1]);
    r.f_onA_W = c.segment<3>(2);
    r.m_onA_W = c.segment<3>(5);
    r.p_W = c.segment<3>(8);
    r.normal_W = c.segment<3>(11);
    r.offset_m = c[14];
    r.slip_m_per_s = c[15];
  }
  return true;
}

}  // namespace handhold::store
