"""Prints the tables of docs/loaders.md from the records of runs of configs/loaders.yaml or configs/loaders_ring.yaml.

Usage: table.py RUN...   RUN: a folder with records.jsonl
"""
import json
import pathlib
import statistics
import sys


def read(run):
    try:
        lines = (pathlib.Path(run) / "records.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]
    except (OSError, ValueError) as error:
        sys.exit(f"{run}: expected a folder with records.jsonl of a run: {error}; next: name one that run_matrix wrote")


def spread(values, form):
    if len(values) < 2:
        return f"{values[0]:{form}}" if values else "-"
    return f"{statistics.median(values):{form}} ({min(values):{form}} to {max(values):{form}})"


def ratios(rows, row, base):
    """Of the rates of repeats that both have."""
    rates = [{one["repeat"]: one["images_per_second"] for one in rows[name] if one["status"] == "OK"} for name in (row, base)]
    return [rates[0][repeat] / rates[1][repeat] for repeat in rates[0] if repeat in rates[1]]


def figures(rows, name):
    ok = [one for one in rows[name] if one["status"] == "OK"]
    if not ok:
        return None
    cpu = [1e3 * one["environment"]["window_own_s"] / one["config"]["batch"] / one["timed_batches"] for one in ok]
    external = [one["external"]["mean_difference"] for one in ok if "mean_difference" in one.get("external", {})]
    pixels = f"{max(external):.2f}" if external else "" if ok[0]["config"]["loader"] == "suite" else "not compared"
    return (ok, cpu, pixels, max(one["max_rss_bytes"] for one in ok) / (1 << 20))


def print_rows(rows):
    for name, records in rows.items():
        config, base = records[0]["config"], records[0]["config"]["base"]
        found = figures(rows, name)
        if not found:
            print(f"| `{name}` | {config['batch_format']} | {records[0]['status']} | | | | |")
            continue
        ok, cpu, pixels, memory = found
        beside = spread(ratios(rows, name, base), ".2f") if base in rows else "-"
        rate = spread([one["images_per_second"] for one in ok], ".0f")
        print(f"| `{name}` | {config['batch_format']} | {rate} | {beside} | {statistics.median(cpu):.2f} | {memory:.0f} | {pixels} |")


def main(runs):
    for run in runs:
        records = read(run)
        rows = {}
        for record in records:
            rows.setdefault(record["row"], []).append(record)
        machine, environments = records[0]["machine"], [one["environment"] for one in records]
        outside = max((one.get("window_outside_share", 0) for one in environments), default=0)
        print(f"{machine['cpu']}, {records[0]['config']['cpus']} of {machine['cores']} cores and as many loader threads; "
              f"{records[0]['started_at'][:10]}; {max(map(len, rows.values()))} runs of each row, interleaved; load average before a row up "
              f"to {max(one.get('load_average') or 0 for one in environments):.1f}, others took up to {100 * outside:.0f} % of a row's "
              "cores.\n\n| row | batches | images/s | of its base's | CPU ms/image | MB | pixels differ |\n|---|---|---|---|---|---|---|")
        print_rows(rows)
        print()


if len(sys.argv) < 2:
    sys.exit(__doc__)
main(sys.argv[1:])
