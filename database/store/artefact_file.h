/// Derived results on disk: `derived/<hash>.art`, written once, addressed by what they were made
/// from.
///
/// The container is the clip's (clip_writer.h): the same codecs, checksums, reader and checks. What
/// a result holds beside matrices is JSON; matrices are documents in the lossless column codec, so
/// that every bit comes back (NaN stays NaN).
#pragma once

#include <memory>
#include <string>

#include "database/artefact/kind.h"
#include "database/artefact/provenance.h"
#include "database/base/result.h"
#include "database/store/clip_reader.h"

namespace handhold::store {

/// Any other result that is JSON: a fitted skeleton (kind "skeleton"), a report.
struct JsonArtefact {
  artefact::Provenance provenance;
  std::string kind;  ///< "skeleton"
  std::string json;
};

/// The artefact's name: SHA-256, hex, of the canonical JSON of step, version, inputs (role and
/// hash, in order) and parameters. What told of it (made_utc, tool, names of inputs) is not hashed.
/// kInvalid when parameters_json is no JSON.
Result<std::string> ArtefactHash(const artefact::Provenance& provenance);

/// Structs of database/artefact/kind.h.
template <typename T>
concept ArtefactStruct = requires { artefact::KindOf<T>::name; };

/// Writes `<folder>/<hash>.art` unless it is there already, and answers the hash. Whole or not at
/// all.
template <ArtefactStruct T>
Result<std::string> SaveArtefact(const std::string& folder, const T& value);
Result<std::string> SaveArtefact(const std::string& folder, const JsonArtefact& value);
/// Derived streams (filled, filtered): a clip whose streams carry origins and made_by.
Result<std::string> SaveArtefact(const std::string& folder, const artefact::Provenance& provenance,
                                 const recording::ClipSource& streams);

/// kInvalid when the file holds another kind, naming both; kCorrupt when it is damaged, or not
/// named by what it was made from (files that were exchanged). Where the file is damaged or gone,
/// the message says what makes it again.
template <ArtefactStruct T>
Result<T> Load(const std::string& path);
Result<JsonArtefact> LoadJsonArtefact(const std::string& path);
/// Derived streams are read with ClipReader.

/// What a file says of itself, without its content.
struct ArtefactInfo {
  std::string hash;
  std::string kind;  ///< of database/artefact/kind.h ("pose_track", "streams"), or a
                     ///< JsonArtefact's
  artefact::Provenance provenance;
};
/// `expected`: what it should have been made by, where that is known, for the message of an error.
Result<ArtefactInfo> ReadArtefactInfo(const std::string& path,
                                      const artefact::Provenance& expected = {});

/// The command that makes a result of `step` again, as a message names it; `clip` may be empty.
std::string MadeAgainBy(const std::string& step, const std::string& clip);

}  // namespace handhold::store
