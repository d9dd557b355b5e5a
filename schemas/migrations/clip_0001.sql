-- One recording, or one derived result (schemas/README.md, "Clip file"). Times are integer nanoseconds.
CREATE TABLE info(key TEXT NOT NULL PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE property(key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE thing(
  position INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  model TEXT NOT NULL,
  pose TEXT NOT NULL,
  X_WT BLOB NOT NULL,
  stream TEXT NOT NULL) STRICT;
CREATE TABLE thing_item(
  thing INTEGER NOT NULL,
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY(thing, position)) STRICT, WITHOUT ROWID;
CREATE TABLE stream(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  device TEXT NOT NULL,
  rate_numerator INTEGER NOT NULL,
  rate_denominator INTEGER NOT NULL,
  frame TEXT NOT NULL,
  sign TEXT NOT NULL,
  made_by TEXT NOT NULL) STRICT;
CREATE TABLE channel(
  stream INTEGER NOT NULL,
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  unit TEXT NOT NULL,
  quantum REAL NOT NULL,
  PRIMARY KEY(stream, position)) STRICT, WITHOUT ROWID;
CREATE TABLE force_sensor(
  position INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  stream INTEGER NOT NULL,
  calibration BLOB NOT NULL,
  bias BLOB NOT NULL,
  sign REAL,
  pose BLOB NOT NULL,
  normal BLOB NOT NULL,
  full_scale_N REAL,
  serial TEXT NOT NULL,
  mounted_on TEXT NOT NULL) STRICT;
CREATE TABLE clock_map(
  stream INTEGER PRIMARY KEY,
  constant_delay_ns INTEGER NOT NULL,
  constant_delay_sd_ns INTEGER NOT NULL) STRICT;
CREATE TABLE clock_segment(
  stream INTEGER NOT NULL,
  position INTEGER NOT NULL,
  device_begin_ns INTEGER NOT NULL,
  device_end_ns INTEGER NOT NULL,
  host_begin_ns INTEGER NOT NULL,
  rate_error REAL,
  offset_sd_ns REAL,
  rate_sd REAL,
  residual_p50_ns REAL,
  residual_p90_ns REAL,
  residual_p99_ns REAL,
  residual_max_ns REAL,
  pair_count INTEGER NOT NULL,
  PRIMARY KEY(stream, position)) STRICT, WITHOUT ROWID;
CREATE TABLE clock_pairs(
  id INTEGER PRIMARY KEY,
  count INTEGER NOT NULL,
  data BLOB NOT NULL) STRICT;
CREATE TABLE event(
  id INTEGER PRIMARY KEY,
  t_ns INTEGER NOT NULL,
  length_ns INTEGER NOT NULL,
  kind TEXT NOT NULL,
  origin TEXT NOT NULL,
  stream INTEGER NOT NULL,
  value REAL,
  text TEXT NOT NULL) STRICT;
CREATE TABLE gap(
  id INTEGER PRIMARY KEY,
  stream INTEGER NOT NULL,
  first_missing_counter INTEGER NOT NULL,
  count INTEGER NOT NULL,
  cause TEXT NOT NULL,
  t_begin_ns INTEGER NOT NULL,
  t_end_ns INTEGER NOT NULL) STRICT;
CREATE TABLE quality(
  position INTEGER PRIMARY KEY,
  stream TEXT NOT NULL,
  what TEXT NOT NULL,
  value REAL,
  worst REAL,
  threshold REAL,
  red INTEGER NOT NULL,
  acknowledged INTEGER NOT NULL,
  t_first_red_ns INTEGER NOT NULL,
  cause TEXT NOT NULL) STRICT;
CREATE TABLE chunk(
  id INTEGER PRIMARY KEY,
  first_index INTEGER NOT NULL,
  first_counter INTEGER NOT NULL,
  last_counter INTEGER NOT NULL,
  count INTEGER NOT NULL,
  first_time_ns INTEGER NOT NULL,
  last_time_ns INTEGER NOT NULL,
  data BLOB NOT NULL) STRICT;
CREATE TABLE zone(
  id INTEGER PRIMARY KEY,
  data BLOB NOT NULL) STRICT;
CREATE TABLE document(
  name TEXT NOT NULL PRIMARY KEY,
  data BLOB NOT NULL) STRICT;
CREATE TABLE digest(
  name TEXT NOT NULL PRIMARY KEY,
  rows INTEGER NOT NULL,
  crc INTEGER NOT NULL) STRICT, WITHOUT ROWID;
