/// The parameter section of a C3D file: groups of named arrays, read as far as they make sense and
/// written back.
///
/// Rules: c3d.org's guide, with the deviations met in the wild (reference/formats.md 2.1). Names
/// are compared without case. Nothing here trusts a length: every array lies within the section or
/// is reported and left out.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "database/base/issue.h"
#include "database/base/result.h"
#include "database/exchange/c3d_number.h"

namespace handhold::exchange {

/// One array. Values are kept as bytes in the file's own order and converted when asked for,
/// because what a parameter is (signed, unsigned, integer, float) depends on who asks.
struct C3dParameter {
  enum class Type : int8_t { kChar = -1, kByte = 1, kInt16 = 2, kFloat = 4 };

  std::string name;  ///< upper case
  Type type = Type::kInt16;
  std::vector<int> dimensions;  ///< fastest first; empty: one value
  std::vector<uint8_t> bytes;
  std::string description;
  C3dProcessor processor = C3dProcessor::kIntel;

  /// Values in the array (of characters: characters).
  size_t count() const;
  /// As numbers; characters give none. `is_unsigned`: int16 and bytes count from 0 up.
  std::vector<double> Numbers(bool is_unsigned = false) const;
  /// The first number, or `fallback`.
  double Number(double fallback, bool is_unsigned = false) const;
  /// Characters: one string per row of the first dimension, trailing blanks and zeros removed,
  /// Latin-1 turned into UTF-8 where it is not UTF-8 already. Numbers give none.
  std::vector<std::string> Texts() const;

  static C3dParameter OfTexts(std::string name, const std::vector<std::string>& texts);
  static C3dParameter OfFloats(std::string name, std::vector<int> dimensions,
                               std::span<const double> values);
  static C3dParameter OfInts(std::string name, std::vector<int> dimensions,
                             std::span<const int> values);
};

struct C3dGroup {
  std::string name;  ///< upper case
  std::string description;
  std::vector<C3dParameter> parameters;

  const C3dParameter* Find(std::string_view parameter) const;
};

struct C3dParameters {
  C3dProcessor processor = C3dProcessor::kIntel;
  std::vector<C3dGroup> groups;

  const C3dGroup* FindGroup(std::string_view group) const;
  /// Null when there is no such group or parameter.
  const C3dParameter* Find(std::string_view group, std::string_view parameter) const;
  /// The texts of NAME, NAME2, NAME3, ... in order: how C3D holds more than 255 labels.
  std::vector<std::string> AllTexts(std::string_view group, std::string_view parameter) const;
  std::vector<double> AllNumbers(std::string_view group, std::string_view parameter,
                                 bool is_unsigned = false) const;
  /// Adds the group where it is new.
  C3dGroup& Group(std::string_view group);
};

/// Reads a section, which begins with its four bytes of header. kCorrupt when the processor byte is
/// none of the three; everything else that is wrong becomes an issue. `bytes` may reach beyond the
/// section, which has as many blocks as it says itself, or `max_blocks` if that is more (the blocks
/// up to the data).
Result<C3dParameters> ParseC3dParameters(std::span<const uint8_t> bytes, size_t max_blocks,
                                         Issues& issues);

/// The section in Intel order, padded to whole blocks of 512 bytes. kUnsupported when it does not
/// fit 255 blocks or an array has a dimension beyond 255.
Result<std::vector<uint8_t>> WriteC3dParameters(const C3dParameters& parameters);

}  // namespace handhold::exchange
