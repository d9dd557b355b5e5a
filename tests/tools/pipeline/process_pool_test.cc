// Parts in processes: all that is found arrives, an error keeps its code, a killed part is counted,
// and who says stop keeps what there is.
#include "tools/pipeline/process_pool.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <set>

namespace handhold::pipeline::process_pool_test {
namespace {

using text::Json;

struct Gathered {
  std::set<int64_t> numbers;
  int asked = 0;
};

step::Parts Counting(Gathered* all, int parts, int each) {
  step::Parts p;
  p.count = parts;
  p.work = [=](int part, const step::Parts::Send& send) -> Status {
    for (int i = part; i < parts * each; i += parts) {
      if (!send(Json(int64_t{i}))) break;
    }
    return {};
  };
  p.take = [=](int part, const Json& found) -> Status {
    EXPECT_EQ(*found.integer() % parts, part);
    all->numbers.insert(*found.integer());
    return {};
  };
  p.go_on = [=] { return ++all->asked > 0; };
  return p;
}

TEST(ProcessPool, WhatEveryPartFindsArrives) {
  Gathered all;
  const auto lost = RunInProcesses(Counting(&all, 3, 500));
  ASSERT_TRUE(lost) << lost.error().message;
  EXPECT_EQ(*lost, 0);
  EXPECT_EQ(all.numbers.size(), 1500u);
  // The same as without processes.
  Gathered here;
  ASSERT_TRUE(step::Work().Run(Counting(&here, 3, 500)));
  EXPECT_EQ(here.numbers, all.numbers);
}

TEST(ProcessPool, DoublesArriveToTheBit) {
  double got = 0.0;
  step::Parts p;
  p.count = 2;
  p.work = [](int part, const step::Parts::Send& send) -> Status {
    if (part == 1) send(Json(0.1 + 0.2));
    return {};
  };
  p.take = [&](int, const Json& found) -> Status {
    got = *found.number();
    return {};
  };
  p.go_on = [] { return true; };
  ASSERT_TRUE(RunInProcesses(p));
  EXPECT_EQ(got, 0.1 + 0.2);
}

TEST(ProcessPool, AnErrorOfAPartKeepsItsCode) {
  Gathered all;
  step::Parts p = Counting(&all, 2, 10);
  p.work = [](int part, const step::Parts::Send&) -> Status {
    if (part == 0) return {};
    return Error{ErrorCode::kUnidentifiable, "part 1 cannot"};
  };
  const auto failed = RunInProcesses(p);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::kUnidentifiable);
  EXPECT_EQ(failed.error().message, "part 1 cannot");
}

TEST(ProcessPool, AKilledPartIsCountedAndWhatItSentStays) {
  Gathered all;
  step::Parts p = Counting(&all, 2, 4);
  const auto whole = p.work;
  p.work = [whole](int part, const step::Parts::Send& send) -> Status {
    if (part == 0) return whole(part, send);
    send(Json(int64_t{1}));
    ::kill(::getpid(), SIGKILL);
    return {};
  };
  const auto lost = RunInProcesses(p);
  ASSERT_TRUE(lost) << lost.error().message;
  EXPECT_EQ(*lost, 1);
  EXPECT_EQ(all.numbers, (std::set<int64_t>{0, 1, 2, 4, 6}));
}

TEST(ProcessPool, WhoSaysStopKeepsWhatThereIs) {
  Gathered all;
  step::Parts p = Counting(&all, 2, 1);
  p.work = [](int part, const step::Parts::Send& send) -> Status {
    for (int64_t i = part;; i += 2) {
      if (!send(Json(i))) return {};
    }
  };
  p.go_on = [&] { return all.numbers.size() < 3; };
  ASSERT_TRUE(RunInProcesses(p)) << "it ends";
  EXPECT_GE(all.numbers.size(), 3u);
}

}  // namespace
}  // namespace handhold::pipeline::process_pool_test
