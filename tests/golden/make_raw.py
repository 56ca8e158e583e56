# Writes raw/: what torchvision's Resize(256) makes of the images in pixels/, every 32nd row of it. Run with torchvision
# and Pillow installed (written with torchvision 0.26.0 and Pillow 13.0.0): python3 make_raw.py
import pathlib

import numpy as np
from PIL import Image
from torchvision.transforms import Resize

here = pathlib.Path(__file__).parent
rows, cases = [], []
for file in sorted((here / "pixels").iterdir()):
    if file.suffix in (".txt", ".bin"):
        continue
    pixels = np.asarray(Resize(256)(Image.open(file).convert("RGB")))
    rows.append(pixels[5::32].tobytes())
    cases.append(f"{file.name} {pixels.shape[1]} {pixels.shape[0]}\n")
(here / "raw" / "expected.bin").write_bytes(b"".join(rows))
(here / "raw" / "cases.txt").write_text("".join(cases))
