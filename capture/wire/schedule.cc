#include "capture/wire/schedule.h"

#include <pthread.h>
#include <sched.h>

namespace handhold::capture::wire {

bool AskForRealTime(Urgency urgency) {
  sched_param parameters{};
  parameters.sched_priority = static_cast<int>(urgency);
  return ::pthread_setschedparam(::pthread_self(), SCHED_RR, &parameters) == 0;
}

}  // namespace handhold::capture::wire
