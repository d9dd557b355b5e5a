/// One session at the rig: a recorder in front of a library, driven by an operator or a program
/// until the take is safely stored.
///
/// The verbs, the demo and the tests call this; nothing here prints. A Session is used by one
/// thread; the recorder below has its own. What writes to the disk runs beside that thread (once
/// the library is open): the operator goes on being shown figures and heard, and is told what takes
/// long. A disk that does not answer cannot be left, though: the call returns when it does.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "capture/session/recorder.h"
#include "capture/session/rig.h"
#include "database/base/result.h"
#include "database/store/library.h"
#include "tools/live/rehearsal.h"

namespace handhold::live {

/// What is known of the takes to come; empty: as the rig says.
struct TakeNotes {
  std::string subject = {}, session = {}, task = {}, prop = {};
  std::string note = {};
  std::vector<std::string> tags = {};
  std::string rating = {};          ///< "1" .. "5"
  std::string author = "operator";  ///< of note, tags and rating, in the library's ledger
  std::optional<Duration> pre_roll = {}, stop_after = {};
};

/// kInvalid names the first that no catalogue, ledger or JSON could hold: to be asked before a take
/// that cannot be repeated. Texts are UTF-8; names and tags at most 100 bytes, without control
/// characters; a tag and the author are not empty.
Status CheckNotes(const TakeNotes& notes);
/// The same of one name; `what` begins the message. May be empty.
Status CheckName(std::string_view what, std::string_view name);

/// What the operator wants, asked some 20 times a second.
struct Wish {
  enum Kind {
    kNothing,
    kMark,         ///< an event of the running take
    kAcknowledge,  ///< red has been seen
    kRecord,       ///< begin the next take (while armed)
    kStop,         ///< end the take
    kQuit,         ///< end the take and leave
    kRefused,      ///< not understood: `text` says why
  } kind = kNothing;
  std::string text = {};       ///< of kMark and kRefused
  std::string event = "mark";  ///< of kMark: the event's kind
  Timestamp at = {};           ///< when it came; 0: now
};

/// Who watches and steers. Every function may be empty.
struct Operator {
  std::function<Wish()> wish = {};         ///< the next; kNothing: no more for now
  std::function<bool()> interrupted = {};  ///< Ctrl-C: as kQuit
  /// About 5 times a second, with the figures of that instant.
  std::function<void(const capture::HealthSnapshot&)> watch = {};
  /// A line for people: a state reached, a source gone or back, a figure turned red.
  std::function<void(std::string_view)> say = {};
};

/// A take on disk, and what is left to say of it.
struct StoredTake {
  capture::TakeResult take;
  std::string not_catalogued;  ///< why the catalogue does not know it yet; empty: it does
  std::string not_noted;       ///< which of note, tags and rating are not in the ledger, and why
  bool leave = false;          ///< the operator ended the take by leaving
  /// In a rehearsal: what differs between injected and reported gaps (compare_gaps.cc).
  std::vector<std::string> gap_differences;
  int injected_gaps = 0;  ///< in a rehearsal: those of the take, of all that were injected
  std::optional<ClockAgreement> clocks;  ///< in a rehearsal, where the clip overlaps its session
  /// Something is missing, or left to do: the verb ends with exit code 3.
  bool lost() const {
    return !take.gaps.empty() || !take.closed || !take.quality.keep || !not_catalogued.empty() ||
           !not_noted.empty();
  }
};

struct SessionOptions {
  TakeNotes notes = {};
  std::string library = {};  ///< folder; made by Arm when nothing is there; empty: nothing can be
                             ///< recorded
  /// Gives the rig's addresses, sensor poses and events in a rehearsal. Must outlive the session.
  const Rehearsal* rehearsal = nullptr;
  const lab::SensorFeed* feed = nullptr;  ///< what the rehearsal plays, when it is a subject's
  Duration probe_timeout = Duration::Seconds(5);
  /// How long required streams may take to flow, or come back, before a take is given up.
  Duration start_timeout = Duration::Seconds(10);
};

class Session {
 public:
  /// Opens the library and builds the drivers; no device is touched. In a rehearsal the
  /// rig is the rehearsal's.
  static Result<std::unique_ptr<Session>> Open(const capture::Rig& rig, SessionOptions options);
  ~Session();

