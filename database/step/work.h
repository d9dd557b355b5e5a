/// What a computation says to whoever runs it: how far it is, what it chose, that it was cut short.
/// One thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "database/base/result.h"
#include "database/text/json.h"

namespace handhold::step {

/// Told now and then; false cancels.
using Progress = std::function<bool(double fraction, std::string_view doing)>;

/// Work in several parts, each of which may run in a process of its own: what a part finds it sends
/// as JSON, which is exact to the bit.
struct Parts {
  using Send = std::function<bool(const text::Json&)>;  ///< false: nobody wants any more
  int count = 1;
  std::function<Status(int part, const Send& send)> work;
  std::function<Status(int part, const text::Json& found)> take;  ///< where the caller is
  /// Asked now and then where the caller is; false ends all parts. What was taken stays.
  std::function<bool()> go_on;
};
/// How many parts were killed before they had done theirs, or the first error of one.
using PartRunner = std::function<Result<int>(const Parts& parts)>;

class Work {
 public:
  explicit Work(Progress progress = {}, std::function<void(const std::string&)> tell = {},
                PartRunner parts = {})
      : progress_(std::move(progress)), tell_(std::move(tell)), parts_(std::move(parts)) {}

  /// One part runs here; more as whoever runs the computation says, else here one after another.
  Result<int> Run(const Parts& parts) const {
    if (parts.count > 1 && parts_) return parts_(parts);
    for (int part = 0; part < parts.count; ++part) {
      Status taken;
      HANDHOLD_TRY(parts.work(part, [&](const text::Json& found) {
        taken = parts.take(part, found);
        return taken.has_value() && parts.go_on();
      }));
      HANDHOLD_TRY(taken);
    }
    return 0;
  }

  /// kCancelled when the computation is to end, with nothing made.
  Status Report(double fraction, std::string_view doing) {
    if (GoOn(fraction, doing)) return {};
    return Error{ErrorCode::kCancelled, std::string(doing) + ": cancelled; nothing was saved"};
  }
  /// The same for who answers with what there is: see CutShort.
  bool GoOn(double fraction, std::string_view doing) {
    return !progress_ || progress_(fraction, doing);
  }

  /// What was chosen or left out where nothing was said, a sentence.
  void Note(std::string sentence) { notes_.push_back(std::move(sentence)); }
  /// What people should know before the computation ends.
  void Tell(const std::string& sentence) const {
    if (tell_) tell_(sentence);
  }
  /// The result is not what the inputs and options alone would give: a search was stopped, say. It
  /// is kept and says so, and is never taken for the whole one.
  void CutShort(std::string why) { cut_short_ = std::move(why); }

  const std::vector<std::string>& notes() const { return notes_; }
  const std::string& cut_short() const { return cut_short_; }  ///< empty: whole

 private:
  Progress progress_;
  std::function<void(const std::string&)> tell_;
  PartRunner parts_;
  std::vector<std::string> notes_;
  std::string cut_short_;
};

}  // namespace handhold::step
