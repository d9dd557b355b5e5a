/// What a computation says to whoever runs it: how far it is, what it chose, that it was cut short.
/// One thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "database/base/result.h"

namespace handhold::step {

/// Told now and then; false cancels.
using Progress = std::function<bool(double fraction, std::string_view doing)>;

class Work {
 public:
  explicit Work(Progress progress = {}, std::function<void(const std::string&)> tell = {})
      : progress_(std::move(progress)), tell_(std::move(tell)) {}

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
  std::vector<std::string> notes_;
  std::string cut_short_;
};

}  // namespace handhold::step