  /// Asks every device: lines in the order of the rig. kCancelled soon after `cancelled` says so.
  Result<std::vector<capture::CheckLine>> Check(const std::function<bool()>& cancelled = {});
  /// True when a required line is not ok.
  static bool Missing(const std::vector<capture::CheckLine>& lines);

  /// What to do when the devices of a rig do not answer, beyond what each says; may be empty.
  static std::string Advice(const capture::Rig& rig);

  /// Starts the sources; after a Check that missed nothing.
  Status Arm(const Operator& op);
  /// Waits until required streams flow (and in a rehearsal for the session to come), records until
  /// the time is up, the operator or the disk ends it, and stores. kCancelled when the operator
  /// leaves before anything was recorded.
  Result<StoredTake> RecordTake(const Operator& op);
  /// Armed, until the operator wants a take (true) or leaves (false): for --arm and monitor. A
  /// second stop is no wish to leave.
  bool AwaitRecord(const Operator& op);
  Status Disarm() { return recorder_->Disarm(); }
  /// The last RecordTake ended by the operator's leaving, not by a stop.
  bool left() const { return left_; }
  capture::HealthSnapshot Health() const {
    capture::HealthSnapshot health = recorder_->Health();
    health.watching = options_.library.empty();
    return health;
  }

  const capture::Rig& rig() const { return rig_; }
  const std::string& library_path() const { return options_.library; }

 private:
  Session() = default;
  Status OpenLibrary();
  Status MakeRecorder();
  capture::TakeTarget Target();
  Status StartFlowing(const Operator& op);
  void TellNewNames(const Operator& op, const recording::ClipInfo& info);
  Status NotTooLate() const;
  bool RunTake(const Operator& op);
  Status MarkDueEvents();
  std::vector<store::LedgerEntry> NotesOfTake() const;
  /// Into the ledger; what cannot be said stays in unsaid_. Returns which, and why.
  std::string SayNotes();
  /// A take whose file is gone is trouble, said once and shown as long as it lasts.
  void WatchFile(const Operator& op, capture::HealthSnapshot* health);
  /// One round of the loop: 50 ms, watching and answering. False: the operator is leaving.
  Wish::Kind Tick(const Operator& op);
  /// Answers what can be answered at once.
  void Grant(const Operator& op, const Wish& wish);
  void TellChanges(const Operator& op, const capture::HealthSnapshot& now);
  /// The next wish; first those that came while the disk was waited for.
  Wish NextWish(const Operator& op);
  /// What runs beside the operator's loop (disk_wait.cc).
  struct DiskWork {
    std::string_view doing;
    bool armed = false;  ///< the recorder has figures to show
    /// Of the work that is done, told as it goes; may be null.
    const std::atomic<double>* share = nullptr;
  };
  /// Until `done`: shows figures, keeps wishes for later with the time they came at, grants what
  /// needs no disk, and says what takes long.
  void WaitForDisk(const Operator& op, const DiskWork& work, const std::function<bool()>& done);
  void Hear(const Operator& op);
  template <typename Run>
  auto Beside(const Operator& op, const DiskWork& work, Run run) -> decltype(run());

  capture::Rig rig_;
  SessionOptions options_;
  std::unique_ptr<store::Library> library_;
  std::future<void> noting_;  ///< while a take runs: library_ is its until it is done
  std::unique_ptr<capture::Recorder> recorder_;
  std::string not_catalogued_;
  std::shared_ptr<void> names_;  ///< while a take's name is chosen and its file made
  ClipId take_;
  std::string take_path_;
  bool file_gone_ = false;                  ///< at the last look
  std::vector<store::LedgerEntry> unsaid_;  ///< what the ledger did not take yet
  std::deque<Wish> later_;                  ///< came while the disk was waited for
  size_t next_event_ = 0;
  Timestamp next_watch_;
  capture::HealthSnapshot told_;       ///< the last snapshot whose changes were told
  std::set<std::string> told_names_;   ///< of subjects and props, as first seen
  std::set<std::string> seen_, gone_;  ///< sources that were connected; of these, those away
  bool recording_ = false;             ///< a take runs: wishes to mark hold
  Timestamp recording_since_;
  int marks_ = 0;
  bool left_ = false;
};

}  // namespace handhold::live
