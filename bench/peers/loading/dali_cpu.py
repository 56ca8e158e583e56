"""NVIDIA DALI's CPU operators: the decoder crops; INTERP_LINEAR with antialiasing is Pillow's filter."""
import numpy as np
from nvidia.dali import fn, pipeline_def, types

from image_list import BATCH, DEVIATION, MEAN, SIDE, batches


@pipeline_def
def crops(parts, output):
    def next_batch(iteration):
        if iteration >= len(parts):
            raise StopIteration
        part = parts[iteration]
        return ([np.fromfile(image.path, np.uint8) for image in part],
                [np.array([image.x, image.y], np.int32) for image in part],
                [np.array([image.w, image.h], np.int32) for image in part],
                [np.array(image.flip, np.int32) for image in part])

    encoded, anchor, shape, flip = fn.external_source(next_batch, num_outputs=4, batch=True)
    pixels = fn.decoders.image_slice(encoded, start=anchor, shape=shape, axis_names="WH", device="cpu",
                                     output_type=types.RGB, adjust_orientation=False)
    pixels = fn.resize(pixels, resize_x=SIDE, resize_y=SIDE, interp_type=types.INTERP_LINEAR, antialias=True)
    if output == "uint8":
        return fn.flip(pixels, horizontal=flip)
    return fn.crop_mirror_normalize(pixels, mirror=flip, dtype=types.FLOAT, output_layout="CHW",
                                    mean=[255 * value for value in MEAN], std=[255 * value for value in DEVIATION])


def loader(images, threads, output):
    def load():  # builds a new pipeline for each pass, because one that is reset loads ahead between passes
        pipeline = crops(batches(images), output, batch_size=BATCH, num_threads=threads, device_id=None,
                         prefetch_queue_depth=2)
        pipeline.build()
        while True:
            try:
                (batch,) = pipeline.run()
            except StopIteration:
                return
            yield batch.as_array()

    return load
