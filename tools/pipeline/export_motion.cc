#include "tools/pipeline/export_motion.h"

#include <algorithm>

#include "database/geometry/rotation.h"
#include "tools/pipeline/coordinate_names.h"
#include "tools/pipeline/csv_line.h"

namespace handhold::pipeline {

std::string MotionToCsv(const artefact::Motion& motion) {
  const size_t frames = motion.times.size();
  const Eigen::Matrix3Xd force = artefact::ForceOnHand(motion.touches, motion.rows, frames);
  std::vector<int> count(frames, 0);
  Eigen::VectorXd slip = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(frames));
  for (const artefact::ContactRow& row : motion.rows) {
    ++count[static_cast<size_t>(row.frame)];
    if (row.slip_m_per_s > slip[row.frame]) slip[row.frame] = row.slip_m_per_s;
  }
  CsvLine head;
  head.Word("time_s");
  for (const artefact::MotionHand& hand : motion.hands) {
    const std::string of = motion.hands.size() > 1 ? hand.name + ":" : "";
    for (const std::string& name :
         CoordinateColumns(hand.dof_names, static_cast<size_t>(hand.q.rows())))
      head.Word(of + name);
  }
  for (const char* word :
       {"f_onHand_x_N", "f_onHand_y_N", "f_onHand_z_N", "contacts", "slip_m_per_s"})
    head.Word(word);
  for (const artefact::Series& series : motion.series)
    head.Word(series.name + (series.unit == "1" ? "" : "_" + series.unit));
  for (const artefact::MotionObject& object : motion.objects) {
    for (const char* part : {"x_m", "y_m", "z_m", "qw", "qx", "qy", "qz"})
      head.Word(object.name + "." + part);
  }
  std::string out = head.Take();
  for (size_t k = 0; k < frames; ++k) {
    const auto i = static_cast<Eigen::Index>(k);
    CsvLine line;
    line.Number(motion.times[k].seconds());
    for (const artefact::MotionHand& hand : motion.hands) {
      for (Eigen::Index r = 0; r < hand.q.rows(); ++r) line.Number(hand.q(r, i));
    }
    for (Eigen::Index axis = 0; axis < 3; ++axis) line.Number(force(axis, i));
    line.Number(count[k]);
    line.Number(slip[i]);
    for (const artefact::Series& series : motion.series) line.Number(series.values[i]);
    for (const artefact::MotionObject& object : motion.objects) {
      const geometry::RigidTransform& X = object.pose(k);
      const Eigen::Quaterniond q(X.R);
      for (const double value : {X.p.x(), X.p.y(), X.p.z(), q.w(), q.x(), q.y(), q.z()})
        line.Number(value);
    }
    out += line.Take();
  }
  return out;
}

}  // namespace handhold::pipeline
