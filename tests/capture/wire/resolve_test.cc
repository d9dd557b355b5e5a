#include "capture/wire/resolve.h"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>
#include <vector>

#include "capture/wire/cancel.h"

namespace handhold::capture::wire::resolve_test {
namespace {

using ::testing::HasSubstr;

Timestamp In(int64_t ms) { return HostNow() + Duration::Milliseconds(ms); }

std::atomic<int> asked{0};
std::atomic<bool> silent{true};

/// A name server that does not answer until it is told to.
Result<uint32_t> Hangs(const std::string& host) {
  ++asked;
  while (silent) SleepUntil(In(1));
  if (host == "nobody") return Error{ErrorCode::kNotFound, "host 'nobody' is not known"};
  return uint32_t{0x0a000007};
}

TEST(Resolve, NamesWhatIsWrong) {
  const auto address = Resolve("127.0.0.1:801", 5, In(1000));
  ASSERT_TRUE(address);
  EXPECT_EQ(*address, Address::Loopback(801));
  EXPECT_EQ(Resolve("127.0.0.1", 5, In(1000))->port, 5);
  EXPECT_EQ(Resolve("localhost", 5, In(5000))->ipv4, Address::Loopback(5).ipv4);
  EXPECT_EQ(address->ToString(), "127.0.0.1:801");
  for (const char* bad : {"host:", "host:0", "host:70000", "host:8x", ":801", ""}) {
    EXPECT_FALSE(Resolve(bad, 5, In(1000))) << bad;
  }
  EXPECT_THAT(Resolve("127.0.0.1:99999", 5, In(1000)).error().message,
              HasSubstr("127.0.0.1:99999"));
}

TEST(Resolve, ANameServerThatHangsHoldsNobodyAndIsAskedOnce) {
  asked = 0;
  silent = true;
  const Timestamp begin = HostNow();
  for (int k = 0; k < 3; ++k) {
    const auto late = Resolve("slow.lab", 801, In(30), Hangs);
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, ErrorCode::kTimeout);
    EXPECT_THAT(late.error().message, HasSubstr("slow.lab"));
  }
  // Cancelled long before its deadline.
  std::atomic<bool> stop{false};
  std::thread canceller([&] {
    SleepUntil(In(50));
    stop = true;
  });
  {
    const CancelScope scope(stop);
    EXPECT_FALSE(Resolve("slow.lab", 801, In(60'000), Hangs));
  }
  canceller.join();
  EXPECT_LT((HostNow() - begin).seconds(), 5.0);
  EXPECT_EQ(asked, 1);
  // An address needs no name server.
  EXPECT_EQ(Resolve("10.0.0.9:7", 801, In(30), Hangs)->port, 7);

  std::vector<std::thread> both;
  for (int k = 0; k < 2; ++k) {
    both.emplace_back([] {
      const auto answer = Resolve("slow.lab:9", 801, In(20'000), Hangs);
      ASSERT_TRUE(answer) << answer.error().message;
      EXPECT_EQ(answer->ToString(), "10.0.0.7:9");
    });
  }
  silent = false;
  for (std::thread& thread : both) thread.join();
  const auto nobody = Resolve("nobody", 1, In(20'000), Hangs);
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace handhold::capture::wire::resolve_test
