// What a Session does while the disk is waited for.
#include <algorithm>

#include "tools/live/session.h"

namespace handhold::live {
namespace {

constexpr Duration kWatchPeriod = Duration::Milliseconds(200);
constexpr Duration kLinePeriod = Duration::Seconds(1);
/// What takes longer without a step ahead is told as trouble; storing also computes.
constexpr Duration kFileIsSlow = Duration::Seconds(2), kStoringIsSlow = Duration::Seconds(5);

bool Ends(const Wish& wish) { return wish.kind == Wish::kStop || wish.kind == Wish::kQuit; }

}  // namespace

Wish Session::NextWish(const Operator& op) {
  if (later_.empty()) return op.wish ? op.wish() : Wish();
  const Wish wish = later_.front();
  later_.pop_front();
  return wish;
}

void Session::Hear(const Operator& op) {
  constexpr size_t kMostLater = 1000;  // for a program that never stops writing
  while (op.wish && later_.size() < kMostLater) {
    Wish wish = op.wish();
    if (wish.kind == Wish::kNothing) return;
    if (wish.kind == Wish::kAcknowledge || wish.kind == Wish::kRefused) {
      Grant(op, wish);
      continue;
    }
    if (wish.at == Timestamp()) wish.at = HostNow();
    later_.push_back(std::move(wish));
  }
}

void Session::WaitForDisk(const Operator& op, const DiskWork& work,
                          const std::function<bool()>& done) {
  const std::string doing(work.doing);
  const Duration patience = work.share == nullptr ? kFileIsSlow : kStoringIsSlow;
  Timestamp moved = HostNow(), next_line = moved + kLinePeriod;
  double reached = 0.0;
  bool told = false, heard = false;
  while (!done()) {
    Hear(op);
    const Timestamp now = HostNow();
    if (work.share != nullptr && *work.share != reached) {
      reached = *work.share;
      moved = now;
      if (op.say && now >= next_line) {
        next_line = now + kLinePeriod;
        op.say(doing + ": " + std::to_string(static_cast<int>(100 * reached)) + " %");
      }
    }
    if (now < next_watch_) continue;
    next_watch_ = now + kWatchPeriod;
    capture::HealthSnapshot health;
    if (work.armed) {
      health = Health();
      TellChanges(op, health);
    }
    if (now - moved >= patience) {
      health.trouble = doing + " takes long, " +
                       std::to_string((now - moved).ns() / 1'000'000'000) +
                       " s by now: the disk may not answer";
      if (!told && op.say) op.say("RED: " + health.trouble);
      told = true;
      const bool ends = (op.interrupted && op.interrupted()) || std::ranges::any_of(later_, Ends);
      if (ends && !heard && op.say) op.say("heard: it ends as soon as the disk answers");
      heard = ends;
    }
    if (work.armed && op.watch) op.watch(health);
  }
}

}  // namespace handhold::live
