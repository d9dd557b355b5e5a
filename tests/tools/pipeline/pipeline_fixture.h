/// A small library for tests of the pipeline and its verbs: one short take of the virtual subject.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "database/store/clip_writer.h"
#include "database/store/library.h"
#include "tests/database/store/clip_fixture.h"
#include "tools/lab/subject.h"

namespace handhold::testing {

/// 8 s: some motion, two strokes in the air, `exploring` on the plate. No counterfactuals.
inline lab::SensorFeed ShortFeed(int exploring = 1) {
  lab::SubjectOptions options;
  options.seed = 3;
  options.plan = lab::Plan::OneStroke();
  options.plan.exploring_strokes = exploring;
  options.counterfactual_friction = {};
  options.bump = false;
  auto subject = lab::MakeSubject(options);
  EXPECT_TRUE(subject) << subject.error().message;
  return std::move(subject->feed);
}

/// Writes the clip into the library under `name` and catalogues it; answers its id.
inline std::string Keep(store::Library& library, recording::Clip clip, const std::string& name) {
  clip.mutable_info().id = ClipId::New();
  clip.mutable_info().name = name;
  const ClipId id = clip.info().id;
  const Status written = store::WriteClip(clip, library.ClipPath(id), {});
  EXPECT_TRUE(written) << written.error().message;
  const Status indexed = library.Index(id);
  EXPECT_TRUE(indexed) << indexed.error().message;
  return id.ToString();
}

}  // namespace handhold::testing
