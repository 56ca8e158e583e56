# Writes pixels/: small encoded images, and what Pillow makes of crop + resize + flip on them. Run with Pillow and NumPy
# installed (written with Pillow 13.0.0): python3 make_pixels.py
import io
import pathlib

import numpy as np
from PIL import Image

out = pathlib.Path(__file__).parent / "pixels"
random = np.random.default_rng(1)


def picture(width, height, channels=3):
    """Smooth waves with edges and some noise, so that every part of the decoder has something to do."""
    y, x = np.mgrid[0:height, 0:width]
    planes = []
    for c in range(channels):
        wave = 128 + 70 * np.sin(x / (7 + 3 * c) + c) * np.cos(y / (11 - 2 * c))
        wave += 40 * (((x // 13) + (y // 9) + c) % 2) + random.normal(0, 12, (height, width))
        planes.append(np.clip(wave, 0, 255).astype(np.uint8))
    return np.stack(planes, -1) if channels > 1 else planes[0]


def jpeg(array, mode="RGB", **options):
    stream = io.BytesIO()
    Image.fromarray(array, mode if mode != "RGB" else None).save(stream, "JPEG", **options)
    return stream.getvalue()


def png(image):
    stream = io.BytesIO()
    image.save(stream, "PNG")
    return stream.getvalue()


def exif_with_thumbnail():
    """Orientation 6 (turned by 90 degrees) and a thumbnail with its own end-of-image marker."""
    thumbnail = jpeg(picture(32, 24), quality=50)
    entries = b"\x00\x01" + b"\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00"
    second = 8 + 2 + 12 + 4
    offset = second + 2 + 2 * 12 + 4
    pointers = b"\x00\x02"
    pointers += b"\x02\x01\x00\x04\x00\x00\x00\x01" + offset.to_bytes(4, "big")
    pointers += b"\x02\x02\x00\x04\x00\x00\x00\x01" + len(thumbnail).to_bytes(4, "big")
    tiff = b"MM\x00\x2a\x00\x00\x00\x08" + entries + second.to_bytes(4, "big") + pointers + b"\x00" * 4
    return b"Exif\x00\x00" + tiff + thumbnail


images = {
    "444.jpg": jpeg(picture(101, 67), quality=96, subsampling=0),
    "420.jpg": jpeg(picture(131, 90), quality=90, subsampling=2),
    "422.jpg": jpeg(picture(75, 56), quality=90, subsampling=1),
    "grey.jpg": jpeg(picture(83, 61, 1), mode="L", quality=90),
    "cmyk.jpg": jpeg(picture(70, 52, 4), mode="CMYK", quality=90),
    "progressive.jpg": jpeg(picture(97, 71), quality=90, subsampling=2, progressive=True),
    "restart.jpg": jpeg(picture(90, 60), quality=90, subsampling=0, restart_marker_blocks=3),
    "exif.jpg": jpeg(picture(90, 64), quality=90, subsampling=0, exif=exif_with_thumbnail()),
    "strip.jpg": jpeg(picture(500, 33), quality=85, subsampling=2),
    "tiny.jpg": jpeg(picture(9, 7), quality=96, subsampling=2),
    "large.jpg": jpeg(picture(420, 301), quality=70, subsampling=2),
    "png.JPEG": png(Image.fromarray(picture(60, 45))),
    "alpha.png": png(Image.fromarray(picture(50, 41, 4), "RGBA")),
    "palette.png": png(Image.fromarray(picture(40, 40)).quantize(64)),
}

out.mkdir(exist_ok=True)
with open(out / "cases.txt", "w") as cases:
    cases.write("# image left top width height flip side; pixels of all cases, in this order, are in expected.bin\n")
    results = []
    for name, data in images.items():
        (out / name).write_bytes(data)
        image = Image.open(io.BytesIO(data)).convert("RGB")
        width, height = image.size
        boxes = [(0, 0, width, height)]
        for _ in range(3):
            w, h = (int(random.integers(max(1, n // 4), n + 1)) for n in (width, height))
            boxes.append((int(random.integers(0, width - w + 1)), int(random.integers(0, height - h + 1)), w, h))
        boxes.append((width // 2, height // 2, 1, 1))
        for number, (left, top, w, h) in enumerate(boxes):
            side = 17 if number % 2 else 32
            flip = number in (1, 2)
            result = image.crop((left, top, left + w, top + h)).resize((side, side), Image.BILINEAR)
            if flip:
                result = result.transpose(Image.FLIP_LEFT_RIGHT)
            cases.write(f"{name} {left} {top} {w} {h} {int(flip)} {side}\n")
            results.append(np.asarray(result).tobytes())
    (out / "expected.bin").write_bytes(b"".join(results))
