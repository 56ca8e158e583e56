#!/usr/bin/env python3
"""codec_seeds.py RECORDS FOLDER: seeds for codec_fuzz: records with short lists, their rows, a job and an axis value."""
import json
import pathlib
import sys


def shortened(value):
    if isinstance(value, dict):
        return {key: shortened(one) for key, one in value.items()}
    return [shortened(one) for one in value[:2]] if isinstance(value, list) else value


records, folder = sys.argv[1], pathlib.Path(sys.argv[2])
for number, line in enumerate(open(records, encoding="utf-8")):
    record = shortened(json.loads(line))
    row = record["config"]
    job = {"row": row, "directory": "/run", "progress": "/run/progress", "index": "/index", "emulated_link": False}
    value = {"name": "files", "summary": "files", "traits": {"page_cache": True}, "missing": ""}
    report = {key: record[key] for key in ("total_s", "samples_ms", "warmup_ms", "spans_ms", "loss") if key in record}
    for kind, seed in enumerate((record, report, job, row, value)):
        (folder / f"{number}-{kind}").write_bytes(bytes([kind]) + json.dumps(seed).encode())
