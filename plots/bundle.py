"""Prints Vega, Vega-Lite and vega-embed as one script that needs no network: bundle.py > vega.js

Bundling takes about 1.5 s, so the result is cached in the Python environment.
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
            pass  # a read-only environment has no cache
except (ImportError, ValueError) as error:
    print(f"vl_convert can't be used: {error}; install it into .venv with `./run_matrix` without --no-install",
          file=sys.stderr)
    sys.exit(2)
sys.stdout.buffer.write(script.encode("utf-8"))
