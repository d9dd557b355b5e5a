/// Addresses from what a person wrote, however long the network's name server takes.
#pragma once

#include <string>
#include <string_view>

#include "capture/wire/socket.h"
#include "database/base/result.h"
#include "database/base/time.h"

namespace handhold::capture::wire {

/// IPv4 of a host's name; may take as long as it likes.
using NameLookup = Result<uint32_t> (*)(const std::string& host);

/// By the machine's resolver.
Result<uint32_t> AskResolver(const std::string& host);

/// "host", "host:port", "192.168.1.1:801". Returns by `deadline`, and within 20 ms once the
/// thread's CancelFlag is set: a name is looked up in a thread of its own, one a name however often
/// it is asked for, which is left behind. Never on the sample path. The error names the text and
/// what is wrong with it; kTimeout: nobody has answered yet, asking again takes the answer up.
Result<Address> Resolve(std::string_view text, uint16_t default_port, Timestamp deadline,
                        NameLookup lookup = AskResolver);

}  // namespace handhold::capture::wire
