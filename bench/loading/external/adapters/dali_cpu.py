"""NVIDIA DALI's CPU operators: the decoder crops; INTERP_LINEAR with antialiasing is Pillow's filter."""
import numpy as np
from nvidia.dali import fn, pipeline_def, types


@pipeline_def
def crops(batch, data):
    def next_batch(iteration):
        part = data.images[iteration * batch:(iteration + 1) * batch]
        if len(part) < batch:
            raise StopIteration
        return ([np.fromfile(image.path, np.uint8) for image in part],
                [np.array([image.x, image.y], np.int32) for image in part],
                [np.array([image.w, image.h], np.int32) for image in part],
                [np.array(image.flip, np.int32) for image in part],
                [np.array(image.label, np.int64) for image in part])

    encoded, anchor, shape, flip, label = fn.external_source(next_batch, num_outputs=5, batch=True)
    pixels = fn.decoders.image_slice(encoded, start=anchor, shape=shape, axis_names="WH", device="cpu",
                                     output_type=types.RGB, adjust_orientation=False)
    pixels = fn.resize(pixels, resize_x=data.px, resize_y=data.px, interp_type=types.INTERP_LINEAR, antialias=True)
    if data.format == "uint8":
        return fn.flip(pixels, horizontal=flip), label
    return fn.crop_mirror_normalize(pixels, mirror=flip, dtype=types.FLOAT, output_layout="CHW",
                                    mean=[255 * value for value in data.mean],
                                    std=[255 * value for value in data.deviation]), label


def batches(rank, world, batch, threads, data):
    pipeline = crops(batch, data, batch_size=batch, num_threads=threads, device_id=None, prefetch_queue_depth=2)
    pipeline.build()
    while True:
        try:
            pixels, labels = pipeline.run()
        except StopIteration:
            return
        yield pixels.as_array(), labels.as_array()
