#!/usr/bin/env python3
"""codec_seeds.py RECORDS FOLDER: seeds for codec_fuzz: records with short lists, what goes into and comes out of their
rows, and what the history, a run's folder and a data set keep. codec_fuzz reads all of them."""
import json
import pathlib
import sys


def shortened(value):
    if isinstance(value, dict):
        return {key: shortened(one) for key, one in value.items()}
    return [shortened(one) for one in value[:2]] if isinstance(value, list) else value


def first_rank(samples):
    return {name: by_rank[0] for name, by_rank in samples.items() if by_rank}


def report_of(record):
    """What the first rank of the record may have sent; a failed record has little of it."""
    report = {key: first_rank(record.get(key, {})) for key in ("samples_ms", "warmup_ms", "spans_ms", "device_ms")}
    report |= {key: record[key] for key in ("cache", "checks", "strategy", "warnings") if key in record}
    timeline = record.get("timeline", {})
    return {"cache": {}, "checks": [], "strategy": {}, "warnings": []} | report | {
        "place": record.get("rank_map", [{}])[0], "total_s": record.get("total_s", 1.5), "loss": [2.5, None],
        "correct": {"top1": 1, "top5": 5, "images": 64}, "ready": {"at_start": 4, "at_end": 3},
        "weights": "0123456789abcdef", "clock_calls": 12.5, "loader_buffer_bytes": 1 << 30, "bad_images": 1,
        "ceiling_ms": 3.5, "ceilings": {"batches": 20, "compute_ms": 7.5, "compute": {"forward": 2.5}, "loader_ms": 9.5},
        "timeline": {"machine": 1 << 62, "begin_ns": 10**15, "events": timeline.get("events", [])}}


ROW = {"row": "7", "scale": "smoke", "device": "cpu", "status": "OK", "config": "abc", "totals_s": [1.5, 1.25],
       "phases_ms": {"load": 3.5}, "repeats": 3}
NIGHT = {"schema": 1, "id": "n1", "started_at": "2026-01-01T03:00:00Z", "tag": "main", "machine": "Zen",
         "environment": "Zen; Linux", "host": "a", "revision": "abc", "run": "/runs/n1", "imported": True,
         "complete": False, "canaries": {"gemm_ms": 1.5}, "rows": [ROW]}
OPEN = {"id": "n1", "tag": "main", "host": "a", "run": "/runs/n1", "canaries": {"gemm_ms": 1.5}, "finished": True}
ALARM = {"key": "k", "row": "7", "machine": "Zen", "since": "n1", "before": 1.5, "after": 2.5, "canary": "gemm_ms",
         "told": "n2"}
REQUEST = {"config": ["/configs/article.yaml"], "only": "7", "scale": "smoke", "device": "cpu", "devices": 2,
           "data": "/data", "seed": 1, "repeat": 3, "set": ["batch=8"], "timeout": 1800.0, "hang-after": 60.5,
           "oversubscribe": False, "launcher": "auto", "hosts": "a:4,b:4", "hostfile": "/hosts",
           "port": 29500, "trace": "0-3", "wrap": "perf stat", "wrap-rank": 1, "interface": "eth0",
           "skip-unreadable": False}
DURATIONS = [["7", "smoke", "Zen", "abc", 1.5, 300.0]]
INDEX = {"version": 1, "root": "/data", "fingerprint": "f00d", "kind": "folder", "images": 2, "bytes": 3, "seed": 4,
         "skipped": 5, "classes": ["n00", "n01"], "left_out": {".webp": 6}}
PACK = {"version": 1, "fingerprint": "0123456789abcdef", "images": 2, "bytes": 3}
STANDIN = {"kind": "stand-in", "version": 1, "seed": 4, "images": 2, "classes": 3, "finished": True,
           "validation": 5}
KEPT = (NIGHT, OPEN, ALARM, REQUEST, DURATIONS, INDEX, PACK, STANDIN)

records, folder = sys.argv[1], pathlib.Path(sys.argv[2])
for number, line in enumerate(open(records, encoding="utf-8")):
    record = shortened(json.loads(line))
    row = record["config"]
    job = {"row": row, "directory": "/run", "progress": "/run/progress", "index": "/index", "emulated_link": False}
    value = {"name": "files", "summary": "files", "traits": {"page_cache": True}, "missing": ""}
    seeds = (record, report_of(record), job, row, value) + (KEPT if number == 0 else ())
    for kind, seed in enumerate(seeds):
        (folder / f"{number}-{kind}").write_bytes(bytes([kind]) + json.dumps(seed).encode())
