"""Renders each NAME.vl.json to NAME.svg, NAME.png and NAME-dark.* in the same folder: render.py SPEC.vl.json ...

Colours of text, grid and background come from light.json and dark.json in this script's folder."""
import json
import os
import pathlib
import sys

if os.environ.get("RUN_MATRIX_PLOTS") == "specs":  # set by tests that need no pictures, to save time
    sys.exit()

try:
    import vl_convert
except ImportError:
    print("vl_convert is missing; install it into .venv with `./run_matrix` without --no-install, "
          "or: .venv/bin/pip install vl-convert-python", file=sys.stderr)
    sys.exit(2)

if len(sys.argv) < 2:
    print(__doc__, file=sys.stderr)
    sys.exit(2)


def render(spec, themes):
    text = spec.read_text(encoding="utf-8")
    stem = spec.name.removesuffix(".vl.json")
    for suffix, config in themes.items():
        svg = vl_convert.vegalite_to_svg(text, config=config, show_warnings=True)
        spec.with_name(f"{stem}{suffix}.svg").write_text(svg, encoding="utf-8")
        # Converted from the SVG, because rendering the spec a second time is the slowest step.
        spec.with_name(f"{stem}{suffix}.png").write_bytes(vl_convert.svg_to_png(svg, scale=2))


folder = pathlib.Path(__file__).parent
themes = {suffix: json.loads((folder / name).read_text(encoding="utf-8"))
          for suffix, name in {"": "light.json", "-dark": "dark.json"}.items()}
failed = 0
for name in sys.argv[1:]:
    try:
        render(pathlib.Path(name), themes)
    except (OSError, ValueError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        failed = 1
sys.exit(failed)
