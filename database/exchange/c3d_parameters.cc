#include "database/exchange/c3d_parameters.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "database/base/check.h"
#include "database/base/utf8.h"

namespace handhold::exchange {
namespace {

std::string Upper(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return upper;
}

bool SameName(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
           return std::toupper(static_cast<unsigned char>(x)) ==
                  std::toupper(static_cast<unsigned char>(y));
         });
}

/// UTF-8 as it is; else each byte as Latin-1. Control characters become blanks.
std::string Readable(std::string_view text) {
  bool utf8 = true;
  for (size_t at = 0; at < text.size() && utf8;) {
    const size_t length = Utf8Length(text, at);
    utf8 = length > 0;
    at += length;
  }
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      out += ' ';
    } else if (utf8 || byte < 0x80) {
      out += c;
    } else {
      AppendUtf8(byte, out);
    }
  }
  const size_t begin = out.find_first_not_of(' '), end = out.find_last_not_of(' ');
  return begin == std::string::npos ? "" : out.substr(begin, end - begin + 1);
}

size_t ElementBytes(C3dParameter::Type type) {
  return static_cast<size_t>(std::abs(static_cast<int>(type)));
}

std::string Numbered(std::string_view name, int k) {
  return k == 1 ? std::string(name) : std::string(name) + std::to_string(k);
}

/// What the records say, before parameters are put into their groups by id.
struct Records {
  std::map<int, C3dGroup> groups;
  std::vector<std::pair<int, C3dParameter>> parameters;
};

class SectionReader {
 public:
  SectionReader(std::span<const uint8_t> bytes, C3dProcessor processor, Issues& issues)
      : bytes_(bytes), processor_(processor), issues_(issues) {}

  Records Read() {
    Records records;
    while (ReadRecord(records)) {
    }
    return records;
  }

 private:
  void Note(Severity severity, std::string what) {
    issues_.push_back(
        {"parameter section, byte " + std::to_string(at_), severity, std::move(what)});
  }

  /// False at the end, or where reading on makes no sense.
  bool ReadRecord(Records& records) {
    if (at_ + 2 > bytes_.size()) {
      Note(Severity::kWarning, "ends without its closing record");
      return false;
    }
    const int length = std::abs(static_cast<int8_t>(bytes_[at_]));  // negative: locked
    const int id = static_cast<int8_t>(bytes_[at_ + 1]);
    if (length == 0) return false;
    const size_t next_at = at_ + 2 + static_cast<size_t>(length);
    if (next_at + 2 > bytes_.size()) {
      Note(Severity::kWarning, "a name runs beyond the section; the rest is not read");
      return false;
    }
    const std::string name = Upper(
        Readable({reinterpret_cast<const char*>(&bytes_[at_ + 2]), static_cast<size_t>(length)}));
    const size_t offset = C3dWord(&bytes_[next_at], processor_);
    const size_t body = next_at + 2;
    const size_t next = next_at + offset;
    if (id < 0) {
      C3dGroup& group = records.groups[-id];
      if (!group.name.empty() && group.name != name)
        Note(Severity::kWarning, "groups " + group.name + " and " + name + " have one id");
      group.name = name;
      group.description = Description(body);
    } else if (id > 0) {
      C3dParameter parameter;
      parameter.name = name;
      if (ReadParameter(body, parameter)) records.parameters.emplace_back(id, std::move(parameter));
    } else {
      Note(Severity::kWarning, "'" + name + "' belongs to no group and is left out");
    }
    if (offset == 0) return false;  // said to be the last
    if (next < body || next + 2 > bytes_.size()) {
      Note(Severity::kWarning, "'" + name + "' points " + std::to_string(offset) +
                                   " bytes on, outside the section; what follows is not read");
      return false;
    }
    at_ = next;
    return true;
  }

