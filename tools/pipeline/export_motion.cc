#include "tools/pipeline/export_motion.h"

#include <algorithm>
#include <charconv>

#include "database/geometry/rotation.h"
#include "database/text/file.h"

namespace handhold::pipeline {
namespace {

/// A line in the making.
class Line {
 public:
  void Word(std::string_view word) {
    if (!text_.empty()) text_ += ',';
    const bool quote = word.find_first_of(",\"\n") != std::string_view::npos;
    if (!quote) {
      text_ += word;
      return;
    }
    text_ += '"';
    for (const char c : word) text_ += c == '"' ? std::string("\"\"") : std::string(1, c);
    text_ += '"';
  }
  void Number(double value) {
    char digits[32];
    const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
    Word(std::string_view(digits, static_cast<size_t>(end - digits)));
  }
  std::string Take() { return std::move(text_) + "\n"; }

 private:
  std::string text_;
};

}  // namespace

std::string MotionToCsv(const artefact::Motion& motion) {
  const size_t frames = motion.times.size();
  std::vector<geometry::Vec3> force(frames, geometry::Vec3::Zero());
  std::vector<int> count(frames, 0);
  Eigen::VectorXd slip = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(frames));
  for (const artefact::MotionContact& c : motion.contacts) {
    const auto k = static_cast<size_t>(c.frame);
    force[k] += c.f_onHand_W;
    ++count[k];
    slip[c.frame] = std::max(slip[c.frame], c.slip_m_per_s);
  }
  const bool hinges = motion.q.rows() == static_cast<Eigen::Index>(motion.dof_names.size());
  Line head;
  head.Word("time_s");
  for (Eigen::Index i = 0; i < motion.q.rows(); ++i) {
    head.Word(hinges ? motion.dof_names[static_cast<size_t>(i)] + "_rad" : "q" + std::to_string(i));
  }
  for (const char* word : {"f_onHand_x_N", "f_onHand_y_N", "f_onHand_z_N", "contacts",
                           "slip_m_per_s", "equilibrium_residual_rad"})
    head.Word(word);
  for (const artefact::MotionObject& object : motion.objects) {
    for (const char* part : {"x_m", "y_m", "z_m", "qw", "qx", "qy", "qz"})
      head.Word(object.prop + "." + part);
  }
  std::string out = head.Take();
  for (size_t k = 0; k < frames; ++k) {
    const auto i = static_cast<Eigen::Index>(k);
    Line line;
    line.Number(motion.times[k].seconds());
    for (Eigen::Index r = 0; r < motion.q.rows(); ++r) line.Number(motion.q(r, i));
    for (const double f : force[k]) line.Number(f);
    line.Number(count[k]);
    line.Number(slip[i]);
    line.Number(motion.equilibrium_residual_rad.size() > i ? motion.equilibrium_residual_rad[i]
                                                           : 0.0);
    for (const artefact::MotionObject& object : motion.objects) {
      const geometry::RigidTransform& X = object.X_WP[k];
      const Eigen::Quaterniond q(X.R);
      for (const double value : {X.p.x(), X.p.y(), X.p.z(), q.w(), q.x(), q.y(), q.z()})
        line.Number(value);
    }
    out += line.Take();
  }
  return out;
}

Status ExportMotion(const artefact::Motion& motion, const std::string& path) {
  return text::WriteTextFile(path, MotionToCsv(motion));
}

}  // namespace handhold::pipeline
