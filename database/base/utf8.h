/// UTF-8 checked one code point at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace handhold {

/// Length in bytes (1-4) of the well-formed code point that begins at `at`, or 0 when there is none
/// there: overlong forms, surrogates, values beyond U+10FFFF and truncated sequences are not
/// well-formed. Precondition: at < text.size().
size_t Utf8Length(std::string_view text, size_t at);

bool IsUtf8(std::string_view text);

/// Text for a terminal, as one line: control characters (C0, DEL and C1) and what is not UTF-8
/// become \x1b and the like, so that a foreign name cannot move the cursor, clear the screen or end
/// a line.
std::string Printable(std::string_view text);

/// Appends the code point. Precondition: code_point <= 0x10FFFF and not a surrogate.
void AppendUtf8(uint32_t code_point, std::string& out);

}  // namespace handhold
