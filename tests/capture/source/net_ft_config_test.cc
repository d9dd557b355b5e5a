#include "capture/source/net_ft_config.h"

#include <gmock/gmock.h>

namespace handhold::capture::net_ft_config_test {
namespace {

using ::testing::HasSubstr;

std::string Page(std::string_view cpf, std::string_view cpt, std::string_view fu,
                 std::string_view tu, std::string_view rate = "7000") {
  return "<?xml version=\"1.0\"?>\r\n<netft>\r\n<prodname> Net F/T "
         "</prodname><setserial>FT12345</setserial>"
         "<cfgcpf>" +
         std::string(cpf) + "</cfgcpf><cfgcpt>" + std::string(cpt) + "</cfgcpt>\n<scfgfu>" +
         std::string(fu) + "</scfgfu><scfgtu>" + std::string(tu) + "</scfgtu><comrdtrate>" +
         std::string(rate) + "</comrdtrate><comrdtbsiz>40</comrdtbsiz></netft>";
}

TEST(NetFtConfig, ScalesCountsToNewtons) {
  const auto config = ParseNetFtConfig(Page("1000000", "1000000", "N", "Nm"));
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_DOUBLE_EQ(config->newtons_per_count, 1e-6);
  EXPECT_DOUBLE_EQ(config->newton_metres_per_count, 1e-6);
  EXPECT_DOUBLE_EQ(config->rate_hz, 7000);
  EXPECT_EQ(config->records_per_datagram, 40);
  EXPECT_EQ(config->serial, "FT12345");
  EXPECT_EQ(config->product, "Net F/T");
}

TEST(NetFtConfig, KnowsTheUnitsThatAtiSends) {
  const auto scale = [](const char* fu, const char* tu) {
    return *ParseNetFtConfig(Page("100", "10", fu, tu));
  };
  EXPECT_NEAR(scale("lbf", "lbf-in").newtons_per_count, 0.044482216152605, 1e-15);
  EXPECT_NEAR(scale("lbf", "lbf-in").newton_metres_per_count, 0.01129848290276167, 1e-15);
  EXPECT_NEAR(scale("klbf", "lbf-ft").newtons_per_count, 44.482216152605, 1e-12);
  EXPECT_NEAR(scale("kgf", "kg-cm").newton_metres_per_count, 0.00980665, 1e-15);
  EXPECT_NEAR(scale("kN", "Nmm").newton_metres_per_count, 1e-4, 1e-18);
}

TEST(NetFtConfig, RefusesWhatCannotBeASensor) {
  const auto message = [](const std::string& page) {
    return ParseNetFtConfig(page).error().message;
  };
  EXPECT_THAT(message(Page("0", "1", "N", "Nm")), HasSubstr("cfgcpf"));
  EXPECT_THAT(message(Page("1", "nan", "N", "Nm")), HasSubstr("cfgcpt"));
  EXPECT_THAT(message(Page("1", "inf", "N", "Nm")), HasSubstr("cfgcpt"));
  EXPECT_THAT(message(Page("-5", "1", "N", "Nm")), HasSubstr("cfgcpf"));
  EXPECT_THAT(message(Page("1", "1", "stone", "Nm")), AllOf(HasSubstr("stone"), HasSubstr("lbf")));
  EXPECT_THAT(message(Page("1", "1", "N", "")), HasSubstr("scfgtu"));
  EXPECT_THAT(message(Page("1", "1", "N", "Nm", "1e9")), HasSubstr("comrdtrate"));
  EXPECT_THAT(message(""), HasSubstr("cfgcpf is missing"));
  EXPECT_THAT(message("<cfgcpf>" + std::string(1000, '1') + "</cfgcpf>"), HasSubstr("cfgcpf"));
}

TEST(HttpBody, TakesTheBodyAndRefusesTheRest) {
  EXPECT_EQ(*HttpBody("HTTP/1.0 200 OK\r\nA: b\r\n\r\nbody"), "body");
  EXPECT_THAT(HttpBody("HTTP/1.1 404 Not Found\r\n\r\n").error().message, HasSubstr("404"));
  EXPECT_FALSE(HttpBody("HTTP/1.0 200 OK\r\nA: b"));
  EXPECT_FALSE(HttpBody("SSH-2.0-OpenSSH"));
  EXPECT_FALSE(HttpBody(""));
}

}  // namespace
}  // namespace handhold::capture::net_ft_config_test
