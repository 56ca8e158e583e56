"""The files of a history: nights as JSON, one file each, and Parquet files with the nights of whole days.

  night=2026-01-31/host=NAME/ID.json      written once as a whole by a host (history.cpp); names that begin with a dot are drafts
  night=2026-01-31/compact-XXXX.parquet   those of all hosts, by compact(); one row per night, nested as the JSON is
  nights.jsonl                            of older versions: a night per line

A night is known by id and host. It may be in several files for a moment, while compact() replaces one by the other, so
readers take it once."""
import datetime, json, os, pathlib, re, sys, tempfile, uuid

LONGEST = 16_000_000  # characters of a night, which DuckDB's reader of JSON takes at once
SCHEMA = 1  # of a Night, and of the Parquet files' key `schema`
ROW = dict(row="VARCHAR", scale="VARCHAR", device="VARCHAR", status="VARCHAR", config="VARCHAR", totals_s="DOUBLE[]",
           phases_ms="MAP(VARCHAR, DOUBLE)", repeats="BIGINT", metrics="MAP(VARCHAR, DOUBLE)", undisturbed_s="DOUBLE[]",
           spoiled="BIGINT")
NIGHT = dict(schema="BIGINT", id="VARCHAR", started_at="VARCHAR", tag="VARCHAR", machine="VARCHAR", environment="VARCHAR",
             host="VARCHAR", revision="VARCHAR", run="VARCHAR", imported="BOOLEAN", complete="BOOLEAN",
             canaries="MAP(VARCHAR, DOUBLE)", gpu_faults="VARCHAR[]",
             rows="STRUCT(" + ", ".join(f'"{name}" {kind}' for name, kind in ROW.items()) + ")[]")
ALWAYS = {"schema", "id", "started_at", "tag", "machine", "environment", "host", "revision", "run", "complete", "canaries",
          "rows"}
COLUMNS = "{" + ", ".join(f"'{name}': '{kind}'" for name, kind in NIGHT.items()) + "}"


def plain(text):
    """As harness/base/plain_text.h, in one line."""
    return re.sub("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", " ", text)


def warn(text):
    print(f"run_matrix: {plain(text)}", file=sys.stderr)


def problem_of(night):
    """Why this is no night that Parquet keeps whole; None if it is one."""
    if not isinstance(night, dict):
        return "not a night of a history"
    if night.get("schema") != SCHEMA:
        return f"`schema` is {night.get('schema')!r}: expected {SCHEMA}"
    missing, unknown = ALWAYS - night.keys(), night.keys() - NIGHT.keys()
    if missing or unknown:
        return f"`{min(missing)}` is missing" if missing else f"`{min(unknown)}` is not a key of schema {SCHEMA}"
    if not isinstance(night["rows"], list):
        return "`rows` is no list"
    for row in night["rows"]:
        if not isinstance(row, dict) or row.keys() - ROW.keys():
            return "a row with other keys than those of schema 1"
    return None


def read(text, place):
    try:
        night = json.loads(text)
        problem = problem_of(night) if len(text) < LONGEST else f"longer than {LONGEST} characters"
    except ValueError as error:
        problem = f"not JSON ({error})"
    if problem:
        warn(f"{place}: night left out: {problem}")
        return None
    return night


def day_of(night):
    try:
        return datetime.date.fromisoformat(night["started_at"][:10]).isoformat()
    except ValueError:
        return "1970-01-01"


class Files:
    """What is in a history's folder, by day."""

    def __init__(self, history):
        self.history = pathlib.Path(history)
        if not self.history.is_dir():
            raise ValueError(f"{history}: no such folder; name a history, as in nightly --history")
        self.days = sorted(folder.name[6:] for folder in self.history.glob("night=*") if folder.is_dir())

    def compacted(self, day):
        return sorted(self.history.glob(f"night={day}/compact-*.parquet"))

    def single(self, day):
        """(file, night) of each readable night of the day that has a file of its own."""
        for file in sorted(self.history.glob(f"night={day}/host=*/*.json")):
            if not file.name.startswith("."):
                try:
                    text = file.read_text()
                except (OSError, UnicodeDecodeError) as error:
                    warn(f"{file}: night left out: {error}")
                    continue
                if night := read(text, file):
                    yield file, night

    def lines(self):
        """Nights of nights.jsonl."""
        file = self.history / "nights.jsonl"
        if not file.exists():
            return
        with file.open(errors="replace") as stream:
            for number, line in enumerate(stream, 1):
                if line.strip() and (night := read(line, f"{file}:{number}")):
                    yield night


