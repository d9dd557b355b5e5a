#include "tools/pipeline/coordinate_names.h"

namespace handhold::pipeline {

bool IsPlace(const std::string& dof) {
  return dof.ends_with(".lin_x") || dof.ends_with(".lin_y") || dof.ends_with(".lin_z");
}

std::string DofColumn(const std::string& dof) { return dof + (IsPlace(dof) ? "_m" : "_rad"); }

std::vector<std::string> CoordinateColumns(const std::vector<std::string>& dofs, size_t nq) {
  const auto joint = [&](size_t d) { return dofs[d].substr(0, dofs[d].rfind('.')); };
  std::vector<std::string> names;
  for (size_t d = 0; d < dofs.size();) {
    size_t end = d;
    bool places = false;
    for (; end < dofs.size() && joint(end) == joint(d); ++end) places |= IsPlace(dofs[end]);
    if (places)
      for (const char* part : {".x_m", ".y_m", ".z_m"}) names.push_back(joint(d) + part);
    if (places || end - d == 3) {
      for (const char* part : {".qw", ".qx", ".qy", ".qz"}) names.push_back(joint(d) + part);
    } else {
      for (size_t k = d; k < end; ++k) names.push_back(DofColumn(dofs[k]));
    }
    d = end;
  }
  if (names.size() == nq) return names;
  names.clear();
  for (size_t i = 0; i < nq; ++i) names.push_back("q" + std::to_string(i));
  return names;
}

}  // namespace handhold::pipeline
