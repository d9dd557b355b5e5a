#include "tools/pipeline/export_table.h"

#include <cmath>
#include <optional>

#include "database/artefact/describe.h"
#include "database/artefact/kind.h"
#include "database/store/artefact_file.h"
#include "tools/pipeline/coordinate_names.h"
#include "tools/pipeline/csv_line.h"
#include "tools/pipeline/export_motion.h"

namespace handhold::pipeline {
namespace {

using artefact::ContactRow;
using artefact::Side;
using artefact::Touch;

void CoordinateNames(const std::vector<std::string>& dof_names, Eigen::Index nq,
                     const std::string& before, CsvLine* head) {
  for (const std::string& name : CoordinateColumns(dof_names, static_cast<size_t>(nq)))
    head->Word(before + name);
}

std::string Table(const artefact::PoseTrack& t) {
  CsvLine head;
  head.Word("time_s");
  CoordinateNames(t.dof_names, t.q.rows(), "", &head);
  for (const std::string& dof : t.dof_names) head.Word(dof + (IsPlace(dof) ? "_sd_m" : "_sd_rad"));
  std::string out = head.Take();
  for (Eigen::Index k = 0; k < t.q.cols(); ++k) {
    CsvLine line;
    line.Number(t.times[static_cast<size_t>(k)].seconds());
    line.Numbers(t.q.col(k));
    for (Eigen::Index d = 0; d < t.information_diagonal.rows(); ++d) {
      const double information = t.information_diagonal(d, k);
      line.Number(information > 0 ? 1.0 / std::sqrt(information) : ContactRow::kUnknown);
    }
    out += line.Take();
  }
  return out;
}

std::string Table(const artefact::ObjectTrack& t) {
  CsvLine head;
  for (const char* word : {"time_s", "x_m", "y_m", "z_m", "qw", "qx", "qy", "qz", "residual_m"})
    head.Word(word);
  std::string out = head.Take();
  for (size_t k = 0; k < t.times.size(); ++k) {
    CsvLine line;
    line.Number(t.times[k].seconds());
    line.Numbers(t.X_WT[k].p);
    const Eigen::Quaterniond q(t.X_WT[k].R);
    line.Numbers(Eigen::Vector4d(q.w(), q.x(), q.y(), q.z()));
    const auto i = static_cast<Eigen::Index>(k);
    line.Number(i < t.residual_m.size() ? t.residual_m[i] : ContactRow::kUnknown);
    out += line.Take();
  }
  return out;
}

std::string Table(const artefact::InteractionTrajectory& t) {
  CsvLine head;
  head.Word("time_s");
  CoordinateNames(t.dof_names, t.q.rows(), "", &head);
  CoordinateNames(t.dof_names, t.q_reference.rows(), "reference.", &head);
  CoordinateNames(t.dof_names, t.q_reference_dynamic.rows(), "reference_dynamic.", &head);
  for (const std::string& dof : t.dof_names)
    head.Word(dof + (IsPlace(dof) ? "_compliance_m_per_N" : "_compliance_rad_per_Nm"));
  head.Word("time_constant_s");
  std::string out = head.Take();
  for (Eigen::Index k = 0; k < t.q.cols(); ++k) {
    CsvLine line;
    line.Number(t.times[static_cast<size_t>(k)].seconds());
    for (const Eigen::MatrixXd* q : {&t.q, &t.q_reference, &t.q_reference_dynamic})
      if (q->cols() > k) line.Numbers(q->col(k));
    line.Numbers(t.compliance_rad_per_Nm.col(k));
    line.Number(t.time_constant_s.size() > k ? t.time_constant_s[k] : 0.0);
    out += line.Take();
  }
  return out;
}

/// Contact rows, with the joint torques of their frames where there are some.
std::string RowsTable(const std::vector<Timestamp>& times, const std::vector<Touch>& touches,
                      const std::vector<ContactRow>& rows,
                      const std::vector<std::string>& dof_names, const Eigen::MatrixXd& tau_Nm) {
  CsvLine head;
  for (const char* word :
       {"time_s",     "touch",      "a",         "a_site",      "b",         "b_site",
        "sensor",     "task",       "f_onA_x_N", "f_onA_y_N",   "f_onA_z_N", "m_onA_x_Nm",
        "m_onA_y_Nm", "m_onA_z_Nm", "p_x_m",     "p_y_m",       "p_z_m",     "normal_x",
        "normal_y",   "normal_z",   "offset_m",  "slip_m_per_s"})
    head.Word(word);
  if (tau_Nm.cols() > 0) {
    for (const std::string& dof : dof_names)
      head.Word(dof + (IsPlace(dof) ? "_force_N" : "_tau_Nm"));
  }
  std::string out = head.Take();
  for (const ContactRow& row : rows) {
    const Touch& touch = touches[static_cast<size_t>(row.touch)];
    CsvLine line;
    line.Number(times[static_cast<size_t>(row.frame)].seconds());
    line.Number(row.touch);
    for (const Side* side : {&touch.a, &touch.b}) line.Word(side->name), line.Word(side->site);
    line.Word(touch.sensor);
    line.Word(touch.task);
    line.Numbers(row.f_onA_W);
    line.Numbers(row.m_onA_W);
    line.Numbers(row.p_W);
    line.Numbers(row.normal_W);
    line.Number(row.offset_m);
    line.Number(row.slip_m_per_s);
    if (tau_Nm.cols() > 0) line.Numbers(tau_Nm.col(row.frame));
    out += line.Take();
  }
  return out;
}

void Flatten(const std::string& path, const text::Json& json, std::string* out) {
  const auto child = [&](const std::string& key) { return path.empty() ? key : path + "." + key; };
  if (json.is_object()) {
    for (const text::JsonMember& member : json.members())
      Flatten(child(member.key), member.value, out);
  } else if (json.is_array()) {
    for (size_t i = 0; i < json.elements().size(); ++i)
      Flatten(child(std::to_string(i)), json.elements()[i], out);
  } else {
    CsvLine line;
    line.Word(path);
    if (json.string() != nullptr) {
      line.Word(*json.string());
    } else if (json.boolean()) {
      line.Word(*json.boolean() ? "true" : "false");
    } else {
      line.Number(json.number() ? *json.number() : ContactRow::kUnknown);
    }
    *out += line.Take();
  }
}

std::string MembersTable(const text::Json& json) {
  std::string out = "member,value\n";
  Flatten("", json, &out);
  return out;
}

template <typename T>
std::string TableOf(const T& value, bool contacts) {
  if constexpr (std::is_same_v<T, artefact::ContactTrack>) {
    return RowsTable(value.times, value.touches, value.rows, value.dof_names, value.tau_Nm);
  } else if constexpr (std::is_same_v<T, artefact::Motion>) {
    return contacts ? RowsTable(value.times, value.touches, value.rows, {}, {})
                    : MotionToCsv(value);
  } else if constexpr (requires { Table(value); }) {
    return Table(value);
  } else {
    return MembersTable(artefact::ToJson(value));
  }
}

}  // namespace

Result<std::string> ArtefactToCsv(const store::Library& library, const store::ArtefactInfo& info,
                                  bool contacts) {
  const std::string path = library.ArtefactPath(info.hash);
  if (contacts && info.kind != artefact::KindOf<artefact::ContactTrack>::name &&
      info.kind != artefact::KindOf<artefact::Motion>::name) {
    return Error{ErrorCode::kInvalid, info.kind + " " + info.hash.substr(0, 8) +
                                          " has no contact rows; contact tracks and motions have"};
  }
  std::optional<Result<std::string>> table;
  artefact::ForEachKind([&]<typename T>(const T&) {
    if (info.kind != artefact::KindOf<T>::name) return;
    const Result<T> value = store::Load<T>(path);
    table = value ? Result<std::string>(TableOf(*value, contacts)) : value.error();
  });
  if (table) return *table;
  if (info.kind == artefact::kStreamsKind) {
    return Error{ErrorCode::kUnsupported,
                 "derived streams are a recording: export the clip that they were made from"};
  }
  HANDHOLD_ASSIGN(const store::JsonArtefact file, store::LoadJsonArtefact(path));
  HANDHOLD_ASSIGN(const text::Json json, text::ParseJson(file.json, {.source = path}));
  return MembersTable(json);
}

}  // namespace handhold::pipeline
