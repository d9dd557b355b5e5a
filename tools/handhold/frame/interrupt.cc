#include "tools/handhold/frame/interrupt.h"

#include <time.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>

namespace handhold::cli {
namespace {

std::atomic<bool> g_interrupted = false;
std::atomic<int64_t> g_counted_ns = 0;  // the last signal that counted
std::atomic<int> g_presses = 0;         // Ctrl-C after the first signal that counted
static_assert(std::atomic<bool>::is_always_lock_free);  // or a signal handler may not touch it
static_assert(std::atomic<int64_t>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

// Several of one cause (timeout, a closed window, a double press) come closer together than this.
constexpr int64_t kApart_ns = 1'000'000'000;
constexpr char kWarning[] =
    "\nhandhold: still finishing; a further Ctrl-C ends it at once: what is not finished is lost, "
    "and a take not yet stored needs `handhold library rebuild --finish`\n";

// Only what a signal handler may call, here and below.
int64_t NowNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void OnSignal(int number);

void Install(int flags) {
  struct sigaction action = {}, before = {};
  action.sa_handler = OnSignal;
  action.sa_flags = flags;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // The terminal is gone. Under nohup, which has it ignored, it stays ignored.
  if (sigaction(SIGHUP, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
    sigaction(SIGHUP, &action, nullptr);
}

void OnSignal(int number) {
  const int64_t now_ns = NowNs();
  if (!g_interrupted.exchange(true)) {
    g_counted_ns = now_ns;
    Install(SA_RESTART);  // what follows must not disturb the storing
    return;
  }
  if (number != SIGINT || now_ns - g_counted_ns < kApart_ns) return;
  g_counted_ns = now_ns;
  if (++g_presses == 1) {
    (void)!write(STDERR_FILENO, kWarning, sizeof kWarning - 1);
    return;
  }
  std::signal(SIGINT, SIG_DFL);
  std::raise(SIGINT);  // delivered when this returns
}

}  // namespace

void CatchInterrupts() { Install(0); }  // no SA_RESTART: a blocked read returns

bool Interrupted() { return g_interrupted; }

}  // namespace handhold::cli