  std::string Description(size_t at) const {
    if (at >= bytes_.size()) return "";
    const size_t length = std::min<size_t>(bytes_[at], bytes_.size() - at - 1);
    return Readable({reinterpret_cast<const char*>(bytes_.data()) + at + 1, length});
  }

  bool ReadParameter(size_t at, C3dParameter& parameter) {
    const std::string& name = parameter.name;
    if (at + 2 > bytes_.size()) return false;
    const int type = static_cast<int8_t>(bytes_[at]);
    const size_t dimensions = bytes_[at + 1];
    if (type != -1 && type != 1 && type != 2 && type != 4) {
      Note(Severity::kWarning, "'" + name + "' has the unknown type " + std::to_string(type));
      return false;
    }
    parameter.type = static_cast<C3dParameter::Type>(type);
    parameter.processor = processor_;
    at += 2;
    size_t count = 1;
    for (size_t d = 0; d < dimensions; ++d, ++at) {
      if (at >= bytes_.size()) return false;
      parameter.dimensions.push_back(bytes_[at]);
      count = std::min<size_t>(count * bytes_[at], bytes_.size());
    }
    const size_t length = count * ElementBytes(parameter.type);
    if (length > bytes_.size() - at) {
      Note(Severity::kWarning, "'" + name + "' runs beyond the section and is left out");
      return false;
    }
    parameter.bytes.assign(bytes_.begin() + static_cast<std::ptrdiff_t>(at),
                           bytes_.begin() + static_cast<std::ptrdiff_t>(at + length));
    parameter.description = Description(at + length);
    return true;
  }

  std::span<const uint8_t> bytes_;
  C3dProcessor processor_;
  Issues& issues_;
  size_t at_ = 4;
};

}  // namespace

size_t C3dParameter::count() const { return bytes.size() / ElementBytes(type); }

std::vector<double> C3dParameter::Numbers(bool is_unsigned) const {
  std::vector<double> numbers;
  if (type == Type::kChar) return numbers;
  numbers.reserve(count());
  for (size_t i = 0; i < count(); ++i) {
    const uint8_t* p = &bytes[i * ElementBytes(type)];
    if (type == Type::kFloat) {
      numbers.push_back(static_cast<double>(C3dFloat(p, processor)));
    } else if (type == Type::kInt16) {
      const uint16_t word = C3dWord(p, processor);
      numbers.push_back(is_unsigned ? word : static_cast<int16_t>(word));
    } else {
      numbers.push_back(is_unsigned ? *p : static_cast<int8_t>(*p));
    }
  }
  return numbers;
}

double C3dParameter::Number(double fallback, bool is_unsigned) const {
  const std::vector<double> numbers = Numbers(is_unsigned);
  return numbers.empty() ? fallback : numbers[0];
}

std::vector<std::string> C3dParameter::Texts() const {
  std::vector<std::string> texts;
  if (type != Type::kChar || bytes.empty()) return texts;
  const size_t length = dimensions.empty() ? 1 : static_cast<size_t>(dimensions[0]);
  if (length == 0) return texts;
  for (size_t at = 0; at + length <= bytes.size(); at += length) {
    std::string_view text(reinterpret_cast<const char*>(&bytes[at]), length);
    texts.push_back(Readable(text.substr(0, text.find('\0'))));
  }
  return texts;
}

C3dParameter C3dParameter::OfTexts(std::string name, const std::vector<std::string>& texts) {
  size_t length = 1;
  for (const std::string& text : texts)
    length = std::max(length, std::min<size_t>(text.size(), 255));
  C3dParameter parameter{std::move(name), Type::kChar, {}, {}, "", C3dProcessor::kIntel};
  parameter.dimensions = {static_cast<int>(length), static_cast<int>(texts.size())};
  for (std::string text : texts) {
    text.resize(length, ' ');
    parameter.bytes.insert(parameter.bytes.end(), text.begin(), text.end());
  }
  return parameter;
}

