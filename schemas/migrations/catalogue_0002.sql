-- When a result was made or last asked for again: the newest of a kind, of a clip, of a subject is found by index.
ALTER TABLE artefact ADD COLUMN asked_utc_ns INTEGER NOT NULL DEFAULT 0;
CREATE INDEX artefact_kind ON artefact(kind, asked_utc_ns);
