#include "database/base/digest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace handhold::digest_test {
namespace {

// The examples of FIPS 180-4 (NIST, "SHA256.pdf" of the example values) and of the CAVP short and
// long message tests.
TEST(Sha256, ReproducesTheStandardsVectors) {
  const std::pair<std::string, const char*> vectors[] = {
      {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
      {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmn"
       "opqrsmnopqrstnopqrstu",
       "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
      {"\xbd", "68325720aabd7c82f30f554b313d0570c95accbb7dc4b5aae11204c08ffe732b"},
      {"\xc9\x8c\x8e\x55", "7abc22c0ae5af26ce93dbb94433a0e0b2e119d014f8e7f65bd56c61ccccd9504"},
      {std::string(55, '\0'), "02779466cdec163811d078815c633f21901413081449002f24aa3e80f0b88ef7"},
      {std::string(56, '\0'), "d4817aa5497628e7c77e6b606107042bbba3130888c5f47a375e6179be789fbb"},
      {std::string(57, '\0'), "65a16cb7861335d5ace3c60718b5052e44660726da4cd13bb745381b235a1785"},
      {std::string(64, '\0'), "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b"},
      {std::string(1000, '\0'), "541b3e9daa09b20bf85fa273e5cbd3e80185aa4ec298e765db87742b70138a53"},
      {std::string(1000, 'A'), "c2e686823489ced2017f6059b8b239318b6364f6dcd835d0a519105a1eadd6e4"},
      {std::string(1000000, 'a'),
       "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
  };
  for (const auto& [message, digest] : vectors)
    EXPECT_EQ(Sha256Of(message).ToHex(), digest) << message.size();
}

TEST(Sha256, DoesNotDependOnHowTheMessageIsCut) {
  std::string message;
  for (int i = 0; i < 300; ++i) message += static_cast<char>(i * 7);
  for (size_t cut = 0; cut <= message.size(); ++cut) {
    Sha256 hasher;
    hasher.Update(std::string_view(message).substr(0, cut));
    hasher.Finish();  // looking does not disturb
    hasher.Update(std::string_view(message).substr(cut));
    ASSERT_EQ(hasher.Finish(), Sha256Of(message)) << cut;
  }
}

// What a processor without instructions for it computes; the standard's vectors pin the other.
TEST(Sha256, IsTheSameWithAndWithoutTheProcessorsInstructions) {
  std::string message;
  for (int i = 0; i < 1000; ++i) {
    Sha256 portable(Sha256::Code::kPortable);
    ASSERT_EQ(portable.Update(message).Finish(), Sha256Of(message)) << i;
    message += static_cast<char>(i * i * 31 + i / 3);
  }
}

TEST(Digest, TextRoundTripsAndRefusesWhatIsNotOne) {
  const Digest digest = Sha256Of("abc");
  EXPECT_EQ(*Digest::Parse(digest.ToHex()), digest);
  EXPECT_EQ(*Digest::Parse("BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD"),
            digest);
  EXPECT_FALSE(Digest::Parse("abc"));
  EXPECT_THAT(Digest::Parse(std::string(63, 'a') + "g").error().message,
              ::testing::HasSubstr("64 hexadecimal characters"));
}

}  // namespace
}  // namespace handhold::digest_test
