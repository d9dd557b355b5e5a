/// Words as a shell takes them: what a message asks people to paste.
#pragma once

#include <string>
#include <string_view>

namespace handhold {

/// `word` as one word of a POSIX shell: itself where nothing in it means anything to the shell,
/// else in single quotes. A name that begins with '-' stays one: options go before it.
std::string ShellWord(std::string_view word);

}  // namespace handhold
