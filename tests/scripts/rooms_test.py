#!/usr/bin/env python3
"""rooms_test.py GRAPH SOURCE FOLDER...: a file may include only what its target links, directly or publicly.
rooms_test.py --picture GRAPH: the targets and their links as a Mermaid diagram, for docs/extending.md.

GRAPH is what tests/scripts/rooms.cmake wrote. Every #include "..." below the folders is compared with it; a wrong arrow is
named with file and line, and so is each include of a circle between two folders. docs/extending.md must hold the
picture of today. Without arguments the check itself is tested, on trees that break each rule.
"""
import os
import re
import sys
import tempfile
from collections import defaultdict

INCLUDE = re.compile(r'\s*#\s*include\s+"([^"]+)"')
SOURCE_ENDINGS = (".h", ".cpp", ".cu", ".cuh")


class Graph:
    """The targets: where each is defined, what it compiles, what it links."""

    def __init__(self, text):
        self.folders, self.links, self.hands_on, self.compiled_by = {}, {}, {}, defaultdict(list)
        for line in text.splitlines():
            name, folder, links, hands_on, sources = line.split("|")
            self.folders[name] = folder
            self.links[name] = set(links.split(";"))
            self.hands_on[name] = set(hands_on.split(";"))
            for source in filter(None, sources.split(";")):
                self.compiled_by[source].append(name)

    def may_include(self, target):
        seen, waiting = {target}, list(self.links[target])
        while waiting:
            link = waiting.pop()
            if link in self.folders and link not in seen:
                seen.add(link)
                waiting += self.hands_on[link]
        return seen

    def owners(self, file):
        """The targets that compile a file; of a header, those of the source next to it, or of its folder. None for a
        source that this build doesn't compile, such as CUDA's."""
        stem = os.path.splitext(file)[0]
        for source in [file] + [stem + ending for ending in SOURCE_ENDINGS]:
            if source in self.compiled_by:
                return self.compiled_by[source]
        if not file.endswith((".h", ".cuh")):
            return []
        folder = os.path.dirname(file)
        while folder:
            here = [name for name, place in self.folders.items() if place == folder]
            if here:
                return here
            folder = os.path.dirname(folder)
        return []


def picture(graph):
    """Rooms and programs; a link that another one implies is left out."""
    rooms = {name for name, folder in graph.folders.items()
             if folder.startswith(("harness/", "bench/")) and not name.endswith("_cuda")}
    lines = ["```mermaid", "graph TD"]
    for room in sorted(rooms):
        links = graph.links[room] & rooms
        implied = {below for link in links for below in graph.may_include(link) - {link}}
        lines += [f"  {room} --> {link}" for link in sorted(links - implied)]
    return "\n".join(lines + ["```", ""])


def includes_below(source, folder):
    for place, _, names in os.walk(os.path.join(source, folder)):
        for name in sorted(names):
            if not name.endswith(SOURCE_ENDINGS):
                continue
            file = os.path.relpath(os.path.join(place, name), source)
            with open(os.path.join(source, file), encoding="utf-8") as lines:
                for number, line in enumerate(lines, 1):
                    if match := INCLUDE.match(line):
                        yield file, number, match[1]


def circles(arrows):
    """Sets of folders that reach one another."""

    def reached(start):
        seen, waiting = set(), [start]
        while waiting:
            for other in arrows.get(waiting.pop(), {}):
                if other not in seen:
                    seen.add(other)
                    waiting.append(other)
        return seen

    reach = {folder: reached(folder) for folder in arrows}
    return {frozenset(b for b in reach[a] if a in reach.get(b, ())) for a in arrows if a in reach[a]}


