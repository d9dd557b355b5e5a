#include "tools/live/session.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>

#include "capture/session/make_sources.h"
#include "capture/wire/socket.h"
#include "database/base/check.h"
#include "database/base/names.h"
#include "database/base/shell.h"
#include "database/base/utf8.h"
#include "database/model/prop.h"
#include "database/store/clip_reader.h"
#include "tools/lab/session_begin.h"

namespace handhold::live {
namespace {

using capture::HealthSnapshot;

constexpr Duration kTick = Duration::Milliseconds(50);
constexpr Duration kWatchPeriod = Duration::Milliseconds(200);
/// What is still on its way when a rehearsal's session is over.
constexpr Duration kAfterSession = Duration::Milliseconds(200);

Result<std::shared_ptr<const recording::ClipSource>> OpenClip(const std::string& path) {
  HANDHOLD_ASSIGN(auto reader, store::ClipReader::Open(path));
  return std::shared_ptr<const recording::ClipSource>(std::move(reader));
}

/// The laboratory that plays the devices also knows where its plate stands.
void PlaceSensors(const lab::SensorFeed& feed, capture::Rig* rig) {
  for (recording::Thing& thing : rig->things)
    if (thing.pose == recording::Thing::Pose::kFixed) thing.X_WT = feed.data().X_WPlate;
  for (capture::RigSource& source : rig->sources) {
    if (source.kind != capture::RigSource::Kind::kNetFt) continue;
    const recording::ForceSensor& s = feed.data().sensor;
    source.sensors = {{source.name, {}, s.X_MS, s.normal_S, s.sign, s.full_scale_N}};
  }
}

/// What is wrong with the model that a prop is said to be: no prop that ships, and no file here or
/// beside the rig's. Empty: nothing. Fits would find out after the session.
std::string UnknownModel(const recording::Thing& thing, const std::string& rig_path) {
  if (thing.kind != recording::Thing::Kind::kProp || thing.model.empty()) return "";
  const auto known = model::PropNames();
  if (!known || std::ranges::count(*known, thing.model) > 0) return "";
  std::error_code ignored;
  const auto beside = std::filesystem::path(rig_path).parent_path() / thing.model;
  if (std::filesystem::is_regular_file(thing.model, ignored) ||
      std::filesystem::is_regular_file(beside, ignored))
    return "";
  return "its model '" + thing.model + "' is no prop that ships and no file" +
         DidYouMean(thing.model, *known);
}

std::string OrElse(const std::string& given, const std::string& fallback) {
  return given.empty() ? fallback : given;
}

}  // namespace

Status CheckName(std::string_view what, std::string_view name) {
  constexpr size_t kMostBytes = 100;
  const auto wrong = [&](const char* why) {
    return Error{ErrorCode::kInvalid, std::string(what) + ": " + why};
  };
  if (name.size() > kMostBytes) return wrong("longer than 100 bytes");
  if (!IsUtf8(name)) return wrong("not UTF-8");
  for (const char c : name)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      return wrong("holds a control character");
  return {};
}

Status CheckNotes(const TakeNotes& notes) {
  HANDHOLD_TRY(CheckName("--subject", notes.subject));
  HANDHOLD_TRY(CheckName("--session", notes.session));
  HANDHOLD_TRY(CheckName("--task", notes.task));
  HANDHOLD_TRY(CheckName("--prop", notes.prop));
  for (const std::string& tag : notes.tags) {
    HANDHOLD_TRY(CheckName("--tag", tag));
    if (tag.empty()) return Error{ErrorCode::kInvalid, "--tag: a tag is not empty"};
  }
  if (!notes.rating.empty() &&
      (notes.rating.size() != 1 || notes.rating[0] < '1' || notes.rating[0] > '5'))
    return Error{ErrorCode::kInvalid, "--rating: 1, 2, 3, 4 or 5"};
  if (!IsUtf8(notes.note)) return Error{ErrorCode::kInvalid, "--note: not UTF-8"};
  HANDHOLD_TRY(CheckName("--author", notes.author));
  const bool says = !notes.tags.empty() || !notes.rating.empty() || !notes.note.empty();
  if (says && notes.author.empty())
    return Error{ErrorCode::kInvalid, "--author: who says note, tag and rating?"};
  return {};
}

Session::~Session() {
  if (noting_.valid()) noting_.wait();
  recorder_.reset();  // a take that still runs is stored, by way of what stands here
}

Result<std::unique_ptr<Session>> Session::Open(const capture::Rig& rig, SessionOptions options) {
  std::unique_ptr<Session> session(new Session);
  session->rig_ = options.rehearsal != nullptr ? options.rehearsal->rig() : rig;
  session->options_ = std::move(options);
  if (session->options_.feed != nullptr) PlaceSensors(*session->options_.feed, &session->rig_);
  HANDHOLD_TRY(session->OpenLibrary());
  HANDHOLD_TRY(session->MakeRecorder());
  return session;
}

Status Session::OpenLibrary() {
  if (options_.library.empty()) return {};
  std::error_code ignored;
  const std::filesystem::path path = options_.library;
  const bool nothing_there =
      !std::filesystem::exists(path, ignored) ||
      (std::filesystem::is_directory(path, ignored) && std::filesystem::is_empty(path, ignored));
  // Made when there is something to put into it: a check that fails leaves nothing behind.
  if (nothing_there) return {};
  HANDHOLD_ASSIGN(library_, store::Library::Open(options_.library));
  return {};
}

Status Session::MakeRecorder() {
  HANDHOLD_ASSIGN(auto sources, capture::MakeSources(rig_, OpenClip));
  capture::RecorderOptions recorder;
  recorder.limits = capture::LimitsOf(rig_.limits);
  recorder.probe_timeout = options_.probe_timeout;
  recorder.pre_roll = options_.notes.pre_roll.value_or(rig_.pre_roll);
  recorder.stop_after = options_.notes.stop_after.value_or(rig_.stop_after);
  HANDHOLD_ASSIGN(recorder_, capture::Recorder::Make(std::move(sources), Target(), recorder));
  return {};
}

capture::TakeTarget Session::Target() {
  capture::TakeTarget target;
  if (options_.library.empty()) {
    target.new_take = [](const recording::ClipInfo&) {
      return Result<std::pair<recording::ClipInfo, std::string>>(
          Error{ErrorCode::kInvalid, "nothing is recorded without a library"});
    };
    return target;
  }
  target.directory = options_.library;
  target.new_take =
      [this](recording::ClipInfo info) -> Result<std::pair<recording::ClipInfo, std::string>> {
    HANDHOLD_ASSIGN(names_, library_->HoldNames());
    HANDHOLD_ASSIGN(info, library_->NewTake(std::move(info)));
    take_ = info.id;
    take_path_ = library_->ClipPath(info.id);
    return std::pair(std::move(info), take_path_);
  };
  // A catalogue that somebody holds must not cost the operator the answer to "is it stored?".
  target.stored = [this](const recording::ClipInfo& info, const std::string&) -> Status {
    if (noting_.valid()) noting_.wait();
    const Status indexed = library_->Index(info.id);
    if (!indexed) not_catalogued_ = indexed.error().message;
    return {};
  };
  return target;
}

std::string Session::Advice(const capture::Rig& rig) {
  std::set<capture::RigSource::Kind> kinds;
  for (const capture::RigSource& source : rig.sources) {
    if (source.kind == capture::RigSource::Kind::kPlayback) continue;
    if (!source.host.starts_with("127.") && source.host != "localhost") return "";
    if (kinds.insert(source.kind).second) continue;
    return "its devices are on this machine, and `handhold live simulate` plays one of each kind: "
           "rehearse with a copy of the rig without '" +
           source.name + "'";
  }
  return "its devices are on this machine: start `handhold live simulate --rig " +
         ShellWord(rig.Word()) + "` in a second terminal, and leave it running";
}

Result<std::vector<capture::CheckLine>> Session::Check(const std::function<bool()>& cancelled) {
  HANDHOLD_ASSIGN(std::vector<capture::CheckLine> lines, recorder_->Check(cancelled));
  // What a thing is measured by may come later, with the subject: told, not required.
  if (!Missing(lines))
    for (Issue& issue : recording::FindThingIssues(rig_.TakeInfo(), recorder_->FoundStreams(), {}))
      lines.push_back(
          {"rig", issue.where, false, false, std::move(issue.what), ErrorCode::kNotFound});
  for (const recording::Thing& thing : rig_.things) {
    std::string unknown = UnknownModel(thing, rig_.path);
    if (!unknown.empty())
      lines.push_back({"rig", thing.name, false, false, std::move(unknown), ErrorCode::kNotFound});
  }
  return lines;
}

bool Session::Missing(const std::vector<capture::CheckLine>& lines) {
  return std::any_of(lines.begin(), lines.end(),
                     [](const capture::CheckLine& line) { return line.required && !line.ok; });
}

void Session::TellChanges(const Operator& op, const HealthSnapshot& now) {
  if (op.say) {
    for (const capture::SourceStatus& source : now.sources) {
      if (!source.connected && seen_.contains(source.name) && gone_.insert(source.name).second)
        op.say("LOST: " + source.name + (source.text.empty() ? "" : ": " + source.text));
      if (source.connected && gone_.erase(source.name) > 0) op.say("BACK: " + source.name);
      if (source.connected) seen_.insert(source.name);
    }
    // The streams of one device turn red together: said once.
    std::map<std::pair<std::string, std::string>, std::pair<int, std::string>> turned;
    for (const recording::QualityItem& item : now.items) {
      if (!item.red || item.acknowledged) continue;
      const auto before = std::find_if(told_.items.begin(), told_.items.end(), [&](const auto& i) {
        return i.stream == item.stream && i.what == item.what;
      });
      if (before != told_.items.end() && before->red && !before->acknowledged) continue;
      auto& [count, cause] = turned[{item.stream.substr(0, item.stream.find('/')), item.what}];
      ++count;
      cause = item.cause;
    }
    for (const auto& [key, told] : turned) {
      op.say("RED: " + (key.first.empty() ? "" : key.first + " ") + key.second +
             (told.first > 1 ? " of " + std::to_string(told.first) + " streams: " : ": ") +
             told.second);
    }
    if (!now.trouble.empty() && told_.trouble.empty()) op.say("RED: " + now.trouble);
  }
  told_ = now;
}

// The writer goes on in a file that somebody deleted, and notices nothing.
void Session::WatchFile(const Operator& op, HealthSnapshot* health) {
  std::error_code unknown;
  const bool there = std::filesystem::exists(take_path_, unknown) || unknown;
  if (!there && !file_gone_ && op.say) {
    op.say("RED: " + take_path_ +
           " is gone: somebody removed or moved it; if it was removed, this take is lost");
  }
  file_gone_ = !there;
  if (file_gone_) health->trouble = "the take's file is gone: put it back, or this take is lost";
}

template <typename Run>
auto Session::Beside(const Operator& op, const DiskWork& work, Run run) -> decltype(run()) {
  auto result = std::async(std::launch::async, std::move(run));
  WaitForDisk(op, work, [&] {
    return result.wait_for(std::chrono::nanoseconds(kTick.ns())) == std::future_status::ready;
  });
  return result.get();
}

Wish::Kind Session::Tick(const Operator& op) {
  capture::wire::SleepUntil(HostNow() + kTick);
  const Timestamp now = HostNow();
  if (now >= next_watch_) {
    next_watch_ = now + kWatchPeriod;
    HealthSnapshot health = Health();
    TellChanges(op, health);
    if (recording_) WatchFile(op, &health);
    if (op.watch) op.watch(health);
  }
  if (op.interrupted && op.interrupted()) return Wish::kQuit;
  // All that has come, so that marks of one moment do not wait for one another; bounded, for a
  // program that never stops writing.
  constexpr int kMostWishes = 1000;
  for (int i = 0; i < kMostWishes; ++i) {
    const Wish wish = NextWish(op);
    Grant(op, wish);
    if (wish.kind == Wish::kNothing || wish.kind == Wish::kRecord || wish.kind == Wish::kStop ||
        wish.kind == Wish::kQuit)
      return wish.kind;
  }
  return Wish::kNothing;
}

void Session::Grant(const Operator& op, const Wish& wish) {
  const auto say = [&](const std::string& text) {
    if (op.say) op.say(text);
  };
  const Timestamp at = wish.at == Timestamp() ? HostNow() : wish.at;
  if (wish.kind == Wish::kAcknowledge) recorder_->Acknowledge();
  if (wish.kind == Wish::kRefused) say("refused: " + wish.text);
  if (wish.kind == Wish::kRecord && recording_) say("refused: a take is running already");
  if (wish.kind != Wish::kMark) return;
  // With its text: what was said can be said again.
  const std::string refused =
      "no " + wish.event + (wish.text.empty() ? "" : " '" + wish.text + "'") + ": ";
  if (!recording_ || at < recording_since_)
    return say(refused + "it came before RECORDING, and belongs to no take");
  recording::Event event;
  event.kind = wish.event;
  event.origin = "operator";
  event.text = wish.text;
  const Status marked = recorder_->Mark(std::move(event), at);
  if (!marked) return say(refused + marked.error().message);
  ++marks_;
  say(wish.event + " " + std::to_string(marks_) + (wish.text.empty() ? "" : ": " + wish.text));
}

Status Session::Arm(const Operator& op) {
  if (library_ == nullptr && !options_.library.empty()) {
    HANDHOLD_ASSIGN(library_, Beside(op, {.doing = "making the library"},
                                     [this] { return store::Library::Create(options_.library); }));
    if (op.say) op.say("made a library at " + options_.library);
  }
  HANDHOLD_TRY(Beside(op, {.doing = "trying to write"}, [this] { return recorder_->Arm(); }));
  if (op.say)
    op.say(library_ != nullptr ? "armed: samples flow, nothing is kept yet"
                               : "watching: samples flow, nothing is recorded");
  return {};
}

bool Session::AwaitRecord(const Operator& op) {
  for (;;) {
    const Wish::Kind wish = Tick(op);
    if (wish == Wish::kRecord) return true;
    if (wish == Wish::kQuit) return false;
    if (wish == Wish::kStop && op.say) op.say("no take is running");
  }
}

/// A session that is played once must not begin before the recorder does.
Status Session::NotTooLate() const {
  if (options_.rehearsal == nullptr || options_.feed == nullptr) return {};
  const Duration late = HostNow() - options_.rehearsal->session().begin;
  if (late <= Duration()) return {};
  return Error{ErrorCode::kTimeout,
               "the rehearsal's session began " + FormatSeconds(late) +
                   " before the recorder was ready, and nothing was recorded: this machine is "
                   "busy; give it more time, as with --lead 15s"};
}

/// A subject or prop that no clip of the library has: new, or misspelt while it can still be
/// mended.
void Session::TellNewNames(const Operator& op, const recording::ClipInfo& info) {
  if (!op.say || library_ == nullptr) return;
  std::vector<std::pair<std::string, std::string>> names = {{"subject", info.subject}};
  for (const std::string& prop : store::PropsOf(recording::PropNames(info)))
    names.emplace_back("prop", prop);
  for (const auto& [field, name] : names) {
    if (name.empty() || !told_names_.insert(field + " " + name).second) continue;
    if (const auto hint = library_->Nearest(field, name); hint && !hint->empty())
      op.say("first time seen: " + *hint);
  }
}

Status Session::StartFlowing(const Operator& op) {
  recording::ClipInfo info = rig_.TakeInfo();
  const TakeNotes& notes = options_.notes;
  info.subject = OrElse(notes.subject, info.subject);
  info.session = OrElse(notes.session, info.session);
  info.task = OrElse(OrElse(notes.task, info.task), "take");
  if (!notes.prop.empty()) recording::SayProp(notes.prop, &info);
  info.properties["rig"] = rig_.text;
  info.properties["rig_path"] = rig_.path;
  if (options_.rehearsal != nullptr) {
    info.properties["rehearsal"] = "simulated devices";
    info.properties[lab::kSessionBeginProperty] =
        std::to_string(options_.rehearsal->session().begin.ns());
  }
  TellNewNames(op, info);
  // Wished while the disk kept the session from being armed: what follows is not wished any more.
  const auto end = std::ranges::find_if(later_, [](const Wish& wish) {
    return wish.kind == Wish::kStop || wish.kind == Wish::kQuit;
  });
  if (end != later_.end() || (op.interrupted && op.interrupted())) {
    left_ = end == later_.end() || end->kind == Wish::kQuit;
    later_.erase(later_.begin(), end == later_.end() ? end : end + 1);
    return Error{ErrorCode::kCancelled, "nothing was recorded"};
  }
  const Timestamp give_up = HostNow() + options_.start_timeout;
  bool waiting = false;
  for (;;) {
    HANDHOLD_TRY(NotTooLate());
    const Status started = Beside(op, {.doing = "making the take's file", .armed = true}, [&] {
      Status status = recorder_->Start(info);
      names_.reset();
      return status;
    });
    if (started) return {};
    // Only streams that do not flow yet are waited for.
    if (started.error().code != ErrorCode::kNotFound || HostNow() >= give_up)
      return started.error();
    if (!waiting && op.say && HostNow() > give_up - options_.start_timeout + Duration::Seconds(2)) {
      waiting = true;
      op.say("waiting: " + started.error().message);
    }
    const Wish::Kind wish = Tick(op);
    left_ = wish == Wish::kQuit;
    if (wish == Wish::kQuit || wish == Wish::kStop)
      return Error{ErrorCode::kCancelled, "nothing was recorded"};
  }
}

Status Session::MarkDueEvents() {
  if (options_.rehearsal == nullptr || options_.feed == nullptr) return {};
  const auto& events = options_.feed->data().events;
  for (; next_event_ < events.size(); ++next_event_) {
    const lab::FeedEvent& due = events[next_event_];
    const Timestamp at = options_.rehearsal->session().begin + Duration::FromSeconds(due.begin_s);
    if (at > HostNow()) break;
    recording::Event event;
    event.kind = due.kind;
    event.origin = "operator";
    event.text = due.text;
    event.length = Duration::FromSeconds(due.length_s);
    HANDHOLD_TRY(recorder_->Mark(std::move(event), at));
  }
  return {};
}

/// True: the operator is leaving.
bool Session::RunTake(const Operator& op) {
  const bool whole_feed = options_.rehearsal != nullptr && options_.feed != nullptr;
  while (!recorder_->wants_stop()) {
    if (const Status marked = MarkDueEvents(); !marked && op.say)
      op.say("RED: " + marked.error().message);
    if (whole_feed && HostNow() > options_.rehearsal->session().end + kAfterSession) return false;
    const Wish::Kind wish = Tick(op);
    if (wish == Wish::kStop) return false;
    if (wish == Wish::kQuit) return true;
  }
  return false;
}

Result<StoredTake> Session::RecordTake(const Operator& op) {
  CHECK(library_ != nullptr);
  not_catalogued_.clear();
  file_gone_ = false;
  next_event_ = 0;
  marks_ = 0;
  HANDHOLD_TRY(StartFlowing(op));
  recording_ = true;
  recording_since_ = HostNow();
  if (op.say) op.say("RECORDING");
  // Said now: a recorder that dies has noted what the operator wrote before the take.
  unsaid_ = NotesOfTake();
  noting_ = std::async(std::launch::async, [this] { SayNotes(); });
  StoredTake stored;
  stored.leave = RunTake(op);
  recording_ = false;
  if (op.say) op.say("storing");
  // A long take takes a while: somebody waits for it.
  std::atomic<double> share{0.0};
  const auto store = [&]() -> Status {
    auto took = recorder_->Stop([&share](double done) { share = done; });
    noting_.wait();
    if (!took) return took.error();
    stored.take = *std::move(took);
    stored.not_catalogued = not_catalogued_;
    stored.not_noted = SayNotes();
    return {};
  };
  HANDHOLD_TRY(Beside(op, {.doing = "storing", .armed = true, .share = &share}, store));
  if (options_.rehearsal != nullptr) {
    if (auto clip = store::ClipReader::Open(stored.take.path); clip) {
      stored.gap_differences = CompareGaps(options_.rehearsal->gaps(), rig_, **clip);
      stored.injected_gaps = InjectedWithin(options_.rehearsal->gaps(), rig_, **clip);
      if (auto clocks = options_.rehearsal->CompareClocks(**clip); clocks)
        stored.clocks = *std::move(clocks);
    } else {
      stored.gap_differences = {clip.error().message};
    }
  }
  return stored;
}

std::vector<store::LedgerEntry> Session::NotesOfTake() const {
  const TakeNotes& notes = options_.notes;
  std::vector<store::LedgerEntry> entries;
  const auto add = [&](store::LedgerKind kind, const std::string& name, const std::string& value) {
    store::LedgerEntry entry;
    entry.clip = take_.ToString();
    entry.kind = kind;
    entry.name = name;
    entry.value = value;
    entry.author = notes.author;
    entries.push_back(std::move(entry));
  };
  for (const std::string& tag : notes.tags) add(store::LedgerKind::kTag, tag, "");
  if (!notes.rating.empty()) add(store::LedgerKind::kRating, "", notes.rating);
  if (!notes.note.empty()) add(store::LedgerKind::kNote, "", notes.note);
  return entries;
}

std::string Session::SayNotes() {
  std::string failures;
  std::vector<store::LedgerEntry> unsaid;
  // Each by itself: one that fails costs no other.
  for (store::LedgerEntry& entry : unsaid_) {
    const auto said = library_->Say(entry);
    if (said) continue;
    failures += (failures.empty() ? "" : "; ") + std::string(store::LedgerKindName(entry.kind)) +
                " '" + (entry.name.empty() ? entry.value : entry.name) +
                "': " + said.error().message;
    unsaid.push_back(std::move(entry));
  }
  unsaid_ = std::move(unsaid);
  return failures;
}

}  // namespace handhold::live
