#include "database/store/artefact_file.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "database/base/digest.h"
#include "database/base/shell.h"
#include "database/store/artefact_archive.h"
#include "database/store/clip_writer.h"

namespace handhold::store {
namespace {

using artefact::Provenance;
using text::Json;
using text::JsonView;

constexpr char kIndexDocument[] = "artefact.json";
constexpr char kRenameIt[] = ".art: rename it";

// ---- what each artefact consists of

template <typename A>
void Visit(A& a, artefact::PoseTrack& t) {
  a.Field("summary_json", t.summary_json);
  a.Field("skeleton_hash", t.skeleton_hash);
  a.Field("dof_names", t.dof_names);
  a.Field("times", t.times);
  a.Field("q", t.q);
  a.Field("information_diagonal", t.information_diagonal);
  a.Field("marker_names", t.marker_names);
  a.Field("marker_residual_m", t.marker_residual_m);
  a.Field("at_limit", t.at_limit);
  // The whole matrices, one per column.
  std::vector<int> frames;
  Eigen::MatrixXd stack;
  if constexpr (!A::kLoading) {
    for (const auto& [frame, matrix] : t.information) frames.push_back(frame);
    stack.resize(t.information.empty() ? 0 : t.information.begin()->second.size(),
                 static_cast<Eigen::Index>(frames.size()));
    Eigen::Index at = 0;
    for (const auto& [frame, matrix] : t.information) stack.col(at++) = matrix.reshaped();
  }
  a.Field("information_frames", frames);
  a.Field("information", stack);
  if constexpr (A::kLoading) {
    t.information.clear();
    const auto side =
        static_cast<Eigen::Index>(std::llround(std::sqrt(static_cast<double>(stack.rows()))));
    for (Eigen::Index k = 0;
         k < stack.cols() && side * side == stack.rows() && static_cast<size_t>(k) < frames.size();
         ++k) {
      t.information[frames[static_cast<size_t>(k)]] = stack.col(k).reshaped(side, side);
    }
  }
}

template <typename A>
void Visit(A& a, artefact::ContactTrack& t) {
  a.Field("summary_json", t.summary_json);
  a.Field("times", t.times);
  a.Field("f_onHand_W", t.f_onHand_W);
  a.Field("p_WC", t.p_WC);
  a.Field("normal_W", t.normal_W);
  a.Field("point_offset_m", t.point_offset_m);
  a.Field("tau_Nm", t.tau_Nm);
  a.Field("phase", t.phase);
  a.List("phases", t.phases, [](auto& b, artefact::ContactPhase& p) {
    b.Field("body", p.body);
    b.Field("surface", p.surface);
    b.Field("onset_ns", p.onset);
    b.Field("onset_sd_ns", p.onset_sd);
    b.Field("release_ns", p.release);
    b.Field("release_sd_ns", p.release_sd);
    b.Field("peak_force_N", p.peak_force_N);
    b.Field("task", p.task);
  });
  a.Field("inertia_share", t.inertia_share);
}

template <typename A>
void Visit(A& a, artefact::ComplianceFit& f) {
  a.Field("estimator", f.estimator);
  a.Field("task", f.task);
  a.List("joints", f.joints, [](auto& b, artefact::JointCompliance& j) {
    b.Field("dof", j.dof);
    b.Field("compliance_rad_per_Nm", j.compliance_rad_per_Nm);
    b.Field("sd_log", j.sd_log);
    b.Field("lower_rad_per_Nm", j.lower_rad_per_Nm);
    b.Field("upper_rad_per_Nm", j.upper_rad_per_Nm);
    b.Field("refusal", j.refusal);
  });
  a.Field("covariance_log", f.covariance_log);
  a.Field("time_constant_s", f.time_constant_s);
  a.Field("inertia_scale", f.inertia_scale);
  a.Field("time_shift_s", f.time_shift_s);
  a.Field("time_shift_sd_s", f.time_shift_sd_s);
  a.Field("chi2_per_dof", f.chi2_per_dof);
  a.Field("events_used", f.events_used);
  a.List("discarded", f.discarded, [](auto& b, artefact::ComplianceFit::Discarded& d) {
    b.Field("phase", d.phase);
    b.Field("dof", d.dof);
    b.Field("value_rad_per_Nm", d.value_rad_per_Nm);
    b.Field("reason", d.reason);
  });
  a.List("events", f.events, [](auto& b, artefact::ComplianceFit::Event& e) {
    b.Field("phase", e.phase);
    b.Field("compliance_rad_per_Nm", e.compliance_rad_per_Nm);
    b.Field("chi2_per_dof", e.chi2_per_dof);
  });
}

template <typename A>
void Visit(A& a, artefact::InteractionTrajectory& t) {
  a.Field("summary_json", t.summary_json);
  a.Field("skeleton_hash", t.skeleton_hash);
  a.Field("dof_names", t.dof_names);
  a.Field("times", t.times);
  a.Field("q", t.q);
  a.Field("q_reference", t.q_reference);
  a.Field("q_reference_dynamic", t.q_reference_dynamic);
  a.Field("compliance_rad_per_Nm", t.compliance_rad_per_Nm);
  a.Field("time_constant_s", t.time_constant_s);
  a.Field("assumed", t.assumed);
  a.List("fits", t.fits, [](auto& b, artefact::ComplianceFit& fit) { Visit(b, fit); });
  a.Field("extrapolation_rms_rad", t.extrapolation_rms_rad);
}

template <typename A>
void Visit(A& a, artefact::Motion& m) {
  a.Field("summary_json", m.summary_json);
  a.Field("skeleton_hash", m.skeleton_hash);
  a.Field("surface", m.surface);
  a.Field("dof_names", m.dof_names);
  a.Field("assumed_dofs", m.assumed_dofs);
  a.Field("times", m.times);
  a.Field("q", m.q);
  a.List("objects", m.objects, [](auto& b, artefact::MotionObject& object) {
    b.Field("prop", object.prop);
    Eigen::MatrixXd poses;  // R by columns, then p; a column per frame
    if constexpr (!std::remove_reference_t<decltype(b)>::kLoading) {
      poses.resize(12, static_cast<Eigen::Index>(object.X_WP.size()));
      for (size_t i = 0; i < object.X_WP.size(); ++i) {
        poses.col(static_cast<Eigen::Index>(i)) << object.X_WP[i].R.reshaped(), object.X_WP[i].p;
      }
    }
    b.Field("X_WP", poses);
    if constexpr (std::remove_reference_t<decltype(b)>::kLoading) {
      object.X_WP.clear();
      for (Eigen::Index i = 0; i < poses.cols() && poses.rows() == 12; ++i) {
        object.X_WP.push_back(
            {poses.col(i).template head<9>().reshaped(3, 3), poses.col(i).template tail<3>()});
      }
    }
  });
  Eigen::MatrixXd contacts;  // a column per contact
  if constexpr (!A::kLoading) {
    contacts.resize(13, static_cast<Eigen::Index>(m.contacts.size()));
    for (size_t i = 0; i < m.contacts.size(); ++i) {
      const artefact::MotionContact& c = m.contacts[i];
      contacts.col(static_cast<Eigen::Index>(i)) << c.frame, c.body, c.object, c.p_W, c.normal_W,
          c.f_onHand_W, c.slip_m_per_s;
    }
  }
  a.Field("contacts", contacts);
  if constexpr (A::kLoading) {
    m.contacts.clear();
    for (Eigen::Index i = 0; i < contacts.cols() && contacts.rows() == 13; ++i) {
      const auto c = contacts.col(i);
      m.contacts.push_back({static_cast<int>(c[0]), static_cast<int>(c[1]), static_cast<int>(c[2]),
                            c.template segment<3>(3), c.template segment<3>(6),
                            c.template segment<3>(9), c[12]});
    }
  }
  a.Field("equilibrium_residual_rad", m.equilibrium_residual_rad);
  a.Field("lcp_residual", m.lcp_residual);
  a.Field("lcp_failures", m.lcp_failures);
}

// ---- the file around it

Result<Json> ProvenanceJson(const Provenance& p, bool hashed_only) {
  HANDHOLD_ASSIGN(Json parameters,
                  text::ParseJson(p.parameters_json.empty() ? "{}" : p.parameters_json,
                                  {.source = "parameters of " + p.step}));
  Json inputs = Json::Array();
  for (const artefact::ProvenanceInput& input : p.inputs) {
    Json item = Json::Object({{"role", input.role}, {"hash", input.hash}});
    if (!hashed_only) item.Set("name", input.name);
    inputs.Push(std::move(item));
  }
  Json json = Json::Object({{"step", p.step},
                            {"version", p.version},
                            {"inputs", std::move(inputs)},
                            {"parameters", std::move(parameters)}});
  if (hashed_only) return json;
  json.Set("parameters_json", p.parameters_json);
  json.Set("made_utc_ns", p.made_utc.ns());
  json.Set("tool", p.tool);
  return json;
}

Result<Provenance> ProvenanceFrom(const JsonView& view) {
  Provenance p;
  HANDHOLD_ASSIGN(p.step, view.Get<std::string>("step"));
  HANDHOLD_ASSIGN(p.version, view.Get<int>("version"));
  HANDHOLD_ASSIGN(const std::vector<JsonView> inputs, view.GetItems("inputs"));
  for (const JsonView& input : inputs) {
    artefact::ProvenanceInput& in = p.inputs.emplace_back();
    HANDHOLD_ASSIGN(in.role, input.Get<std::string>("role"));
    HANDHOLD_ASSIGN(in.hash, input.Get<std::string>("hash"));
    HANDHOLD_ASSIGN(in.name, input.Get<std::string>("name"));
  }
  HANDHOLD_ASSIGN(p.parameters_json, view.Get<std::string>("parameters_json"));
  HANDHOLD_ASSIGN(const int64_t made, view.Get<int64_t>("made_utc_ns"));
  p.made_utc = Timestamp::FromNanoseconds(made);
  HANDHOLD_ASSIGN(p.tool, view.Get<std::string>("tool"));
  return p;
}

/// Writes `documents` and `streams` (may be null) under the artefact's name.
Result<std::string> WriteFile(const std::string& folder, const std::string& kind,
                              const Provenance& provenance, Json content,
                              std::map<std::string, Bytes> documents,
                              const recording::ClipSource* streams) {
  HANDHOLD_ASSIGN(const std::string hash, ArtefactHash(provenance));
  const std::string path = folder + "/" + hash + ".art";
  if (std::error_code error; std::filesystem::exists(path, error)) return hash;
  HANDHOLD_ASSIGN(Json provenance_json, ProvenanceJson(provenance, false));
  const Json index = Json::Object({{"kind", kind},
                                   {"provenance", std::move(provenance_json)},
                                   {"content", std::move(content)}});
  HANDHOLD_ASSIGN(const std::string text, text::WriteJson(index));
  documents[kIndexDocument] = Bytes(text.begin(), text.end());
  ClipWriterOptions options;
  options.already_complete = options.is_artefact = true;
  recording::ClipInfo info;
  info.name = hash;
  const recording::Clip nothing(info);
  Status written = WriteClip(streams != nullptr ? *streams : nothing, path, options, documents);
  if (!written && written.error().code == ErrorCode::kBusy && std::filesystem::exists(path))
    return hash;  // somebody else was first
  if (!written) return written.error();
  return hash;
}

template <typename T>
Result<std::string> Save(const std::string& folder, const char* kind, const T& value) {
  std::map<std::string, Bytes> documents;
  Saver saver(&documents);
  Visit(saver, const_cast<T&>(value));  // a saving visit does not write
  return WriteFile(folder, kind, value.provenance, saver.Take(), std::move(documents), nullptr);
}

struct OpenFile {
  std::unique_ptr<ClipReader> reader;
  std::string kind;
  Provenance provenance;
  std::string hash;
  Json index;
};

Result<OpenFile> Open(const std::string& path) {
  OpenFile file;
  Result<std::unique_ptr<ClipReader>> reader = ClipReader::Open(path);
  // Rubbish under the name of a result is a damaged one.
  if (!reader && reader.error().code == ErrorCode::kInvalid)
    return Error{ErrorCode::kCorrupt, reader.error().message};
  if (!reader) return reader.error();
  file.reader = *std::move(reader);
  if (!file.reader->is_artefact())
    return Error{ErrorCode::kInvalid, path + ": is a recording, not a derived result"};
  HANDHOLD_ASSIGN(const Bytes text, file.reader->Document(kIndexDocument));
  HANDHOLD_ASSIGN(
      file.index,
      text::ParseJson(std::string_view(reinterpret_cast<const char*>(text.data()), text.size()),
                      {.source = path}));
  const JsonView view(file.index, path);
  HANDHOLD_ASSIGN(file.kind, view.Get<std::string>("kind"));
  HANDHOLD_ASSIGN(const JsonView provenance, view.At("provenance"));
  HANDHOLD_ASSIGN(file.provenance, ProvenanceFrom(provenance));
  HANDHOLD_ASSIGN(file.hash, ArtefactHash(file.provenance));
  if (file.hash != std::filesystem::path(path).stem().string()) {
    return Error{
        ErrorCode::kCorrupt,
        path + ": is not named by what it was made from; its name is " + file.hash + kRenameIt};
  }
  return file;
}

std::string RidOf(const std::string& path) {
  return "`rm " + ShellWord(path) + "` removes it, and 'handhold library rebuild' forgets it";
}

/// `error`, of reading the result at `path`, with what helps where the file itself is to blame.
Error WithRemedy(Error error, const std::string& path, const std::string& step,
                 const std::string& clip = "") {
  std::error_code none;
  const std::string again = "; " + MadeAgainBy(step, clip) + " makes it again";
  if (error.code == ErrorCode::kNotFound && !std::filesystem::exists(path, none)) {
    error.message += again;
  } else if (error.code == ErrorCode::kCorrupt && !error.message.ends_with(kRenameIt)) {
    error.message += "; " + RidOf(path) + again;
  }
  return error;
}

template <typename T>
Result<T> Read(const std::string& path, const std::string& kind) {
  HANDHOLD_ASSIGN(const OpenFile file, Open(path));
  if (file.kind != kind)
    return Error{ErrorCode::kInvalid, path + ": holds a " + file.kind + ", not a " + kind};
  T value;
  std::optional<Error> error;
  HANDHOLD_ASSIGN(const JsonView content, JsonView(file.index, path).At("content"));
  Loader loader(file.reader.get(), content, "", &error);
  Visit(loader, value);
  if (error) return error->Within(path);
  value.provenance = file.provenance;
  return value;
}

template <typename T>
Result<T> Load(const std::string& path, const std::string& kind, const std::string& step) {
  Result<T> value = Read<T>(path, kind);
  if (!value) return WithRemedy(value.error(), path, step);
  return value;
}

}  // namespace

Result<std::string> ArtefactHash(const Provenance& provenance) {
  if (provenance.step.empty())
    return Error{ErrorCode::kInvalid, "an artefact needs the step that made it"};
  HANDHOLD_ASSIGN(const Json json, ProvenanceJson(provenance, true));
  HANDHOLD_ASSIGN(const std::string canonical, text::CanonicalJson(json));
  return Sha256Of(canonical).ToHex();
}

Result<std::string> SaveArtefact(const std::string& folder, const artefact::PoseTrack& value) {
  return Save(folder, "pose_track", value);
}
Result<std::string> SaveArtefact(const std::string& folder, const artefact::ContactTrack& value) {
  return Save(folder, "contact_track", value);
}
Result<std::string> SaveArtefact(const std::string& folder,
                                 const artefact::InteractionTrajectory& value) {
  return Save(folder, "interaction_trajectory", value);
}
Result<std::string> SaveArtefact(const std::string& folder, const artefact::Motion& value) {
  return Save(folder, "motion", value);
}
Result<std::string> SaveArtefact(const std::string& folder, const JsonArtefact& value) {
  return WriteFile(folder, value.kind, value.provenance, Json::Object(),
                   {{"content.json", Bytes(value.json.begin(), value.json.end())}}, nullptr);
}
Result<std::string> SaveArtefact(const std::string& folder, const Provenance& provenance,
                                 const recording::ClipSource& streams) {
  return WriteFile(folder, "streams", provenance, Json::Object(), {}, &streams);
}

Result<artefact::PoseTrack> LoadPoseTrack(const std::string& path) {
  return Load<artefact::PoseTrack>(path, "pose_track", "fit.pose");
}
Result<artefact::ContactTrack> LoadContactTrack(const std::string& path) {
  return Load<artefact::ContactTrack>(path, "contact_track", "fit.contact");
}
Result<artefact::InteractionTrajectory> LoadInteractionTrajectory(const std::string& path) {
  return Load<artefact::InteractionTrajectory>(path, "interaction_trajectory", "fit.compliance");
}
Result<artefact::Motion> LoadMotion(const std::string& path) {
  return Load<artefact::Motion>(path, "motion", "synth.interaction");
}

Result<JsonArtefact> LoadJsonArtefact(const std::string& path) {
  Result<OpenFile> file = Open(path);
  if (!file) return WithRemedy(file.error(), path, "");
  const Result<Bytes> json = file->reader->Document("content.json");
  if (!json) return WithRemedy(json.error(), path, file->provenance.step);
  return JsonArtefact{file->provenance, file->kind, std::string(json->begin(), json->end())};
}

Result<ArtefactInfo> ReadArtefactInfo(const std::string& path, const Provenance& expected) {
  Result<OpenFile> file = Open(path);
  if (file)
    return ArtefactInfo{std::move(file->hash), std::move(file->kind), std::move(file->provenance)};
  const auto clip = std::ranges::find(expected.inputs, "clip", &artefact::ProvenanceInput::role);
  return WithRemedy(file.error(), path, expected.step,
                    clip != expected.inputs.end() ? clip->name : "");
}

std::string MadeAgainBy(const std::string& step, const std::string& clip) {
  static const std::map<std::string, std::string> kVerbs = {
      {"fit.skeleton", "fit skeleton"},    {"fit.pose", "fit pose"},
      {"fit.contact", "fit contact"},      {"fit.compliance", "fit compliance"},
      {"fit.assume", "synth interaction"}, {"synth.interaction", "synth interaction"}};
  const auto verb = kVerbs.find(step);
  if (verb == kVerbs.end()) return "the 'handhold fit' or 'handhold synth' that made it";
  return "`handhold " + verb->second + " " + (clip.empty() ? "CLIP" : ShellWord(clip)) + "`";
}

}  // namespace handhold::store