def problems(graph, source, folders):
    found, checked = [], 0
    arrows = defaultdict(lambda: defaultdict(list))
    for folder in folders:
        for file, line, included in includes_below(source, folder):
            checked += 1
            if not os.path.exists(os.path.join(source, included)):
                found.append(f"{file}:{line}: {included}: no such file below the top of the project")
                continue
            here, there = os.path.dirname(file), os.path.dirname(included)
            if here == there:  # one folder, also where several programs are made of its files
                continue
            arrows[here][there].append(f"{file}:{line} includes {included}")
            owners = graph.owners(included)
            for target in graph.owners(file):
                if not graph.may_include(target).intersection(owners):
                    found.append(f"{file}:{line}: {target} includes {included} of {' and '.join(owners)}, "
                                 "which it doesn't link")
    for circle in circles(arrows):
        found.append("circle between " + ", ".join(sorted(circle)) + ":")
        found += [f"  {one}" for a in sorted(circle) for b in sorted(circle) for one in arrows[a].get(b, [])]
    if not checked:
        found.append(f"no #include was found below {' '.join(folders)}")
    return found


def test_the_check():
    graph = Graph("low|house/low|||house/low/low.cpp\n"
                  "middle|house/middle|low|low|house/middle/middle.cpp\n"
                  "high|house/high|middle|middle|house/high/high.cpp\n"
                  "hidden|house/hidden|low||house/hidden/hidden.cpp\n"
                  "user|house/user|hidden|hidden|house/user/user.cpp\n")
    good = {"house/low/low.h": "", "house/low/low.cpp": '#include "house/low/low.h"\n',
            "house/middle/middle.h": '#include "house/low/low.h"\n',
            "house/high/high.cpp": '#include "house/middle/middle.h"\n#include "house/low/low.h"\n'}
    cases = [
        ({}, []),
        ({"house/low/low.cpp": '\n#include "house/middle/middle.h"\n'},
         ["house/low/low.cpp:2: low includes house/middle/middle.h of middle", "circle between house/low, house/middle"]),
        ({"house/low/part/part.h": '#include "house/low/low.h"\n',
          "house/low/low.cpp": '#include "house/low/part/part.h"\n'}, ["circle between house/low, house/low/part"]),
        ({"house/user/user.cpp": '#include "house/low/low.h"\n'}, ["house/user/user.cpp:1: user includes house/low/low.h"]),
        ({"house/hidden/hidden.cpp": '#include "house/low/low.h"\n'}, []),
        ({"house/low/not_compiled.cpp": '#include "house/middle/middle.h"\n'},
         ["circle between house/low, house/middle"]),
        ({"house/low/low.cpp": '#include "house/low/gone.h"\n'}, ["house/low/low.cpp:1: house/low/gone.h: no such file"]),
    ]
    for changed, expected in cases:
        with tempfile.TemporaryDirectory() as source:
            for file, text in {**good, **changed}.items():
                os.makedirs(os.path.dirname(os.path.join(source, file)), exist_ok=True)
                with open(os.path.join(source, file), "w", encoding="utf-8") as stream:
                    stream.write(text)
            found = problems(graph, source, ["house"])
        named = [one for one in found if not one.startswith("  ")]
        assert len(named) == len(expected) and all(one.startswith(begin) for one, begin in zip(named, expected)), (
            f"with {changed}: expected {expected}, found {found}")
    assert problems(graph, tempfile.gettempdir(), ["no_such_folder"]), "a check of nothing must fail"


def main(arguments):
    test_the_check()
    if not arguments:
        return 0
    if arguments[0] == "--picture":
        with open(arguments[1], encoding="utf-8") as stream:
            print(picture(Graph(stream.read())), end="")
        return 0
    graph_file, source, *folders = arguments
    with open(graph_file, encoding="utf-8") as stream:
        graph = Graph(stream.read())
    found = problems(graph, source, folders)
    whole = {"train", "bench_micro"} <= graph.folders.keys()  # and not a build without LibTorch or Google Benchmark
    with open(os.path.join(source, "docs/extending.md"), encoding="utf-8") as page:
        if whole and picture(graph) not in page.read():
            found.append(f"docs/extending.md: not today's picture; put there what `{sys.argv[0]} --picture {graph_file}` prints")
    print("\n".join(found or [f"every #include below {' and '.join(folders)} has its link"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
