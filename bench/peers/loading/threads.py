"""Batches filled by a thread pool, one task per image, one batch ahead of the delivered batch."""
from concurrent.futures import ThreadPoolExecutor

from image_list import batches


def in_threads(images, threads, empty_batch, load_into):
    """Returns a loader. load_into(place, image) writes one image into its place in empty_batch(count)."""
    pool = ThreadPoolExecutor(threads)

    def begin(part):
        batch = empty_batch(len(part))
        return batch, [pool.submit(load_into, batch[i], image) for i, image in enumerate(part)]

    def load():
        ahead = []
        for part in batches(images):
            ahead.append(begin(part))
            if len(ahead) > 2:
                yield finished(ahead.pop(0))
        for pending in ahead:
            yield finished(pending)

    def finished(pending):
        batch, futures = pending
        for future in futures:
            future.result()
        return batch

    return load