C3dParameter C3dParameter::OfFloats(std::string name, std::vector<int> dimensions,
                                    std::span<const double> values) {
  C3dParameter parameter{std::move(name),     Type::kFloat, std::move(dimensions), {}, "",
                         C3dProcessor::kIntel};
  for (const double value : values)
    PutC3dFloat(static_cast<float>(value), C3dProcessor::kIntel, parameter.bytes);
  return parameter;
}

C3dParameter C3dParameter::OfInts(std::string name, std::vector<int> dimensions,
                                  std::span<const int> values) {
  C3dParameter parameter{std::move(name),     Type::kInt16, std::move(dimensions), {}, "",
                         C3dProcessor::kIntel};
  for (const int value : values)
    PutC3dWord(static_cast<uint16_t>(value), C3dProcessor::kIntel, parameter.bytes);
  return parameter;
}

const C3dParameter* C3dGroup::Find(std::string_view parameter) const {
  for (const C3dParameter& candidate : parameters) {
    if (SameName(candidate.name, parameter)) return &candidate;
  }
  return nullptr;
}

const C3dGroup* C3dParameters::FindGroup(std::string_view group) const {
  for (const C3dGroup& candidate : groups) {
    if (SameName(candidate.name, group)) return &candidate;
  }
  return nullptr;
}

const C3dParameter* C3dParameters::Find(std::string_view group, std::string_view parameter) const {
  const C3dGroup* found = FindGroup(group);
  return found == nullptr ? nullptr : found->Find(parameter);
}

namespace {

/// NAME, NAME2, NAME3, ... as far as they go. A part is looked for from where the last one stood:
/// files hold thousands of them, in order.
template <typename Take>
void ForEachPart(const C3dGroup* group, std::string_view name, const Take& take) {
  if (group == nullptr) return;
  const std::vector<C3dParameter>& all = group->parameters;
  size_t begin = 0;
  for (int k = 1;; ++k) {
    const std::string wanted = Numbered(name, k);
    size_t looked = 0;
    while (looked < all.size() && !SameName(all[(begin + looked) % all.size()].name, wanted))
      ++looked;
    if (looked == all.size()) return;
    const size_t found = (begin + looked) % all.size();
    take(all[found]);
    begin = found + 1;
  }
}

}  // namespace

std::vector<std::string> C3dParameters::AllTexts(std::string_view group,
                                                 std::string_view parameter) const {
  std::vector<std::string> all;
  ForEachPart(FindGroup(group), parameter, [&](const C3dParameter& part) {
    for (std::string& text : part.Texts()) all.push_back(std::move(text));
  });
  return all;
}

std::vector<double> C3dParameters::AllNumbers(std::string_view group, std::string_view parameter,
                                              bool is_unsigned) const {
  std::vector<double> all;
  ForEachPart(FindGroup(group), parameter, [&](const C3dParameter& part) {
    for (const double number : part.Numbers(is_unsigned)) all.push_back(number);
  });
  return all;
}

C3dGroup& C3dParameters::Group(std::string_view group) {
  for (C3dGroup& candidate : groups) {
    if (SameName(candidate.name, group)) return candidate;
  }
  groups.push_back({Upper(group), "", {}});
  return groups.back();
}

