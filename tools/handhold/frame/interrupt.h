/// Ctrl-C, SIGTERM and a terminal that hangs up as a flag that a running verb looks at.
#pragma once

namespace handhold::cli {

/// From now on the first SIGINT, SIGTERM or SIGHUP (unless that is ignored: nohup) sets the flag,
/// and a second one ends the program.
void CatchInterrupts();
/// True after the first. Any thread.
bool Interrupted();

}  // namespace handhold::cli
