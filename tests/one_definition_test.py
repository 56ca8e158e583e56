#!/usr/bin/env python3
"""one_definition_test.py FOLDER...: no two files may define different types of one name in one namespace.

The linker keeps one of the two constructors and destructors without a word, and what the other type's users then run
overwrites memory that is not theirs (C++'s one-definition rule). A compiler sees it only with link-time optimisation.
Types in functions, in other types and in nameless namespaces are free. Without arguments the check itself is tested.
"""
import os
import re
import sys
import tempfile
from collections import defaultdict

NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
OPENING = re.compile(r"[{}]|\bnamespace\s+(?P<space>[\w:]*)\s*\{|"
                     r"(?<![<,]\s)(?<![<,])\b(?:struct|class|union|enum|enum class)\s+(?P<type>\w+)"
                     r"\s*(?:final\s*)?(?::(?!:)[^;{}()]*)?\{")


def definitions(text):
    """(line, qualified name) of each type that a file defines at namespace level."""
    text = NOT_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    open_blocks = []  # the name of a namespace, None of anything else
    for found in OPENING.finditer(text):
        if found[0] == "}":
            if open_blocks:
                open_blocks.pop()
            continue
        if found["type"] and all(open_blocks):
            yield text.count("\n", 0, found.start()) + 1, "::".join(open_blocks + [found["type"]])
        open_blocks.append(found["space"] or None)


def problems(folders):
    places = defaultdict(list)
    for folder in folders:
        for below, _, names in os.walk(folder):
            for name in names:
                if name.endswith((".h", ".cpp", ".cu", ".cuh")):
                    file = os.path.join(below, name)
                    with open(file, encoding="utf-8") as stream:
                        for line, type_name in definitions(stream.read()):
                            places[type_name].append(f"{file}:{line}")
    found = [f"{name} is defined in {' and '.join(sorted(where))}: rename one, or put it into a nameless namespace"
             for name, where in sorted(places.items()) if len(where) > 1]
    return found or ([] if places else [f"no type was found below {' '.join(folders)}"])


def test_the_check():
    one = "namespace house {\nstruct Room final : Base<int> {\n  struct Part { int a = 0; };\n};\n"
    for other, is_refused in (
            ("namespace house {\nclass Room {\n};\n}\n", True),
            ("namespace other {\nstruct Room {\n};\n}\n", False),
            ("namespace house {\nnamespace {\nstruct Room {};\n}\n}\n", False),
            ("namespace house {\nstruct Room;\nvoid f() {\n  struct Room {};\n}\n}\n", False),
            ("namespace house {\nstruct Hall::Room {\n};\ntemplate <class Room>\nvoid g() {}\n}\n", False),
            ("namespace house {\n// struct Room {\nstruct Part {};\nconst char* text = \"struct Room {\";\n}\n", False)):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("one.h", one), ("other.cpp", other)):
                with open(os.path.join(folder, name), "w", encoding="utf-8") as stream:
                    stream.write(text)
            found = problems([folder])
        assert bool(found) == is_refused and all("house::Room" in line for line in found), f"{other}: {found}"
    with tempfile.TemporaryDirectory() as empty:
        assert problems([empty]), "a check of nothing must fail"


def main(folders):
    test_the_check()
    found = problems(folders) if folders else []
    print("\n".join(found or [f"no type below {' and '.join(folders)} is defined twice"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
