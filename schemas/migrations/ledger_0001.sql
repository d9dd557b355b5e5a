-- What people say about clips, append-only: a row is never changed, a later one replaces it (schemas/README.md, "Ledger").
CREATE TABLE entry(
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  clip TEXT NOT NULL,
  subject TEXT NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  value ANY,
  removed INTEGER NOT NULL,
  t_begin_ns INTEGER,
  t_end_ns INTEGER,
  replaces TEXT NOT NULL,
  author TEXT NOT NULL,
  utc_ns INTEGER NOT NULL) STRICT;
CREATE INDEX entry_clip ON entry(clip, kind, name);
CREATE INDEX entry_subject ON entry(subject, kind);
