/// Ctrl-C and SIGTERM as a flag that a running verb looks at.
#pragma once

namespace handhold::cli {

/// From now on the first SIGINT or SIGTERM sets the flag, and a second one ends the program.
void CatchInterrupts();
/// True after the first. Any thread.
bool Interrupted();

}  // namespace handhold::cli
