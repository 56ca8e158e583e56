#!/usr/bin/env python3
"""Prints the figures that scripts/check_gpu has measured, one line each, with their limits.

usage: scripts/gpu_figures.py FOLDER    Exit code 1 when a figure misses its limit.
"""
import json
import pathlib
import statistics
import sys


def parsed(file, number, text):
    try:
        return json.loads(text)
    except ValueError as error:
        sys.exit(f"{file}:{number}: expected JSON ({error}); remove {file}, then repeat scripts/check_gpu")


def records(folder, study):
    file = folder / study / "records.jsonl"
    lines = file.read_text().splitlines() if file.exists() else []
    found = [parsed(file, number, line) for number, line in enumerate(lines, 1)]
    return [record for record in found if record["status"] == "OK"]


def rate(runs, row):
    rates = [run["images_per_second"] for run in runs if run["row"] == row]
    return statistics.median(rates) if rates else None


def ratio(above, below):
    return above / below if above and below else None


def bandwidth(kernels, name):
    rates = [one["bytes_per_second"] for one in kernels if one.get("run_type") == "iteration" and "bytes_per_second" in one and
             one["name"].startswith(name + "/")]
    return statistics.median(rates) if rates else None


def host_waits(runs, row):
    waits = [rank["host_waits_per_batch"] for run in runs if run["row"] == row
             for rank in run.get("trace", {}).get("ranks", [])]
    return max(waits) if waits else None


def loader_ratio(runs, row):
    """The row's rate / that of the slower of its two parts alone: the loader, or the step on a made-up batch."""
    ratios = [max(run["ceilings"]["loader_ms"], run["ceilings"]["compute_ms"]) / 1e3 * run["images_per_second"]
              / run["config"]["batch"] for run in runs
              if run["row"] == row and {"loader_ms", "compute_ms"} <= run.get("ceilings", {}).keys()]
    return statistics.median(ratios) if ratios else None


def benchmarks(file):
    """Of Google Benchmark's file, which ends early where its program was stopped."""
    text = file.read_text() if file.exists() else ""
    try:
        return json.loads(text)["benchmarks"] if text else []
    except (ValueError, KeyError):
        print(f"{file}: ends early, so that its figures are not measured; scripts/check_gpu writes it again")
        return []


def main(folder):
    kernels = benchmarks(folder / "kernels.json")
    loader, float32, compiled, clock, traced = (records(folder, study) for study in
                                                ("loader", "float32", "compiled", "clock", "traced"))
    within = bandwidth(kernels, "copy/within")
    lines = [("row [0], float32 / eager PyTorch", 0.97, ratio(rate(float32, "plain"), rate(float32, "plain-eager"))),
             ("the fastest row / torch.compile", 1.10, ratio(rate(compiled, "best"), rate(compiled, "best-compiled"))),
             ("H2D of a batch / a bare pinned copy", 0.90,
              ratio(bandwidth(kernels, "copy/batch/float32/pinned"), bandwidth(kernels, "copy/bare/pinned")))]
    for kind in ("float32", "float16", "bfloat16"):
        for order in ("nchw", "channels_last"):
            lines.append((f"normalise {kind} {order} / copy within the GPU", 0.85,
                          ratio(bandwidth(kernels, f"normalise/{kind}/{order}"), within)))
    for row in ("plain", "nhwc", "graphs", "byte-pool"):
        lines.append((f"row {row} / the slower of loader and step", 0.95, loader_ratio(loader, row)))
    lines.append(("with phase times / without", 0.99, ratio(rate(clock, "clock-on"), rate(clock, "clock-off"))))
    lines.append(("with readings of the GPU / without", 0.99, ratio(rate(clock, "clock-on"), rate(clock, "unsampled"))))
    for layer in ("stem", "layer3"):
        own, other = (bandwidth(kernels, f"statistics/{layer}/{whose}") for whose in ("own", "libtorch"))
        lines.append((f"batch norm's statistics, {layer} / LibTorch's", 1.0, ratio(own, other)))
    missed = False
    for what, limit, found in lines:
        below = found is not None and found < limit
        print(f"{what:54s} at least {limit:.2f}  {'not measured' if found is None else f'{found:.3f}'}{'  MISSED' if below else ''}")
        missed = missed or below
    for one in benchmarks(folder / "decode.json"):
        rate_here = one.get("images_per_second")
        print(f"{one['name'].removesuffix('/manual_time'):54s} "
              f"{one.get('error_message', 'not measured') if rate_here is None else f'{rate_here:.0f} images/s'}"
              f"{', the GPU has a JPEG engine' if one.get('has_jpeg_engine') else ''}")
    measured = benchmarks(folder / "collectives.json")
    for name in dict.fromkeys(one["run_name"] for one in measured):
        rates = [one["bus_bandwidth"] for one in measured if one["run_name"] == name and "bus_bandwidth" in one
                 and one["run_type"] == "iteration"]
        print(f"{name.removesuffix('/manual_time'):54s} "
              f"{f'bus bandwidth {statistics.median(rates) / 1e9:.2f} GB/s' if rates else 'not measured'}")
    for row in ("synthetic", "synthetic-graphs", "synthetic-fused"):
        waits = host_waits(traced, row)
        print(f"{'host waits per batch, row ' + row:54s} {'not measured' if waits is None else f'{waits:.2f}'}")
    return missed


if len(sys.argv) != 2 or not pathlib.Path(sys.argv[1]).is_dir():
    sys.exit(__doc__)
sys.exit(main(pathlib.Path(sys.argv[1])))
