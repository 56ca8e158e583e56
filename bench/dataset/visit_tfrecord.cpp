// TFRecords of tf.train.Examples with image/encoded and image/class/label, the names of ImageNet's.
#include "bench/dataset/containers.h"

#ifdef HAVE_TFRECORD
#include <fmt/format.h>

#include "bench/formats/tfrecord_example.h"
#include "bench/formats/tfrecord_frame.h"

namespace bench {

void visit_tfrecord(const Container& container) {
  if (container.bytes.size() > 2 && container.bytes[0] == 0x1F && container.bytes[1] == 0x8B)
    throw std::runtime_error("it is compressed with gzip; decompress it with gunzip first");
  for (auto left = container.bytes; !left.empty();) {
    const auto data = data_of_frame(left);
    left = left.subspan(data.size() + kFrameHeaderBytes + kFrameFooterBytes);
    const auto image = image_of_example(data);
    if (!image)
      throw std::runtime_error("it is no tf.train.Example with image/encoded and image/class/label");
    container.take("", container.labels.numbered(image->label), image->bytes);
  }
}

}  // namespace bench
#endif
