// Every outcome of a verb: its exit code, what goes to which stream, and that results are flushed
// first.
#include "tools/handhold/frame/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

#include "database/base/log.h"
#include "database/base/time.h"
#include "tests/tools/handhold/frame/sample_verbs.h"
#include "tools/handhold/frame/interrupt.h"

namespace handhold::cli::run_test {
namespace {

using ::testing::HasSubstr;

struct Ran {
  int code;
  std::string out, err;
};

Ran RunProgram(const Program& program, const std::vector<std::string>& words, bool colour = false) {
  MemoryFile out, err;
  const int code =
      Run(program, words,
          {.out = out.get(), .err = err.get(), .out_colour = colour, .err_colour = colour});
  return {code, out.Text(), err.Text()};
}

/// A program whose only verb, "try", prints one row and then runs `run`.
Program Trying(std::function<Outcome(Context&)> run) {
  Verb verb{.noun = "try", .summary = "try", .examples = {"handhold try"}, .writes = true};
  verb.run = [run](Context& context) {
    context.printer.PrintRecord({{{.name = "n"}, 1}});
    return run(context);
  };
  return {.verbs = {verb}, .version = "1.2.3", .start_checks = {}};
}

TEST(Run, OutcomesMapToTheDocumentedExitCodes) {
  const auto code = [](Outcome outcome) {
    return RunProgram(Trying([=](Context&) { return outcome; }), {"try"}).code;
  };
  EXPECT_EQ(code(Outcome::Done()), 0);
  EXPECT_EQ(code(Error{ErrorCode::kNotFound, "x"}), 1);
  EXPECT_EQ(code(Error{ErrorCode::kInvalid, "x"}), 1) << "a bad file is a failure, not bad usage";
  EXPECT_EQ(code(Outcome::Usage("x")), 2);
  EXPECT_EQ(code(Outcome::Loss("x")), 3);
  EXPECT_EQ(code(Error{ErrorCode::kCancelled, "x"}), 130);
}

TEST(Run, ResultsGoToStdoutAndAllElseToStderr) {
  const Ran failed = RunProgram(Trying([](Context& context) -> Outcome {
                                  context.progress.Note("a note");
                                  return Error{ErrorCode::kNotFound,
                                               "no clip 'a1'\nhandhold clip list shows them"};
                                }),
                                {"try"});
  EXPECT_EQ(failed.out, "n  1\n");
  EXPECT_EQ(failed.err, "a note\nhandhold: error: no clip 'a1'\n  handhold clip list shows them\n");
  const Ran usage =
      RunProgram(Trying([](Context&) { return Outcome::Usage("--a excludes --b"); }), {"try"});
  EXPECT_EQ(usage.err, "handhold: error: --a excludes --b\nSee: handhold help try\n");
  EXPECT_THAT(
      RunProgram(Trying([](Context&) { return Outcome::Loss("3 datagrams lost"); }), {"try"}).err,
      HasSubstr("handhold: finished with loss: 3 datagrams lost"));
}

TEST(Run, IssuesAreAllSaidAndOnlyLossCosts) {
  const Ran fine =
      RunProgram(Trying([](Context&) {
                   return Outcome::FromIssues({{"POINT", Severity::kWarning, "guessed"}});
                 }),
                 {"try"});
  EXPECT_EQ(fine.code, 0);
  EXPECT_EQ(fine.err, "handhold: note: warning: POINT: guessed\n");
  const Ran loss =
      RunProgram(Trying([](Context&) {
                   return Outcome::FromIssues({{"POINT", Severity::kWarning, "guessed"},
                                               {"frame 7", Severity::kLoss, "truncated"}});
                 }),
                 {"try"});
  EXPECT_EQ(loss.code, 3);
  EXPECT_THAT(loss.err, HasSubstr("warning: POINT: guessed\n  loss: frame 7: truncated"));
  EXPECT_EQ(RunProgram(Trying([](Context&) { return Outcome::FromIssues({}); }), {"try"}).err, "");
}

TEST(Run, AnErrorOfAStepBecomesTheOutcome) {
  const auto step = [](bool good) -> Result<int> {
    if (good) return 1;
    return Error{ErrorCode::kBusy, "held by process 7"};
  };
  const Ran ran = RunProgram(Trying([&](Context&) -> Outcome {
                               HANDHOLD_ASSIGN(const int one, step(true));
                               EXPECT_EQ(one, 1);
                               HANDHOLD_TRY(step(false));
                               return Outcome::Done();
                             }),
                             {"try"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("held by process 7"));
}

TEST(Run, ForeignExceptionsEndAsErrors) {
  const Ran ran = RunProgram(
      Trying([](Context&) -> Outcome { throw std::runtime_error("from a library"); }), {"try"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("a bug of this program: from a library"));
}

TEST(Run, AFailedStartCheckStopsVerbsButNotHelp) {
  bool ran = false;
  Program program = Trying([&](Context&) {
    ran = true;
    return Outcome::Done();
  });
  program.start_checks = {[]() -> Status {
    return Error{ErrorCode::kVersion, "SQLite 3.40.1 is older than 3.51.3: run tools/setup"};
  }};
  const Ran refused = RunProgram(program, {"try"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_EQ(refused.out, "");
  EXPECT_THAT(refused.err, HasSubstr("SQLite 3.40.1 is older"));
  EXPECT_FALSE(ran);
  EXPECT_EQ(RunProgram(program, {"help", "try"}).code, 0);
  program.verbs[0].needs_library = false;
  EXPECT_EQ(RunProgram(program, {"try"}).code, 0);
}

TEST(Run, DryRunReachesTheVerb) {
  const auto dry = [](const std::vector<std::string>& words) {
    bool seen = false;
    RunProgram(Trying([&](Context& context) {
                 seen = context.dry_run;
                 return Outcome::Done();
               }),
               words);
    return seen;
  };
  EXPECT_FALSE(dry({"try"}));
  EXPECT_TRUE(dry({"try", "--dry-run"}));
}

TEST(Run, VerbositySetsTheLogLevel) {
  const auto level = [](const std::vector<std::string>& words) {
    RunProgram(Trying([](Context&) { return Outcome::Done(); }), words);
    return log_level();
  };
  EXPECT_EQ(level({"try", "-q"}), LogLevel::kError);
  EXPECT_EQ(level({"try", "-v"}), LogLevel::kInfo);
  EXPECT_EQ(level({"try", "-vv"}), LogLevel::kDebug);
  EXPECT_EQ(level({"try"}), LogLevel::kWarning);
}

TEST(Run, ColourOnlyOnATerminal) {
  const Program program = Trying([](Context&) { return Outcome::Usage("x"); });
  EXPECT_EQ(RunProgram(program, {"try"}).err.find('\x1b'), std::string::npos);
  EXPECT_THAT(RunProgram(program, {"try"}, true).err, HasSubstr("\x1b[1;31merror\x1b[0m"));
}

/// Runs the verb in a child, sends the signal once it says that it runs, and returns wait's status.
int StatusAfterSignal(bool handles, int signal_number, const std::function<Outcome()>& after) {
  int ready[2];
  EXPECT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGHUP, SIG_DFL);  // also under nohup
    Verb verb{.noun = "wait", .summary = "wait", .handles_interrupt = handles};
    verb.run = [&](Context& context) {
      EXPECT_EQ(write(ready[1], "r", 1), 1);
      while (!context.interrupted())
        usleep(1000);  // not pause(): a signal between the question and it would be lost
      return after();
    };
    const Program program{.verbs = {verb}, .version = "", .start_checks = {}};
    _exit(Run(program, std::vector<std::string>{"wait"}, {}));
  }
  char byte;
  EXPECT_EQ(read(ready[0], &byte, 1), 1);
  kill(child, signal_number);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

TEST(Interrupt, AVerbThatHandlesItEndsInOrder) {
  const int cancelled = StatusAfterSignal(
      true, SIGINT, [] { return Outcome(Error{ErrorCode::kCancelled, "stopped"}); });
  ASSERT_TRUE(WIFEXITED(cancelled));
  EXPECT_EQ(WEXITSTATUS(cancelled), 130);
  const int stored = StatusAfterSignal(true, SIGTERM, [] { return Outcome::Done(); });
  ASSERT_TRUE(WIFEXITED(stored));
  EXPECT_EQ(WEXITSTATUS(stored), 0) << "Ctrl-C is how a recording is stopped: the take is stored";
}

TEST(Interrupt, WhatComesTwiceWhileItStoresDoesNotKill) {
  for (const int number : {SIGHUP, SIGTERM, SIGINT}) {
    const int status = StatusAfterSignal(true, number, [number] {
      raise(number);  // as the kernel and the shell of a closed window, timeout, a double press
      raise(number);
      raise(SIGTERM);
      return Outcome::Done();
    });
    ASSERT_TRUE(WIFEXITED(status)) << number;
    EXPECT_EQ(WEXITSTATUS(status), 0) << number;
  }
}

TEST(Interrupt, CtrlCPressedOnAndOnEndsItAfterAWarning) {
  const auto press = [](int further) {
    return [further] {
      for (int i = 0; i < further; ++i) {
        // The handler's second passes by the clock that it reads.
        for (const Timestamp end = HostNow() + Duration::Milliseconds(1050); HostNow() < end;)
          usleep(10'000);
        raise(SIGINT);
      }
      return Outcome::Done();
    };
  };
  EXPECT_TRUE(WIFEXITED(StatusAfterSignal(true, SIGINT, press(1)))) << "only said";
  const int status = StatusAfterSignal(true, SIGINT, press(2));
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGINT);
}

TEST(Interrupt, AnyOtherVerbDiesOfIt) {
  const int status = StatusAfterSignal(false, SIGINT, [] { return Outcome::Done(); });
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGINT) << "a shell calls this 130";
}

// A name out of a foreign file must not clear the screen, and a second line stays indented.
TEST(Run, ErrorsNameForeignTextWithoutItsControls) {
  for (const bool usage : {false, true}) {
    const std::string text =
        "a\x1b[2J\r\x07"
        "b\xC2\x9B\xFF \xC3\xBC\nnext";
    const Ran ran = RunProgram(Trying([=](Context&) -> Outcome {
                                 if (usage) return Outcome::Usage(text);
                                 return Error{ErrorCode::kInvalid, text};
                               }),
                               {"try"});
    EXPECT_THAT(ran.err, HasSubstr("error: a\\x1b[2J\\x0d\\x07b\\xc2\\xff \xC3\xBC\n  next\n"));
  }
  const Ran word = RunProgram(Trying([](Context&) { return Outcome::Done(); }), {"tr\x1b[2Jy"});
  EXPECT_EQ(word.err.find('\x1b'), std::string::npos) << word.err;
}

}  // namespace
}  // namespace handhold::cli::run_test
