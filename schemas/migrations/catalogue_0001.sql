-- A cache of clips/, derived/ and ledger.db: deleting it costs a scan (schemas/README.md, "Catalogue").
CREATE TABLE library(key TEXT NOT NULL PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE clip(
  clip INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  path TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  subject TEXT NOT NULL,
  session TEXT NOT NULL,
  task TEXT NOT NULL,
  prop TEXT NOT NULL,
  take INTEGER NOT NULL,
  utc_start_ns INTEGER NOT NULL,
  duration_ns INTEGER NOT NULL,
  closed INTEGER NOT NULL,
  keep INTEGER NOT NULL,
  red_count INTEGER NOT NULL,
  gap_count INTEGER NOT NULL,
  lost_samples INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  mtime_ns INTEGER NOT NULL,
  indexer INTEGER NOT NULL) STRICT;
CREATE INDEX clip_task ON clip(task, subject);
CREATE INDEX clip_subject ON clip(subject, task);
CREATE INDEX clip_prop ON clip(prop);
CREATE INDEX clip_time ON clip(utc_start_ns);
CREATE INDEX clip_name ON clip(name);
CREATE TABLE clip_property(
  clip INTEGER NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY(clip, key)) STRICT, WITHOUT ROWID;
CREATE TABLE clip_stream(
  clip INTEGER NOT NULL,
  stream INTEGER NOT NULL,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  device TEXT NOT NULL,
  rate_hz REAL,
  channels INTEGER NOT NULL,
  samples INTEGER NOT NULL,
  t_begin_ns INTEGER NOT NULL,
  t_end_ns INTEGER NOT NULL,
  PRIMARY KEY(clip, stream)) STRICT, WITHOUT ROWID;
CREATE TABLE clip_channel(
  clip INTEGER NOT NULL,
  stream INTEGER NOT NULL,
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  unit TEXT NOT NULL,
  PRIMARY KEY(clip, stream, position)) STRICT, WITHOUT ROWID;
CREATE INDEX clip_channel_name ON clip_channel(name, clip);
CREATE TABLE clip_quality(
  clip INTEGER NOT NULL,
  position INTEGER NOT NULL,
  stream TEXT NOT NULL,
  what TEXT NOT NULL,
  value REAL,
  worst REAL,
  threshold REAL,
  red INTEGER NOT NULL,
  acknowledged INTEGER NOT NULL,
  PRIMARY KEY(clip, position)) STRICT, WITHOUT ROWID;
CREATE INDEX clip_quality_what ON clip_quality(what, worst);
CREATE TABLE feature(
  clip INTEGER NOT NULL,
  stream INTEGER NOT NULL,
  channel TEXT NOT NULL,
  name TEXT NOT NULL,
  value REAL,
  t_ns INTEGER NOT NULL,
  PRIMARY KEY(clip, stream, channel, name)) STRICT, WITHOUT ROWID;
CREATE INDEX feature_value ON feature(name, channel, value);
CREATE TABLE clip_zone(
  clip INTEGER NOT NULL,
  stream INTEGER NOT NULL,
  sensor TEXT NOT NULL,
  data BLOB NOT NULL,
  PRIMARY KEY(clip, stream, sensor)) STRICT, WITHOUT ROWID;
CREATE TABLE event(
  clip INTEGER NOT NULL,
  t_ns INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  length_ns INTEGER NOT NULL,
  kind TEXT NOT NULL,
  origin TEXT NOT NULL,
  stream INTEGER NOT NULL,
  value REAL,
  text TEXT NOT NULL,
  PRIMARY KEY(clip, t_ns, sequence)) STRICT, WITHOUT ROWID;
CREATE INDEX event_kind ON event(kind, clip, t_ns);
CREATE TABLE note(
  note INTEGER PRIMARY KEY,
  clip INTEGER NOT NULL,
  source TEXT NOT NULL,
  text TEXT NOT NULL) STRICT;
CREATE INDEX note_clip ON note(clip);
CREATE VIRTUAL TABLE note_text USING fts5(text, content='note', content_rowid='note');
CREATE TABLE tag(
  clip INTEGER NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  value ANY,
  author TEXT NOT NULL,
  utc_ns INTEGER NOT NULL,
  t_begin_ns INTEGER NOT NULL,
  t_end_ns INTEGER NOT NULL,
  PRIMARY KEY(clip, kind, name, t_begin_ns, t_end_ns, author)) STRICT, WITHOUT ROWID;
CREATE INDEX tag_name ON tag(kind, name, value);
CREATE TABLE artefact(
  hash TEXT NOT NULL PRIMARY KEY,
  kind TEXT NOT NULL,
  step TEXT NOT NULL,
  version INTEGER NOT NULL,
  parameters TEXT NOT NULL,
  made_utc_ns INTEGER NOT NULL,
  tool TEXT NOT NULL,
  bytes INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX artefact_step ON artefact(step, version);
CREATE TABLE artefact_input(
  hash TEXT NOT NULL,
  position INTEGER NOT NULL,
  role TEXT NOT NULL,
  input TEXT NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY(hash, position)) STRICT, WITHOUT ROWID;
CREATE INDEX artefact_input_input ON artefact_input(input);
CREATE TABLE problem(
  path TEXT NOT NULL PRIMARY KEY,
  what TEXT NOT NULL) STRICT, WITHOUT ROWID;
