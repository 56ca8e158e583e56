"""SPDL: FFmpeg's filters in threads. They scale before converting to RGB, so pixels differ from Pillow's."""
import spdl.io
from spdl.pipeline import PipelineBuilder

from torch_pixels import normalised


try:
    spdl.io.demux_config()
except RuntimeError as error:  # a pipeline would only skip the images
    raise ImportError("SPDL finds no libraries of FFmpeg 4 to 9; next: apt-get install ffmpeg") from error


def decoded(image, data):
    filters = "crop=%d:%d:%d:%d:exact=1,scale=%d:%d:flags=bilinear,%sformat=pix_fmts=rgb24" % (
        image.w, image.h, image.x, image.y, data.px, data.px, "hflip," if image.flip else "")
    return spdl.io.decode_packets(spdl.io.demux_image(image.path), filter_desc=filters), image.label


def converted(part, data):
    frames, labels = zip(*part)
    pixels = spdl.io.to_torch(spdl.io.convert_frames(list(frames)))
    if data.format == "float32":
        pixels = normalised(pixels.permute(0, 3, 1, 2), data).contiguous()
    return pixels, labels


def batches(rank, world, batch, threads, data):
    pipeline = (PipelineBuilder().add_source(data.images)
                .pipe(lambda image: decoded(image, data), concurrency=threads, output_order="input")
                .aggregate(batch, drop_last=True).pipe(lambda part: converted(part, data)).add_sink(2)
                .build(num_threads=threads))
    with pipeline.auto_stop():
        yield from pipeline
