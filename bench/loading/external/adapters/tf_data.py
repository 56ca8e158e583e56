"""tf.data with decode_and_crop_jpeg (libjpeg's accurate DCT, as in all loaders)."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import tensorflow as tf


def batches(rank, world, batch, threads, data):
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(threads)

    def load_image(path, box, flip, label):
        pixels = tf.image.decode_and_crop_jpeg(tf.io.read_file(path), box, channels=3, dct_method="INTEGER_ACCURATE")
        pixels = tf.image.resize(pixels, (data.px, data.px), antialias=True)
        pixels = tf.cond(flip, lambda: tf.reverse(pixels, [1]), lambda: pixels)
        if data.format == "uint8":
            return tf.cast(pixels + 0.5, tf.uint8), label
        pixels = (pixels / 255 - data.mean) / data.deviation
        return tf.transpose(pixels, [2, 0, 1]), label

    options = tf.data.Options()
    options.threading.private_threadpool_size = threads
    options.threading.max_intra_op_parallelism = 1
    images = data.images
    dataset = tf.data.Dataset.from_tensor_slices(([image.path for image in images],
                                                  [[image.y, image.x, image.h, image.w] for image in images],
                                                  [bool(image.flip) for image in images], [image.label for image in images]))
    dataset = dataset.map(load_image, num_parallel_calls=threads).batch(batch, drop_remainder=True).prefetch(2)
    yield from dataset.with_options(options).as_numpy_iterator()
