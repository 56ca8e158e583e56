"""Checks a script's requirements. If one is missing, the script ends with exit code 2, a message and the next step."""
import importlib.util
import os
import pathlib
import sys

TORCH = "python3 -m venv .venv-peer && .venv-peer/bin/pip install torch==2.11.0 torchvision pillow, then use .venv-peer/bin/python"


def fail(problem, next_step):
    print(f"{pathlib.Path(sys.argv[0]).name}: {problem}\n  next: {next_step}", file=sys.stderr)
    sys.exit(2)


def packages(*names, install=TORCH):
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    if missing:
        fail(f"{sys.executable}: expected a Python with {', '.join(names)}; {', '.join(missing)} is missing", install)


def program(path, build):
    if not (pathlib.Path(path).is_file() and os.access(path, os.X_OK)):
        fail(f"{path}: expected a program, which is not built", build)


def numbers(words, count):
    """Parses exactly `count` whole numbers above 0. With another number of words, prints the script's docstring."""
    if len(words) != count:
        sys.exit(sys.modules["__main__"].__doc__)
    for word in words:
        if not word.isdecimal() or int(word) < 1:
            fail(f"expected a whole number above 0, found {word!r}", "repeat with such a number")
    return [int(word) for word in words]
