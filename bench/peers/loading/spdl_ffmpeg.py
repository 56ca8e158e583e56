"""SPDL: FFmpeg's filters in threads. They scale before converting to RGB, so pixels differ from Pillow's."""
import spdl.io
import torch
from spdl.pipeline import PipelineBuilder

from image_list import BATCH, SIDE
from torch_pixels import OFFSET, SCALE


def filters(image):
    flip = "hflip," if image.flip else ""
    return (f"crop={image.w}:{image.h}:{image.x}:{image.y}:exact=1,scale={SIDE}:{SIDE}:flags=bilinear,{flip}"
            "format=pix_fmts=rgb24")


def loader(images, threads, output):
    def decode(image):
        return spdl.io.decode_packets(spdl.io.demux_image(image.path), filter_desc=filters(image))

    def convert(frames):
        pixels = spdl.io.to_torch(spdl.io.convert_frames(frames))
        if output == "uint8":
            return pixels
        return torch.addcmul(OFFSET, pixels.permute(0, 3, 1, 2), SCALE).contiguous()

    decode(images[0])  # fails here without FFmpeg's libraries; a pipeline would only skip the images

    def load():
        pipeline = (PipelineBuilder().add_source(images).pipe(decode, concurrency=threads, output_order="input")
                    .aggregate(BATCH).pipe(convert).add_sink(2).build(num_threads=threads))
        with pipeline.auto_stop():
            yield from pipeline

    return load