Result<C3dParameters> ParseC3dParameters(std::span<const uint8_t> bytes, size_t max_blocks,
                                         Issues& issues) {
  if (bytes.size() < kC3dBlock)
    return Error{ErrorCode::kCorrupt, "the parameter section lies beyond the end of the file"};
  const int processor = bytes[3];
  if (processor < 84 || processor > 86) {
    return Error{ErrorCode::kCorrupt, "the parameter section names processor " +
                                          std::to_string(processor) +
                                          "; C3D knows 84 (Intel), 85 (DEC) and 86 (MIPS)"};
  }
  C3dParameters parameters;
  parameters.processor = static_cast<C3dProcessor>(processor);
  // The section's own count of blocks is sometimes too small: where the data begin counts too.
  const size_t blocks = std::max<size_t>({bytes[2], max_blocks, 1});
  bytes = bytes.first(std::min(bytes.size(), blocks * size_t{kC3dBlock}));
  Records records = SectionReader(bytes, parameters.processor, issues).Read();
  std::map<int, size_t> places;
  for (auto& [id, group] : records.groups) {
    places[id] = parameters.groups.size();
    parameters.groups.push_back(std::move(group));
  }
  std::map<int, std::string> homeless;
  for (auto& [id, parameter] : records.parameters) {
    const auto place = places.find(id);
    if (place == places.end()) {
      homeless[id] += (homeless[id].empty() ? "" : ", ") + parameter.name;
      continue;
    }
    parameters.groups[place->second].parameters.push_back(std::move(parameter));
  }
  for (const auto& [id, names] : homeless)
    issues.push_back({"parameter section", Severity::kWarning,
                      "there is no group " + std::to_string(id) + "; left out: " + names});
  return parameters;
}

Result<std::vector<uint8_t>> WriteC3dParameters(const C3dParameters& parameters) {
  constexpr C3dProcessor kOurs = C3dProcessor::kIntel;
  std::vector<uint8_t> out = {1, 0x50, 0, static_cast<uint8_t>(kOurs)};
  const auto put_text = [&](std::string_view text) {
    out.insert(out.end(), text.begin(), text.end());
  };
  const auto begin_record = [&](std::string_view name, int id) {
    out.push_back(static_cast<uint8_t>(name.size()));
    out.push_back(static_cast<uint8_t>(id));
    put_text(name);
  };
  int id = 0;
  for (const C3dGroup& group : parameters.groups) {
    if (++id > 127 || group.name.size() > 127)
      return Error{ErrorCode::kUnsupported, "C3D holds at most 127 groups, with short names"};
    const std::string_view about = std::string_view(group.description).substr(0, 255);
    begin_record(group.name, -id);
    PutC3dWord(static_cast<uint16_t>(3 + about.size()), kOurs, out);
    out.push_back(static_cast<uint8_t>(about.size()));
    put_text(about);
    for (const C3dParameter& parameter : group.parameters) {
      CHECK(parameter.processor == kOurs);
      const std::string_view text = std::string_view(parameter.description).substr(0, 255);
      const size_t length = 5 + parameter.dimensions.size() + parameter.bytes.size() + text.size();
      const bool fits = std::all_of(parameter.dimensions.begin(), parameter.dimensions.end(),
                                    [](int d) { return d >= 0 && d <= 255; });
      if (!fits || length > 65'535 || parameter.dimensions.size() > 7 ||
          parameter.name.size() > 127)
        return Error{ErrorCode::kUnsupported,
                     group.name + ":" + parameter.name + " is larger than a C3D parameter can be"};
      begin_record(parameter.name, id);
      PutC3dWord(static_cast<uint16_t>(length), kOurs, out);
      out.push_back(static_cast<uint8_t>(parameter.type));
      out.push_back(static_cast<uint8_t>(parameter.dimensions.size()));
      for (const int d : parameter.dimensions) out.push_back(static_cast<uint8_t>(d));
      out.insert(out.end(), parameter.bytes.begin(), parameter.bytes.end());
      out.push_back(static_cast<uint8_t>(text.size()));
      put_text(text);
    }
  }
  out.resize((out.size() + 2 + kC3dBlock - 1) / kC3dBlock * kC3dBlock);  // 2: the closing record,
                                                                         // zero
  if (out.size() / kC3dBlock > 255)
    return Error{ErrorCode::kUnsupported,
                 "the parameters need " + std::to_string(out.size() / kC3dBlock) +
                     " blocks of 512 bytes; C3D holds at most 255: export fewer streams"};
  out[2] = static_cast<uint8_t>(out.size() / kC3dBlock);
  return out;
}

}  // namespace handhold::exchange
