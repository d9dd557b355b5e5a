#include "tools/handhold/frame/interrupt.h"

#include <atomic>
#include <csignal>

namespace handhold::cli {
namespace {

std::atomic<bool> g_interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);  // or a signal handler may not touch it

void OnSignal(int) { g_interrupted = true; }

}  // namespace

void CatchInterrupts() {
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  // SA_RESETHAND: the second signal finds the default action. No SA_RESTART: a blocked read
  // returns.
  action.sa_flags = SA_RESETHAND;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // The terminal is gone. Under nohup, which has it ignored, it stays ignored.
  struct sigaction before = {};
  if (sigaction(SIGHUP, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
    sigaction(SIGHUP, &action, nullptr);
}

bool Interrupted() { return g_interrupted; }

}  // namespace handhold::cli
