#include "capture/wire/claim.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include <gmock/gmock.h>

namespace handhold::capture::wire::claim_test {
namespace {

using ::testing::HasSubstr;

std::string Name(const char* what) { return std::string(what) + " " + std::to_string(::getpid()); }

TEST(Claim, TheSecondIsToldOfTheFirstAndGetsItWhenThatLetsGo) {
  const std::string name = Name("test a");
  auto first = Claim::Take(name);
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->held());
  const auto second = Claim::Take(name);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kBusy);
  EXPECT_THAT(second.error().message, HasSubstr("this program"));
  EXPECT_TRUE(Claim::Take(Name("test b"))) << "another device";
  first->Release();
  EXPECT_FALSE(first->held());
  EXPECT_TRUE(Claim::Take(name));
}

TEST(Claim, AKilledProcessLetsGoAndALivingOneIsNamed) {
  const std::string name = Name("test c");
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto claim = Claim::Take(name);
    if (claim && write(ready[1], "x", 1) == 1) pause();
    _exit(1);
  }
  char none = 0;
  ASSERT_EQ(read(ready[0], &none, 1), 1);
  const auto refused = Claim::Take(name);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("process " + std::to_string(child) + " ("));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(Claim::Take(name));
  close(ready[0]);
  close(ready[1]);
}

}  // namespace
}  // namespace handhold::capture::wire::claim_test