def load(database, nights, table):
    """Makes a table of these nights."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as lines:
        for night in nights:
            lines.write(json.dumps(night) + "\n")
        lines.flush()
        database.execute(f"CREATE OR REPLACE TABLE {table} AS SELECT * FROM read_json('{lines.name}', columns={COLUMNS}, "
                         "format='newline_delimited')")


def path_list(files):
    return "[" + ", ".join("'" + str(file).replace("'", "''") + "'" for file in files) + "]"


def parquet(files):
    """A table function for these files."""
    return f"read_parquet({path_list(files)}, union_by_name=true, hive_partitioning=false)"


def without_absent(value):
    """As C++ writes it: keys of when_set are absent rather than empty."""
    absent = (None, [], {}, 0, False)
    night = {name: it for name, it in value.items() if name in ALWAYS or it not in absent}
    night["rows"] = [{name: it for name, it in row.items()
                      if name not in ("metrics", "undisturbed_s", "spoiled") or it not in absent} for row in night["rows"]]
    return night


def nights_of(database, files, host=None):
    cursor = database.execute(f"SELECT to_json(it) FROM (SELECT {', '.join(NIGHT)} FROM {parquet(files)} "
                              "WHERE $1 IS NULL OR host = $1) it", [host])
    while rows := cursor.fetchmany(1000):
        for (text,) in rows:
            yield without_absent(json.loads(text))


def write_parquet(database, table, day_folder):
    """One new file with the table's nights, which appears whole."""
    day_folder.mkdir(parents=True, exist_ok=True)
    name = f"compact-{uuid.uuid4().hex}.parquet"
    draft = day_folder / f".{name}"
    try:
        database.execute(f"COPY (SELECT * FROM {table} ORDER BY host, id) TO '{str(draft).replace(chr(39), chr(39) * 2)}' "
                         f"(FORMAT parquet, COMPRESSION zstd, KV_METADATA {{schema: '{SCHEMA}'}})")
        with draft.open("rb") as stream:
            os.fsync(stream.fileno())
        os.rename(draft, day_folder / name)
    finally:
        draft.unlink(missing_ok=True)
    folder = os.open(day_folder, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def compact(database, history, today, include_today):
    """Nights of past days into one Parquet file a day; returns how many days and nights were moved. Killed at any moment,
    it loses none: files are removed after the one that replaces them is durable, and the next call goes on."""
    files = Files(history)
    from_lines = {}
    for night in files.lines():
        from_lines.setdefault(day_of(night), []).append(night)
    days = moved = 0
    for day in sorted({*files.days, *from_lines}):
        if day > today:
            warn(f"{history}: night={day} lies in the future: a host's clock is wrong; its nights stay as they are")
        if day > today or (day == today and not include_today):
            continue
        single = list(files.single(day))
        old = files.compacted(day)
        known, fresh = set(), []
        kept = list(nights_of(database, old)) if old else []
        for night in [*kept, *(night for _, night in single), *from_lines.get(day, [])]:
            if (night["id"], night["host"]) not in known:
                known.add((night["id"], night["host"]))
                fresh.append(night)
        if len(fresh) > len(kept) or len(old) > 1:
            load(database, fresh, "compacting")
            write_parquet(database, "compacting", files.history / f"night={day}")
            days, moved = days + 1, moved + len(fresh) - len(kept)
            for file in old:
                file.unlink(missing_ok=True)
        for file, _ in single:
            file.unlink(missing_ok=True)
            try:
                file.parent.rmdir()
            except OSError:
                pass  # another night of the host, or one that is being written
    if from_lines and max(from_lines) < today:
        (files.history / "nights.jsonl").rename(files.history / "nights.jsonl.compacted")
    return days, moved
