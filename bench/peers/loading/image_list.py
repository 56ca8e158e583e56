"""The list of images for all loaders: lines `path TAB x TAB y TAB w TAB h TAB flip`."""
from typing import NamedTuple

SIDE = 224
BATCH = 64
MEAN = (0.485, 0.456, 0.406)
DEVIATION = (0.229, 0.224, 0.225)


class Image(NamedTuple):
    path: str
    x: int
    y: int
    w: int
    h: int
    flip: bool


def read_list(file):
    images = []
    try:
        lines = open(file, errors="surrogateescape").read().splitlines()
    except OSError as error:
        raise SystemExit(f"{file}: can't be read: {error.strerror}; expected a list of images; make_list.py writes one")
    for number, line in enumerate(lines, 1):
        fields = line.split("\t")
        if len(fields) != 6 or not all(field.isdecimal() for field in fields[1:]):
            raise SystemExit(f"{file}:{number}: expected path, x, y, w, h and flip separated by tabs, found {line!r}; "
                             "make_list.py writes such lists")
        images.append(Image(fields[0], *map(int, fields[1:5]), fields[5] == "1"))
    if not images:
        raise SystemExit(f"{file}: contains no images; make_list.py writes a list")
    return images


def batches(images):
    return [images[i:i + BATCH] for i in range(0, len(images), BATCH)]
