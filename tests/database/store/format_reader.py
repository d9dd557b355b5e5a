#!/usr/bin/env python3
"""Reads clip and artefact files by schemas/README.md alone: nothing of Handhold's code is used or known here.

    format_reader.py FILE       prints every value, one named list per line, as format_reader_test.cc compares them

What is missing on that page does not work here: keep it so. A new kind of artefact is a line of its table, and one of
KINDS. Needs Python 3 and libzstd.
"""
import ctypes
import ctypes.util
import hashlib
import json
import math
import os
import sqlite3
import struct
import sys

# ---- numbers and bytes


def crc32c_table():
    table = []
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
        table.append(n)
    return table


TABLE = crc32c_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = TABLE[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def demand(truth, what):
    if not truth:
        raise SystemExit("not as the page says: " + what)


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        demand(self.at + n <= len(self.data), "a length beyond the end")
        self.at += n
        return self.data[self.at - n:self.at]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def left(self):
        return len(self.data) - self.at


ZSTD = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
ZSTD.ZSTD_decompress.restype = ctypes.c_size_t


def unzstd(data, size):
    out = ctypes.create_string_buffer(max(1, size))
    got = ZSTD.ZSTD_decompress(out, ctypes.c_size_t(size), bytes(data), ctypes.c_size_t(len(data)))
    demand(got == size, "the length of a zstd frame")
    return out.raw[:size]


def unzigzag(z):
    return -(z >> 1) - 1 if z & 1 else z >> 1


def wrapped(x, bits):
    """x modulo 2^bits, as a signed number."""
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> (bits - 1) else x


# ---- frames

COUNTS, FLOAT_COUNTS, FLOATS, DOUBLES, WHOLE, MILLI_FLOATS = range(6)
seen = set()  # (kind, predictor) of every column met


def payload(frame):
    demand(frame[0] in (0, 1), "the byte of storage")
    if frame[0] == 0:
        return frame[1:]
    packed = Bytes(frame[1:])
    size = packed.varint()
    return unzstd(packed.data[packed.at:], size)


def column(data, count, quantum):
    """The next column of a payload: `count` values, NaN where missing."""
    head = data.take(1)[0]
    kind, predictor = head & 7, head >> 3 & 3
    demand(head >> 6 == 0, "bits 6 and 7")
    seen.add((kind, predictor))
    missing = [False] * count
    if head >> 5 & 1:
        at = 0
        for _ in range(data.varint()):
            at += data.varint()
            length = data.varint()
            missing[at:at + length] = [True] * length
            at += length
    n = count - sum(missing)
    bits = 64 if kind in (DOUBLES, WHOLE) else 32
    width = data.take(1)[0]
    demand(width <= bits // 8, "the width of a difference")
    warm = min(n, (0, 1, 2, 4)[predictor])
    x = []
    for i in range(warm):
        guess = 0 if i == 0 else x[0] if i == 1 else 2 * x[-1] - x[-2]
        x.append(wrapped(guess + unzigzag(data.varint()), bits))
    rest = n - warm
    planes = [data.take(rest) for _ in range(width)]
    for i in range(rest):
        z = sum(planes[p][i] << 8 * p for p in range(width))
        guess = (0 if predictor == 0 else x[-1] if predictor == 1 else
                 2 * x[-1] - x[-2] if predictor == 2 else
                 x[-1] + (wrapped(x[-2] - x[-4], bits) >> 1))
        x.append(wrapped(guess + unzigzag(z), bits))
    values = iter([number(kind, v, quantum) for v in x])
    return [math.nan if gone else next(values) for gone in missing]


def number(kind, x, quantum):
    if kind == COUNTS:
        return x * quantum
    if kind == FLOAT_COUNTS:
        return struct.unpack("<f", struct.pack("<f", x * quantum))[0]
    if kind == WHOLE:
        return x
    if kind == DOUBLES:
        bits = x & (1 << 64) - 1
        bits ^= (1 << 63) - 1 if bits >> 63 else 0
        return struct.unpack("<d", struct.pack("<Q", bits))[0]
    demand(kind in (FLOATS, MILLI_FLOATS), "the kind of a column")
    bits = x & (1 << 32) - 1
    bits ^= (1 << 31) - 1 if bits >> 31 else 0
    value = struct.unpack("<f", struct.pack("<I", bits))[0]
    return value * 0.001 if kind == MILLI_FLOATS else value


def columns(frame, count, quanta):
    data = Bytes(payload(frame))
    out = [column(data, count, quantum) for quantum in quanta]
    demand(data.left() == 0, "bytes after a frame's last column")
    return out


def whole(frame, count, how_many=1):
    return columns(frame, count, [0.0] * how_many)


# ---- chunks


class Chunk:
    def __init__(self, blob, quanta):
        (magic, version, flags, self.stream, self.sequence, self.first_index, first_counter, self.last_counter, self.time,
         self.count, self.values_per_column, n_columns, group, n_frames, _, crc) = struct.unpack("<4sHHII4q5IQI", blob[:80])
        table = blob[80:80 + 8 * n_frames]
        demand(magic == b"HHCK" and version == 0, "the head of a chunk")
        demand(crc == crc32c(blob[:76] + table), "the checksum of a chunk's head")
        at, frames = 80 + 8 * n_frames, []
        for k in range(n_frames):
            length, frame_crc = struct.unpack("<II", table[8 * k:8 * k + 8])
            frames.append(blob[at:at + length])
            demand(crc32c(frames[-1]) == frame_crc, "the checksum of a frame")
            at += length
        demand(at == len(blob), "the length of a chunk")
        groups = [quanta[c:min(c + group, n_columns)] for c in range(0, n_columns, group)]
        frames = iter(frames)
        self.columns, self.origins, self.points, self.texts, self.times = [], None, None, None, None
        for g in groups:
            self.columns += columns(next(frames), self.values_per_column, g)
        if flags & 1:
            self.origins = []
            for g in groups:
                self.origins += whole(next(frames), self.values_per_column, len(g))
        self.counters = list(range(first_counter, first_counter + self.count))
        if flags & 2:
            runs = Bytes(next(frames))
            n = runs.varint()
            at_sample, counter = whole(runs.data[runs.at:], n, 2)
            ends = at_sample[1:] + [self.count]
            self.counters = [c + i for a, c, e in zip(at_sample, counter, ends) for i in range(e - a)]
        demand(self.counters[-1] == self.last_counter, "the last counter")
        if flags & 4:
            self.times = whole(next(frames), self.count)[0]
        if flags & 8:
            self.points = whole(next(frames), self.count)[0]
        if flags & 16:
            lengths, text = whole(next(frames), self.count)[0], Bytes(payload(next(frames)))
            self.texts = [text.take(n).decode() for n in lengths]


# ---- clips


def half_away(numerator, denominator):
    """numerator / denominator, rounded to the nearest whole number, half away from 0."""
    rounded = (2 * abs(numerator) + denominator) // (2 * denominator)
    return -rounded if numerator < 0 else rounded


def half_away_float(x):
    whole_part = math.floor(abs(x))
    rounded = int(whole_part) + (1 if abs(x) - whole_part >= 0.5 else 0)
    return -rounded if x < 0 else rounded


def doubles(blob):
    return list(struct.unpack("<%dd" % (len(blob) // 8), blob))


def check_digests(db):
    """Every table's digest, by the page's words: a closed file has them all."""
    without_blobs = {"chunk": ("data",), "zone": ("data",), "clock_pairs": ("data",)}
    for table, rows, crc in db.execute('SELECT * FROM digest').fetchall():
        described = db.execute("SELECT name, type, pk FROM pragma_table_info(?)", (table,)).fetchall()
        names = [name for name, _, _ in described if name not in without_blobs.get(table, ())]
        key = [name for _, name in sorted((pk, name) for name, _, pk in described if pk)]
        data, count = bytearray(), 0
        for row in db.execute('SELECT %s FROM %s ORDER BY %s' % (", ".join(names), table, ", ".join(key))):
            count += 1
            for value in row:
                if value is None:
                    data += b"\5"
                elif isinstance(value, int):
                    data += b"\1" + struct.pack("<q", value)
                elif isinstance(value, float):
                    data += b"\2" + struct.pack("<d", value)
                else:
                    plain = value.encode() if isinstance(value, str) else value
                    data += (b"\3" if isinstance(value, str) else b"\4") + struct.pack("<Q", len(plain)) + plain
        demand(rows == count and crc == crc32c(bytes(data)), "the digest of table " + table)


class Clip:
    def __init__(self, db):
        self.db = db
        self.info = dict(db.execute("SELECT key, value FROM info"))

    def host_of(self, stream, device_ns):
        delay = self.db.execute("SELECT constant_delay_ns FROM clock_map WHERE stream=?", (stream,)).fetchone()
        if delay is None:
            first = self.pairs(stream)
            return device_ns + (first[2][0] - first[1][0] if first else 0)
        segments = self.segments[stream]
        s = segments[0]
        for later in segments[1:]:
            if later[0] <= device_ns:
                s = later
        e = device_ns - s[0]
        return s[1] + e + half_away_float(float(e) * s[2]) - delay[0]

    def pairs(self, stream):
        out = None
        query = "SELECT count, data FROM clock_pairs WHERE id >> 32 = ? ORDER BY id"
        for count, data in self.db.execute(query, (stream,)):
            demand(struct.unpack("<I", data[:4])[0] == crc32c(data[4:]), "the checksum of clock pairs")
            rows = whole(data[4:], count, 4)
            out = rows if out is None else [a + b for a, b in zip(out, rows)]
        return out

    def read(self, put):
        db = self.db
        for key in ("name", "subject", "session", "task", "utc_start_ns", "host_start_ns"):
            put("info/" + key, [self.info[key]])
        for key, value in db.execute("SELECT key, value FROM property"):
            put("property/" + key, [value])
        for k, name, kind, model, pose, X_WT, stream in db.execute("SELECT * FROM thing ORDER BY position").fetchall():
            put("thing/%s" % name, [kind, model, pose, stream])
            if pose == "fixed":
                put("thing/%s/X_WT" % name, doubles(X_WT))
            for i, (item,) in enumerate(db.execute("SELECT name FROM thing_item WHERE thing=? ORDER BY position", (k,))):
                put("thing/%s/%d" % (name, i), [item])
        self.segments = {}
        query = "SELECT stream, device_begin_ns, host_begin_ns, rate_error FROM clock_segment ORDER BY stream, position"
        for stream, *segment in db.execute(query):
            self.segments.setdefault(stream, []).append(segment)
        for stream in db.execute("SELECT id, name, kind, rate_numerator, rate_denominator FROM stream").fetchall():
            self.read_stream(put, *stream)
        query = "SELECT position, name, stream, calibration, bias, sign, pose, normal, full_scale_N, mounted_on FROM force_sensor"
        for k, name, stream, calibration, bias, sign, pose, normal, full_scale, mounted_on in db.execute(query):
            put("sensor/%s" % name, [stream, sign, full_scale, mounted_on])
            put("sensor/%s/calibration" % name, doubles(calibration))
            put("sensor/%s/bias" % name, doubles(bias))
            put("sensor/%s/pose" % name, doubles(pose))
            put("sensor/%s/normal" % name, doubles(normal))
        for i, row in enumerate(db.execute("SELECT t_ns, length_ns, kind, origin, stream, value, text FROM event ORDER BY t_ns, id")):
            put("event/%d" % i, row)
        for i, row in enumerate(db.execute("SELECT stream, first_missing_counter, count, cause, t_begin_ns, t_end_ns FROM gap ORDER BY id")):
            put("gap/%d" % i, row)
        for key, blob in db.execute("SELECT id, data FROM zone"):
            self.read_zone(put, key, blob)

    def read_stream(self, put, stream, name, kind, numerator, denominator):
        channels = self.db.execute("SELECT name, unit, quantum FROM channel WHERE stream=? ORDER BY position", (stream,)).fetchall()
        path = "stream/%d" % stream
        put(path, [name, kind, numerator, denominator])
        put(path + "/channels", [c[0] for c in channels])
        put(path + "/units", [c[1] for c in channels])
        quanta = [c[2] for c in channels]
        n = 0 if kind == "text" else len(quanta)
        out, origins = [[] for _ in range(n)], [[] for _ in range(n)]
        counters, times, points, texts = [], [], [], []
        any_origins, index = False, 0
        query = "SELECT id, first_index, data FROM chunk WHERE id >> 32 = ? ORDER BY id"
        for key, first_index, blob in self.db.execute(query, (stream,)).fetchall():
            chunk = Chunk(blob, quanta)
            demand(key == chunk.stream << 32 | chunk.sequence and first_index == chunk.first_index == index, "a chunk's place")
            index += chunk.count
            for c, values in enumerate(chunk.columns):
                out[c] += values
                origins[c] += chunk.origins[c] if chunk.origins else [1 if math.isnan(v) else 0 for v in values]
            any_origins |= chunk.origins is not None
            counters += chunk.counters
            if chunk.times is not None:
                times += chunk.times
            else:
                times += [self.host_of(stream, half_away(c * denominator * 10**9, numerator)) for c in chunk.counters]
            points += chunk.points or []
            texts += chunk.texts or []
        put(path + "/counters", counters)
        put(path + "/times", [t - self.info["host_start_ns"] for t in times])
        for c in range(n):
            put("%s/values/%d" % (path, c), out[c])
            if any_origins:
                put("%s/origins/%d" % (path, c), origins[c])
        if kind == "points":
            put(path + "/points", points)
        if kind == "text":
            put(path + "/texts", texts)
        pairs = self.pairs(stream)
        if pairs:
            for what, values in zip(("counter", "device", "host", "latency"), pairs):
                put("%s/pairs/%s" % (path, what), values)

    def read_zone(self, put, key, blob):
        demand(struct.unpack("<I", blob[-4:])[0] == crc32c(struct.pack("<q", key) + blob[:-4]), "the checksum of a zone")
        samples, n, m = struct.unpack("<III", blob[:12])
        values = []
        for k in range(n + m):
            values += struct.unpack("<ffI", blob[12 + 12 * k:24 + 12 * k])
        put("zone/%d/%d" % (key >> 32, key & 0xFFFFFFFF), [samples, n, m] + values)


# ---- artefacts: matrices and lists of whole numbers by kind, "*" for a number

STAGE = ["stage/hands/*/" + name for name in ("q", "impedance/q_rest", "impedance/stiffness_Nm_per_rad", "impedance/damping_Nms_per_rad",
                                           "time_constant_s")]
KINDS = {
    "pose_track": (["q", "information_diagonal", "at_limit", "marker_residual_m", "information"], ["times", "information_frames"]),
    "object_track": (["X_WT", "residual_m", "covariance"], ["times"]),
    "contact_track": (["rows", "tau_Nm", "inertia_share"], ["times"]),
    "interaction_trajectory": (["q", "q_reference", "q_reference_dynamic", "compliance_rad_per_Nm", "time_constant_s",
                                "extrapolation_rms_rad", "fits/*/covariance_log", "fits/*/events/*/compliance_rad_per_Nm"],
                               ["times", "assumed"]),
    "motion": (["hands/*/q", "objects/*/X_WP", "rows", "series/*/values"] + STAGE, ["times"]),
    "setpoint_set": (["q_neutral", "setpoints/*/q", "setpoints/*/rate_rad_per_s"], []),
    "grasp_space": (["mean", "basis", "variance", "mixture/*/mean", "mixture/*/covariance",
                     "type_models/*/mixture/*/mean", "type_models/*/mixture/*/covariance", "templates/*/pose_v"], []),
    "grasp": (["q", "q_open", "q_squeeze", "tau_squeeze_Nm"], []),
    "motion_set": (["branches/*/state", "distance"] + STAGE, []),
}


def pattern(name):
    return "/".join("*" if part.isdigit() else part for part in name.split("/"))


def matrix(blob):
    data = Bytes(blob)
    rows, cols = data.varint(), data.varint()
    out = [[] for _ in range(rows)]
    for at in range(0, cols if rows else 0, 4096):
        n = min(4096, cols - at)
        for row, values in zip(out, columns(data.take(data.varint()), n, [0.0] * rows)):
            row += values
    demand(data.left() == 0, "bytes after a matrix")
    return rows, cols, [v for row in out for v in row]


def whole_list(blob):
    data = Bytes(blob)
    count, out = data.varint(), []
    for at in range(0, count, 1 << 20):
        out += whole(data.take(data.varint()), min(1 << 20, count - at))[0]
    demand(data.left() == 0, "bytes after a list")
    return out


def canonical(value):
    if isinstance(value, dict):
        return "{" + ",".join(json.dumps(k, ensure_ascii=False) + ":" + canonical(value[k]) for k in sorted(value, key=str.encode)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if not isinstance(value, float):
        return json.dumps(value, ensure_ascii=False)
    if value == int(value) and abs(value) <= 2**53:
        return str(int(value))
    sign = "-" if value < 0 else ""
    digits, exponent = "", 0
    mantissa, _, power = ("%r" % abs(value)).partition("e")
    before, _, after = mantissa.partition(".")
    digits = (before + after).lstrip("0")
    exponent = int(power or 0) + (len(before) if before.strip("0") else -(len(after) - len(after.lstrip("0"))))
    digits = digits.rstrip("0")  # value = 0.digits x 10^exponent
    scientific = digits[0] + ("." + digits[1:] if digits[1:] else "") + "e%+03d" % (exponent - 1)
    if exponent <= 0:
        plain = "0." + "0" * -exponent + digits
    elif exponent >= len(digits):
        plain = digits + "0" * (exponent - len(digits))
    else:
        plain = digits[:exponent] + "." + digits[exponent:]
    return sign + (plain if len(plain) <= len(scientific) else scientific)


def flatten(put, path, value):
    if isinstance(value, dict):
        for key, member in value.items():
            flatten(put, path + "/" + key, member)
    elif isinstance(value, list) and any(isinstance(item, (dict, list)) for item in value):
        for k, member in enumerate(value):
            flatten(put, "%s/%d" % (path, k), member)
    else:
        plain = value if isinstance(value, list) else [value]
        put(path, [int(v) if isinstance(v, float) and v == int(v) else v for v in plain])


def read_artefact(put, db, path):
    documents = dict(db.execute("SELECT name, data FROM document"))
    index = json.loads(documents.pop("artefact.json"))
    provenance = index["provenance"]
    hashed = {"step": provenance["step"], "version": provenance["version"], "parameters": provenance["parameters"],
              "inputs": [{"role": i["role"], "hash": i["hash"]} for i in provenance["inputs"]]}
    digest = hashlib.sha256(canonical(hashed).encode()).hexdigest()
    demand(digest == os.path.basename(path).split(".")[0], "the name of an artefact: " + canonical(hashed))
    put("kind", [index["kind"]])
    flatten(put, "provenance", {k: provenance[k] for k in ("step", "version", "inputs", "parameters_json", "made_utc_ns", "tool")})
    flatten(put, "content", index["content"])
    if "content.json" in documents:
        put("content.json", [documents.pop("content.json").decode()])
    matrices, lists = KINDS.get(index["kind"], ([], []))
    for name, blob in documents.items():
        if pattern(name) in lists:
            put("list/" + name, whole_list(blob))
        elif pattern(name) in matrices:
            rows, cols, values = matrix(blob)
            put("matrix/" + name, [rows, cols] + values)
        elif index["kind"] != "streams":
            demand(False, "document '%s' of a %s" % (name, index["kind"]))


# ---- what is printed


def token(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return "nan" if math.isnan(value) else "%016x" % struct.unpack("<Q", struct.pack("<d", value))[0]


def main():
    def put(name, values):
        print(name + "\t" + " ".join(map(token, values)))
    path = sys.argv[1]
    db = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    demand(db.execute("PRAGMA application_id").fetchone()[0] == 0x48486331, "whose file it is")
    clip = Clip(db)
    if clip.info["closed"]:
        demand(db.execute("SELECT count(*) FROM digest").fetchone()[0] > 10, "a closed file's digests")
        check_digests(db)
    if clip.info["is_artefact"]:
        read_artefact(put, db, path)
    clip.read(put)
    for kind, predictor in sorted(seen):
        print("met\t%d %d" % (kind, predictor))


main()
