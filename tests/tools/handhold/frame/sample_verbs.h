/// A small set of verbs that has one of everything the frame knows, for its tests.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "tools/handhold/verb.h"

namespace handhold::cli {

inline std::vector<Verb> SampleVerbs() {
  const auto done = [](Context&) { return Outcome::Done(); };
  return {
      {.noun = "clip",
       .name = "list",
       .summary = "list the clips of a library",
       .examples = {"handhold clip list --library lab"},
       .options = {LibraryOption(),
                   {.name = "--limit",
                    .value_name = "N",
                    .help = "at most so many",
                    .kind = ValueKind::kInteger,
                    .fallback = "50"}},
       .headline = true,
       .run = done},
      {.noun = "clip",
       .name = "import",
       .summary = "add recordings of other programs",
       .examples = {"handhold clip import walk.c3d"},
       .positionals =
           {{.name = "SUBJECT"},
            {.name = "FILE", .help = "what to import", .repeated = true, .kind = ValueKind::kPath}},
       .options = {{.name = "--tag", .value_name = "TAG", .help = "a tag", .repeated = true},
                   {.name = "--reader",
                    .value_name = "READER",
                    .help = "who reads",
                    .kind = ValueKind::kChoice,
                    .choices = {"own", "ezc3d"},
                    .fallback = "own"},
                   {.name = "--quantum",
                    .value_name = "M",
                    .help = "of markers",
                    .kind = ValueKind::kNumber},
                   {.name = "--start",
                    .value_name = "TIME",
                    .help = "where to begin",
                    .kind = ValueKind::kDuration},
                   {.name = "--share",
                    .value_name = "X",
                    .help = "how much",
                    .kind = ValueKind::kNumber,
                    .range = {.least = 0, .most = 0.5}},
                   {.name = "--jobs",
                    .value_name = "N",
                    .help = "at once",
                    .kind = ValueKind::kInteger,
                    .fallback = "2",
                    .range = {.least = 1}},
                   {.name = "--wait",
                    .value_name = "TIME",
                    .help = "how long",
                    .kind = ValueKind::kDuration,
                    .range = {.least = 0, .most = 3600, .above = true, .unit = " s"}}},
       .writes = true,
       .run = done},
      {.noun = "query",
       .summary = "ask the library",
       .examples = {"handhold query 'peak(normal_force) > 5 N'"},
       .positionals = {{.name = "QUERY", .required = false}},
       .headline = true,
       .run = done},
      {.noun = "live",
       .name = "record",
       .summary = "record a take",
       .examples = {"handhold live record --rig demo"},
       .options = {{.name = "--rig",
                    .value_name = "FILE",
                    .help = "the rig",
                    .kind = ValueKind::kPath,
                    .required = true}},
       .writes = true,
       .handles_interrupt = true,
       .run = done},
      {.noun = "__secret",
       .summary = "hidden",
       .examples = {"handhold __secret"},
       .hidden = true,
       .run = done},
  };
}

/// A file in memory; Text() is what was written so far.
class MemoryFile {
 public:
  MemoryFile() : file_(open_memstream(&data_, &size_)) {}
  ~MemoryFile() {
    fclose(file_);
    free(data_);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  FILE* get() { return file_; }
  std::string Text() {
    fflush(file_);
    return {data_, size_};
  }

 private:
  char* data_ = nullptr;
  size_t size_ = 0;
  FILE* file_;
};

}  // namespace handhold::cli
