#include "database/store/artefact_file.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <thread>

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
constexpr int kWaits = 200;  // of 50 ms, for another program's result
constexpr char kRenameIt[] = ".art: rename it";

/// What of a loaded artefact the types alone do not promise.
template <typename T>
Status CheckLoaded(const T&) {
  return {};
}
Status CheckLoaded(const artefact::Motion& motion) { return CheckMotion(motion); }
/// Whether each matrix is empty or has a column per frame.
Status CheckFrames(
    size_t frames,
    std::initializer_list<std::pair<const char*, std::pair<Eigen::Index, Eigen::Index>>> matrices) {
  for (const auto& [name, size] : matrices) {
    const auto [rows, cols] = size;
    if (rows == 0 || cols == 0 || cols == static_cast<Eigen::Index>(frames)) continue;
    return Error{ErrorCode::kCorrupt, std::string("its ") + name + " have " + std::to_string(cols) +
                                          " frames, its times " + std::to_string(frames)};
  }
  return {};
}
template <typename M>
std::pair<Eigen::Index, Eigen::Index> SizeOf(const M& matrix) {
  return {matrix.rows(), matrix.cols()};
}

Status CheckLoaded(const artefact::PoseTrack& t) {
  return CheckFrames(t.times.size(), {{"coordinates", SizeOf(t.q)},
                                      {"informations", SizeOf(t.information_diagonal)},
                                      {"residuals", SizeOf(t.marker_residual_m)},
                                      {"limits", SizeOf(t.at_limit)}});
}
Status CheckLoaded(const artefact::ObjectTrack& t) {
  return CheckFrames(t.times.size(), {{"poses", {1, static_cast<Eigen::Index>(t.X_WT.size())}},
                                      {"residuals", {1, t.residual_m.size()}},
                                      {"covariances", SizeOf(t.covariance)}});
}
Status CheckLoaded(const artefact::ContactTrack& t) {
  HANDHOLD_TRY(CheckFrames(t.times.size(), {{"torques", SizeOf(t.tau_Nm)}}));
  return CheckRows(t.touches, t.rows, t.times.size());
}
Status CheckLoaded(const artefact::InteractionTrajectory& t) {
  return CheckFrames(t.times.size(), {{"coordinates", SizeOf(t.q)},
                                      {"references", SizeOf(t.q_reference)},
                                      {"dynamic references", SizeOf(t.q_reference_dynamic)},
                                      {"compliances", SizeOf(t.compliance_rad_per_Nm)},
                                      {"time constants", {1, t.time_constant_s.size()}}});
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
  // Two programs may make the same result at once. Whoever is second takes the first one's, which
  // appears whole; while the first still writes, the second waits.
  for (int tries = 1;; ++tries) {
    const Status written =
        WriteClip(streams != nullptr ? *streams : nothing, path, options, documents);
    if (written) return hash;
    if (std::error_code error; std::filesystem::exists(path, error)) return hash;
    if (written.error().code != ErrorCode::kBusy || tries >= kWaits) return written.error();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
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
  if (!error) {
    if (const Status whole = CheckLoaded(value); !whole) error = whole.error();
  }
  if (error) return error->Within(path);
  value.provenance = file.provenance;
  return value;
}

/// The step that usually makes a kind, for the message of an error; empty: several do.
std::string MakerOf(const std::string& kind) {
  static const std::map<std::string, std::string> kSteps = {
      {artefact::KindOf<artefact::PoseTrack>::name, "fit.pose"},
      {artefact::KindOf<artefact::ContactTrack>::name, "fit.contact"},
      {artefact::KindOf<artefact::InteractionTrajectory>::name, "fit.compliance"}};
  const auto step = kSteps.find(kind);
  return step == kSteps.end() ? "" : step->second;
}

}  // namespace

Result<std::string> ArtefactHash(const Provenance& provenance) {
  if (provenance.step.empty())
    return Error{ErrorCode::kInvalid, "an artefact needs the step that made it"};
  HANDHOLD_ASSIGN(const Json json, ProvenanceJson(provenance, true));
  HANDHOLD_ASSIGN(const std::string canonical, text::CanonicalJson(json));
  return Sha256Of(canonical).ToHex();
}

template <ArtefactStruct T>
Result<std::string> SaveArtefact(const std::string& folder, const T& value) {
  std::map<std::string, Bytes> documents;
  Saver saver(&documents);
  artefact::CheckDescribed<T>();
  Visit(saver, const_cast<T&>(value));  // a saving visit does not write
  return WriteFile(folder, artefact::KindOf<T>::name, value.provenance, saver.Take(),
                   std::move(documents), nullptr);
}
Result<std::string> SaveArtefact(const std::string& folder, const JsonArtefact& value) {
  return WriteFile(folder, value.kind, value.provenance, Json::Object(),
                   {{"content.json", Bytes(value.json.begin(), value.json.end())}}, nullptr);
}
Result<std::string> SaveArtefact(const std::string& folder, const Provenance& provenance,
                                 const recording::ClipSource& streams) {
  return WriteFile(folder, artefact::kStreamsKind, provenance, Json::Object(), {}, &streams);
}

template <ArtefactStruct T>
Result<T> Load(const std::string& path) {
  Result<T> value = Read<T>(path, artefact::KindOf<T>::name);
  if (!value) return WithRemedy(value.error(), path, MakerOf(artefact::KindOf<T>::name));
  return value;
}

#define HANDHOLD_ARTEFACT(T)                                                                      \
  template Result<std::string> SaveArtefact<artefact::T>(const std::string&, const artefact::T&); \
  template Result<artefact::T> Load<artefact::T>(const std::string&);
HANDHOLD_ARTEFACT(PoseTrack)
HANDHOLD_ARTEFACT(ObjectTrack)
HANDHOLD_ARTEFACT(ContactTrack)
HANDHOLD_ARTEFACT(InteractionTrajectory)
HANDHOLD_ARTEFACT(SetpointSet)
HANDHOLD_ARTEFACT(GraspSpace)
HANDHOLD_ARTEFACT(Grasp)
HANDHOLD_ARTEFACT(Motion)
HANDHOLD_ARTEFACT(MotionSet)
#undef HANDHOLD_ARTEFACT

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
