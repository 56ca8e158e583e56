"""tf.data with decode_and_crop_jpeg (libjpeg's accurate DCT, as in all loaders). float32 stays NHWC."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import tensorflow as tf

from image_list import BATCH, DEVIATION, MEAN, SIDE

SCALE = [1 / (255 * value) for value in DEVIATION]
OFFSET = [-mean / deviation for mean, deviation in zip(MEAN, DEVIATION)]


def loader(images, threads, output):
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(threads)

    def load_image(path, box, flip):
        pixels = tf.image.decode_and_crop_jpeg(tf.io.read_file(path), box, channels=3, dct_method="INTEGER_ACCURATE")
        pixels = tf.image.resize(pixels, (SIDE, SIDE), antialias=True)
        pixels = tf.cond(flip, lambda: tf.reverse(pixels, [1]), lambda: pixels)
        if output == "uint8":
            return tf.cast(pixels + 0.5, tf.uint8)
        return pixels * SCALE + OFFSET

    options = tf.data.Options()
    options.threading.private_threadpool_size = threads
    options.threading.max_intra_op_parallelism = 1
    dataset = tf.data.Dataset.from_tensor_slices(([image.path for image in images],
                                                  [[image.y, image.x, image.h, image.w] for image in images],
                                                  [image.flip for image in images]))
    dataset = dataset.map(load_image, num_parallel_calls=threads).batch(BATCH).prefetch(2).with_options(options)
    return lambda: dataset.as_numpy_iterator()
