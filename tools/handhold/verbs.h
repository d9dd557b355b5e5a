/// Every verb of the program. To add one, see verb.h; here and in verbs.cc it is one line each.
#pragma once

#include "database/store/library.h"
#include "tools/handhold/frame/run.h"
#include "tools/handhold/verb.h"

namespace handhold::cli {

Verb LibraryCreateVerb();     // library.cc
Verb LibraryInfoVerb();       // library.cc
Verb LibraryCheckVerb();      // library.cc
Verb LibraryRebuildVerb();    // library.cc
Verb ClipListVerb();          // clip.cc
Verb ClipShowVerb();          // clip.cc
Verb ClipImportVerb();        // clip_import.cc
Verb ClipExportVerb();        // clip_export.cc
Verb ClipTagVerb();           // clip.cc
Verb ClipRateVerb();          // clip.cc
Verb FitSkeletonVerb();       // fit_skeleton.cc
Verb FitPoseVerb();           // fit_pose.cc
Verb FitContactVerb();        // fit_contact.cc
Verb FitComplianceVerb();     // fit_compliance.cc
Verb SynthInteractionVerb();  // synth_interaction.cc
Verb ArtefactListVerb();      // artefact.cc
Verb ArtefactShowVerb();      // artefact.cc
Verb ArtefactLineageVerb();   // artefact.cc
Verb ArtefactExportVerb();    // artefact.cc
Verb CompletionVerb();        // completion.cc
Verb CompleteVerb();          // completion.cc
Verb LabMakeVerb();           // lab_make.cc
Verb LiveCheckVerb();         // live_check.cc
Verb LiveRecordVerb();        // live_record.cc
Verb LiveMonitorVerb();       // live_monitor.cc
Verb LiveSimulateVerb();      // live_simulate.cc
Verb QueryVerb();             // query.cc
Verb ReferenceVerb();         // reference.cc
Verb SqlVerb();               // sql.cc
Verb ReportVerb();            // report.cc
Verb VersionVerb();           // version.cc

/// Warns of what could not be catalogued, so that no list without it passes for the whole.
Status WarnOfProblems(const store::Library& library);

/// The verbs in the order in which help shows them, the version, and the start checks.
Program HandholdProgram();
/// What must hold before a verb touches a library: an SQLite that does not corrupt it.
/// `sqlite_version`: as sqlite3_libversion_number() gives it; tests give others.
std::vector<std::function<Status()>> StartChecks(int sqlite_version);

}  // namespace handhold::cli
