"""Prints Vega, Vega-Lite and vega-embed as one script that runs without a network: bundle.py > vega.js

Bundling takes about 1.5 s, so that its result is kept in the Python environment beside vl_convert.
"""
import importlib.metadata
import os
import pathlib
import sys

try:
    version = importlib.metadata.version("vl-convert-python")
    kept = pathlib.Path(sys.prefix) / f"vega-bundle-{version}.js"
    if kept.exists():
        script = kept.read_text(encoding="utf-8")
    else:
        import vl_convert
        script = vl_convert.javascript_bundle()  # sets window.vega, vegaLite and vegaEmbed
        try:
            part = kept.with_suffix(f".{os.getpid()}")
            part.write_text(script, encoding="utf-8")
            part.rename(kept)
        except OSError:
            pass  # read-only: bundled anew the next time
except (ImportError, ValueError) as error:
    print(f"vl_convert can't be used: {error}; `./run_matrix` without --no-install puts it into .venv", file=sys.stderr)
    sys.exit(2)
sys.stdout.buffer.write(script.encode("utf-8"))
