"""Writes a list of images with random crops and flips by torchvision's RandomResizedCrop and RandomHorizontalFlip.

Usage: python make_list.py DATA IMAGES SEED > FILE. DATA contains train/<class>/<image>.JPEG. Only RGB and greyscale
JPEGs are used, because several loaders don't accept CMYK and PNG.
"""
import pathlib
import random
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "pytorch"))
import needs

needs.packages("PIL", "torch", "torchvision", install="python3 -m venv .venv-peer && .venv-peer/bin/pip install -r "
               f"{HERE / 'requirements.txt'}, then use .venv-peer/bin/python")
import PIL.Image
import torch
from torchvision.transforms import RandomResizedCrop


def main(data, count, seed):
    files = sorted(path for path in pathlib.Path(data, "train").resolve().glob("*/*") if path.suffix.lower() in (".jpeg", ".jpg"))
    random.Random(seed).shuffle(files)
    torch.manual_seed(seed)
    written = 0
    for path in files:
        if written == count:
            break
        with PIL.Image.open(path) as image:
            if image.format != "JPEG" or image.mode not in ("RGB", "L"):
                continue
            y, x, h, w = RandomResizedCrop.get_params(image, (0.08, 1.0), (3 / 4, 4 / 3))
        print(path, x, y, w, h, int(torch.rand(1) < 0.5), sep="\t")
        written += 1
    if written < count:
        sys.exit(f"{data}: expected at least {count} RGB or greyscale JPEGs, found {written}; request fewer images")


if len(sys.argv) != 4:
    sys.exit(__doc__)
needs.folder(sys.argv[1], "train", "name a data set, e.g. data/stand-in-5408-seed1, which ./run_matrix makes")
main(sys.argv[1], *needs.numbers(sys.argv[2:], 2))
