"""Finds change points with Apache Otava: reads a JSON file, writes JSON to stdout (see trend.cpp)."""
import json
import sys

try:
    from otava.series import AnalysisOptions, Metric, Series
except ImportError as error:
    print(f"{error}; run `./run_matrix` once without --no-install to install it into .venv", file=sys.stderr)
    sys.exit(2)

with open(sys.argv[1], encoding="utf-8") as file:
    asked = json.load(file)
options = AnalysisOptions()
options.window_len = asked["window"]
options.max_pvalue = asked["p"]
options.min_magnitude = 0.0  # replaced by each series' own magnitude below
found = []
for series in asked["series"]:
    values = series["values"]
    analysed = Series("", None, list(range(len(values))), {"ms": Metric()}, {"ms": values}, {}).analyze(options)
    points = []
    for point in analysed.change_points.get("ms", []):
        before, after = float(point.stats.mean_1), float(point.stats.mean_2)
        if before > 0 and abs(after / before - 1) >= series["magnitude"]:
            points.append({"index": int(point.index), "before": before, "after": after, "p": float(point.stats.pvalue)})
    found.append(points)
json.dump(found, sys.stdout)
