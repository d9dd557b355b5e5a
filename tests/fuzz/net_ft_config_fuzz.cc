// The Net F/T's HTTP answer and its page: an accepted page has numbers that can scale a
// measurement.
#include <cmath>
#include <cstdint>
#include <string_view>

#include "capture/source/net_ft_config.h"
#include "database/base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto body = handhold::capture::HttpBody(text);
  const auto config = handhold::capture::ParseNetFtConfig(body ? *body : text);
  if (config) {
    CHECK(std::isfinite(config->newtons_per_count) && config->newtons_per_count > 0);
    CHECK(std::isfinite(config->newton_metres_per_count) && config->newton_metres_per_count > 0);
    CHECK(config->rate_hz >= 1 && config->rate_hz <= 8000);
    CHECK(config->records_per_datagram >= 1 && config->records_per_datagram <= 40);
  } else {
    CHECK(!config.error().message.empty());
  }
  return 0;
}
