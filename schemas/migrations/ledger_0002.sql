-- A digest per entry, chained, and where the chain ends: a flipped bit or a lost row shows (schemas/README.md, "Ledger").
ALTER TABLE entry ADD COLUMN digest BLOB NOT NULL DEFAULT x'';
CREATE TABLE head(
  one INTEGER PRIMARY KEY CHECK(one = 1),
  entries INTEGER NOT NULL,
  digest BLOB NOT NULL) STRICT;
INSERT INTO head VALUES(1, 0, zeroblob(32));
