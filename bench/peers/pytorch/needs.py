"""What a script needs and may lack: each function ends the script with what is missing and how to get it."""
import importlib.util
import os
import pathlib
import sys

TORCH = "python3 -m venv .venv-peer && .venv-peer/bin/pip install torch==2.11.0 torchvision pillow, then use .venv-peer/bin/python"


def fail(problem, next_step):
    sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {problem}\n  next: {next_step}")


def packages(*names, install=TORCH):
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    if missing:
        fail(f"{sys.executable}: expected a Python with {', '.join(names)}; {', '.join(missing)} is missing", install)


def program(path, build):
    if not (pathlib.Path(path).is_file() and os.access(path, os.X_OK)):
        fail(f"{path}: expected a program, which is not built", build)


def folder(path, inside, next_step):
    if not pathlib.Path(path, inside).is_dir():
        fail(f"{path}: expected a folder that holds {inside}/, found none", next_step)


def numbers(words, count):
    """As many whole numbers above 0 as there are; without exactly so many, what the script's head says of its usage."""
    if len(words) != count:
        sys.exit(sys.modules["__main__"].__doc__)
    for word in words:
        if not word.isdecimal() or int(word) < 1:
            fail(f"expected a whole number above 0, found {word!r}", "repeat with one")
    return [int(word) for word in words]
