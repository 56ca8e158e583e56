"""Batches filled by a thread pool, one task per image, two batches ahead of the delivered one."""
from concurrent.futures import ThreadPoolExecutor


def in_threads(batch, threads, data, empty_batch, load_into):
    """load_into(place, image, data) writes one image into its place in empty_batch(count, data)."""
    ahead = []
    with ThreadPoolExecutor(threads) as pool:
        for first in range(0, len(data.images) - batch + 1, batch):
            images, part = empty_batch(batch, data), data.images[first:first + batch]
            ahead.append((images, part, [pool.submit(load_into, images[i], image, data) for i, image in enumerate(part)]))
            if len(ahead) > 2:
                images, part, futures = ahead.pop(0)
                for future in futures:
                    future.result()
                yield images, [image.label for image in part]
