"""Renders Vega-Lite specs to SVG and PNG beside them: render.py SPEC.vl.json ..."""
import pathlib
import sys

try:
    import vl_convert
except ImportError:
    print("vl_convert is missing; `./run_matrix` without --no-install puts it into .venv, "
          "or: .venv/bin/pip install vl-convert-python", file=sys.stderr)
    sys.exit(2)

if len(sys.argv) < 2:
    print(__doc__, file=sys.stderr)
    sys.exit(2)
failed = 0
for name in sys.argv[1:]:
    spec = pathlib.Path(name)
    stem = spec.name.removesuffix(".vl.json")
    try:
        text = spec.read_text(encoding="utf-8")
        spec.with_name(stem + ".svg").write_text(vl_convert.vegalite_to_svg(text), encoding="utf-8")
        spec.with_name(stem + ".png").write_bytes(vl_convert.vegalite_to_png(text, scale=2))
    except (OSError, ValueError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        failed = 1
sys.exit(failed)
