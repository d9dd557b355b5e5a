/// Every verb of the program. To add one, see verb.h; here and in verbs.cc it is one line each.
#pragma once

#include "database/store/library.h"
#include "database/store/query.h"
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
Verb ClipTagVerb();           // clip_say.cc
Verb ClipRateVerb();          // clip_say.cc
Verb ClipLabelVerb();         // clip_label.cc
Verb ClipNoteVerb();          // clip_say.cc
Verb ClipRenameVerb();        // clip_say.cc
Verb ClipCorrectVerb();       // clip_say.cc
Verb ClipWithdrawVerb();      // clip_say.cc
Verb FitSkeletonVerb();       // fit_skeleton.cc
Verb FitPoseVerb();           // fit_pose.cc
Verb FitContactVerb();        // fit_contact.cc
Verb FitComplianceVerb();     // fit_compliance.cc
Verb FitGraspSpaceVerb();     // fit_grasp_space.cc
Verb SynthGraspVerb();        // synth_grasp.cc
Verb SynthReferenceVerb();    // synth_reference.cc
Verb SynthInteractionVerb();  // synth_interaction.cc
Verb SynthControlVerb();      // synth_control.cc
Verb ArtefactListVerb();      // artefact.cc
Verb ArtefactShowVerb();      // artefact.cc
Verb ArtefactLineageVerb();   // artefact.cc
Verb ArtefactExportVerb();    // artefact.cc
Verb ArtefactRecipeVerb();    // run_recipe.cc
Verb CompletionVerb();        // completion.cc
Verb CompleteVerb();          // completion.cc
Verb LabMakeVerb();           // lab_make.cc
Verb LabReportVerb();         // lab_report.cc
Verb LiveCheckVerb();         // live_check.cc
Verb LiveRecordVerb();        // live_record.cc
Verb LiveMonitorVerb();       // live_monitor.cc
Verb LiveSimulateVerb();      // live_simulate.cc
Verb QueryVerb();             // query.cc
Verb ReferenceVerb();         // reference.cc
Verb RunVerb();               // run_recipe.cc
Verb RegraspVerb();           // regrasp.cc
Verb EvaluateVerb();          // evaluate.cc
Verb SqlVerb();               // sql.cc
Verb ReportVerb();            // report.cc
Verb ShowVerb();              // show.cc
Verb ViewVerb();              // view.cc
Verb VersionVerb();           // version.cc

/// Warns of what could not be catalogued, so that no list without it passes for the whole.
Status WarnOfProblems(const store::Library& library);

/// "0 of N clips", and of what no clip has the nearest that one has, on stderr.
void NoteNothingFound(Context& context, const store::QueryResult& found);

/// A word where a pseudonym belongs that looks like a person's name ("Ana", "Ana Kovac"; not "S03",
/// "left_hand"): on a terminal it is asked about, and kCancelled unless the answer is yes;
/// elsewhere a warning is logged. Nothing else passes.
Status AskAboutName(Context& context, const std::string& word);
bool LooksLikeAName(std::string_view word);

/// The verbs in the order in which help shows them, the version, and the start checks.
Program HandholdProgram();
/// What must hold before a verb touches a library: an SQLite that does not corrupt it.
/// `sqlite_version`: as sqlite3_libversion_number() gives it; tests give others.
std::vector<std::function<Status()>> StartChecks(int sqlite_version);

}  // namespace handhold::cli
