#include "database/artefact/reference_file.h"

#include <algorithm>
#include <cmath>
#include <system_error>

#include "database/artefact/describe.h"
#include "database/base/names.h"
#include "database/model/schemas.h"
#include "database/text/json.h"
#include "database/text/json_view.h"

namespace handhold::artefact {
namespace fs = std::filesystem;

namespace {

constexpr const char* kFormat = "handhold.reference";
constexpr int64_t kVersion = 1;

double Rounded(double v) { return std::round(v * 1e6) / 1e6; }

text::Json Row(const Eigen::VectorXd& values) {
  text::Json row = text::Json::Array();
  for (const double v : values) row.Push(text::Json(Rounded(v) + 0.0));
  return row;
}

/// Frames that must be written: the others lie between equal ones.
std::vector<Eigen::Index> FramesToKeep(const Eigen::MatrixXd& q) {
  std::vector<Eigen::Index> keep;
  const Eigen::Index frames = q.cols();
  const auto same = [&](Eigen::Index a, Eigen::Index b) {
    return (q.col(a) - q.col(b)).cwiseAbs().maxCoeff() < 5e-7;
  };
  for (Eigen::Index k = 0; k < frames; ++k) {
    const bool inside = k > 0 && k + 1 < frames && same(k - 1, k) && same(k, k + 1);
    if (!inside) keep.push_back(k);
  }
  return keep;
}

}  // namespace

Status SaveReferenceFile(const ReferenceFile& reference, const fs::path& path) {
  const InteractionTrajectory& t = reference.trajectory;
  text::Json json = text::Json::Object({{"format", kFormat},
                                        {"version", kVersion},
                                        {"name", reference.name},
                                        {"source", reference.source},
                                        {"hand", reference.hand},
                                        {"side", t.hand},
                                        {"prop", reference.prop},
                                        {"X_WProp", ToJson(reference.X_WProp)},
                                        {"hold_ns", ToJson(reference.hold)}});
  text::Json names = text::Json::Array(), times = text::Json::Array(), q = text::Json::Array();
  for (const std::string& dof : t.dof_names) names.Push(text::Json(dof));
  json.Set("dof_names", std::move(names));
  json.Set("compliance_rad_per_Nm", Row(t.compliance_rad_per_Nm.col(0)));
  json.Set("time_constant_s", text::Json(t.time_constant_s[0]));
  for (const Eigen::Index k : FramesToKeep(t.q_reference)) {
    times.Push(text::Json((t.times[static_cast<size_t>(k)] - Timestamp()).ns()));
    q.Push(Row(t.q_reference.col(k)));
  }
  json.Set("times_ns", std::move(times));
  json.Set("q_reference", std::move(q));
  return text::WriteJsonFile(path, json);
}

Result<ReferenceFile> LoadReferenceFile(const fs::path& path) {
  HANDHOLD_ASSIGN(const text::Json json, text::ReadJsonFile(path));
  const text::JsonView root(json, path.string());
  HANDHOLD_ASSIGN(const auto format, root.Get<std::string>("format"));
  HANDHOLD_ASSIGN(const auto version, root.Get<int64_t>("version"));
  if (format != kFormat) return root.Fail("is a '" + format + "', not a " + kFormat);
  if (version != kVersion) {
    return Error{ErrorCode::kVersion, path.string() + " is of version " + std::to_string(version) +
                                          "; this program reads version 1"};
  }
  ReferenceFile out;
  InteractionTrajectory& t = out.trajectory;
  HANDHOLD_ASSIGN(out.name, root.Get<std::string>("name"));
  HANDHOLD_ASSIGN(out.source, root.Get<std::string>("source"));
  HANDHOLD_ASSIGN(out.hand, root.Get<std::string>("hand"));
  HANDHOLD_ASSIGN(t.hand, root.Get<std::string>("side"));
  HANDHOLD_ASSIGN(out.prop, root.Get<std::string>("prop"));
  HANDHOLD_ASSIGN(const text::JsonView X, root.At("X_WProp"));
  HANDHOLD_TRY(describe::TakeJson(X, out.X_WProp));
  HANDHOLD_ASSIGN(const auto hold, root.Get<std::vector<int64_t>>("hold_ns"));
  if (hold.size() != 2 || hold[1] < hold[0]) return root.Fail("hold_ns is a begin and an end");
  out.hold = {Timestamp::FromNanoseconds(hold[0]), Timestamp::FromNanoseconds(hold[1])};
  HANDHOLD_ASSIGN(t.dof_names, root.Get<std::vector<std::string>>("dof_names"));
  HANDHOLD_ASSIGN(const auto C, root.Get<std::vector<double>>("compliance_rad_per_Nm"));
  HANDHOLD_ASSIGN(const auto T_s, root.Get<double>("time_constant_s"));
  HANDHOLD_ASSIGN(const auto times, root.Get<std::vector<int64_t>>("times_ns"));
  HANDHOLD_ASSIGN(const auto rows, root.GetItems("q_reference"));
  if (C.size() != t.dof_names.size() || rows.size() != times.size() || times.size() < 2 ||
      !(T_s >= 0.0))
    return root.Fail("names, compliances, times and frames do not fit together");
  for (size_t k = 0; k < times.size(); ++k) {
    if (k > 0 && times[k] <= times[k - 1]) return root.Fail("times_ns do not ascend");
    t.times.push_back(Timestamp::FromNanoseconds(times[k]));
    HANDHOLD_ASSIGN(const auto q, rows[k].As<std::vector<double>>());
    if (k == 0)
      t.q_reference.resize(static_cast<Eigen::Index>(q.size()),
                           static_cast<Eigen::Index>(times.size()));
    if (static_cast<Eigen::Index>(q.size()) != t.q_reference.rows())
      return rows[k].Fail("has another length than the first frame");
    t.q_reference.col(static_cast<Eigen::Index>(k)) =
        Eigen::Map<const Eigen::VectorXd>(q.data(), static_cast<Eigen::Index>(q.size()));
  }
  const auto frames = static_cast<Eigen::Index>(times.size());
  t.q = t.q_reference_dynamic = t.q_reference;
  t.compliance_rad_per_Nm =
      Eigen::Map<const Eigen::VectorXd>(C.data(), static_cast<Eigen::Index>(C.size()))
          .replicate(1, frames);
  t.time_constant_s = Eigen::VectorXd::Constant(frames, T_s);
  t.assumed.assign(t.dof_names.size(), 1);
  return out;
}

Result<std::vector<std::string>> ReferenceNames() { return model::LibraryNames("references"); }

Result<ReferenceFile> LoadLibraryReference(const std::string& name) {
  HANDHOLD_ASSIGN(const fs::path path, model::LibraryFile("references", "reference", name));
  return LoadReferenceFile(path);
}

}  // namespace handhold::artefact
