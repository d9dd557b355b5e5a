#include "capture/session/red_figures.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace handhold::capture {

std::vector<RedFigure> RedFigures(std::span<const recording::QualityItem> items) {
  struct Group {
    size_t at = 0;  ///< in `out`
    int streams = 0;
  };
  std::map<std::pair<std::string, std::string>, Group> groups;
  std::vector<RedFigure> out;
  const auto beyond = [](const recording::QualityItem& item) {
    return std::abs(item.worst - item.threshold);
  };
  for (const recording::QualityItem& item : items) {
    if (!item.red) continue;
    const std::string device = item.stream.substr(0, item.stream.find('/'));
    const auto [group, first] = groups.try_emplace({device, item.what}, Group{out.size(), 0});
    if (first) out.push_back({item.stream, item, item.clip_first_red, true});
    RedFigure& figure = out[group->second.at];
    if (++group->second.streams > 1)
      figure.name = device + " (" + std::to_string(group->second.streams) + " streams)";
    figure.clip_first_red = std::min(figure.clip_first_red, item.clip_first_red);
    figure.acknowledged = figure.acknowledged && item.acknowledged;
    if (beyond(item) > beyond(figure.item)) figure.item = item;
  }
  return out;
}

}  // namespace handhold::capture
