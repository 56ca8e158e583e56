"""What a Python lacks for a row with engine pytorch or pytorch_compiled, and how to get it. Imports no torch until all is there."""
import importlib.util
import os
import pathlib
import shutil
import sys
import sysconfig

EAGER = ("torch", "typing_extensions", "sympy", "mpmath")
COMPILED = ("networkx", "jinja2", "markupsafe", "filelock")


def why_not(engine, device):
    """Empty if a row can run."""
    names = EAGER + (COMPILED if engine == "pytorch_compiled" else ())
    lacking = [name for name in names if importlib.util.find_spec(name) is None]
    if "torch" in lacking:
        return (f"{sys.executable} has no torch; next: python3 -m venv V && V/bin/pip install torch==2.11.0, then "
                "PYTHON=V/bin/python3 ./run_matrix ...")
    if lacking:
        return f"the torch of {sys.executable} lacks {', '.join(lacking)}; next: {sys.executable} -m pip install {' '.join(lacking)}"
    if engine == "pytorch_compiled":
        lacking = what_the_compiler_lacks(device)
        if lacking:
            return lacking
    try:
        import torch
    except (ImportError, OSError) as error:  # .venv has torch's C++ library, and those for GPUs only beside a CUDA toolkit
        return (f"the torch of {sys.executable} can't be imported: {error}; next: python3 -m venv V && V/bin/pip install "
                "torch==2.11.0, then PYTHON=V/bin/python3 ./run_matrix ...")
    except Exception:  # the row's own start shows it whole
        return ""
    if device == "cuda" and not torch.cuda.is_available():
        return (f"the torch of {sys.executable} finds no NVIDIA GPU; next: install a torch for CUDA there, or name a Python "
                "that has one in PYTHON")
    return ""


def what_the_compiler_lacks(device):
    """torch.compile makes C++ for a processor; for a GPU Triton compiles a launcher in C."""
    if device == "cpu":
        who, package, compilers = "torch.compile", "g++", (os.environ.get("CXX", "g++"), "g++", "clang++")
    else:
        who, package, compilers = "Triton", "gcc", (os.environ.get("CC", "cc"), "gcc", "clang")
    if not any(shutil.which(name) for name in compilers):
        return f"there is no compiler, which {who} needs; next: apt-get install {package}"
    headers = sysconfig.get_paths()["include"]
    if not pathlib.Path(headers, "Python.h").is_file():
        return f"Python.h is missing in {headers}, which {who} needs; next: apt-get install python3-dev"
    if device == "cuda" and importlib.util.find_spec("triton") is None:
        return f"the torch of {sys.executable} lacks triton; next: {sys.executable} -m pip install triton"
    return ""
