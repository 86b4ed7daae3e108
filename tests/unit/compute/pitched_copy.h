// Rows and slices copied, for devices of every kind: bytes between them stay as they were.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "trine/compute/device.h"

namespace trine::compute {

// Three copies, into and out of buffers with gaps; the result must be the host's bytes and nothing else.
inline void expect_pitched_copies(const Device& device, Extent extent, size_t gap, size_t more_rows) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << extent.slices << " x " << extent.rows << " x "
                                  << extent.width_bytes << ", gap " << gap << ", rows between slices " << more_rows);
  std::mt19937 random(seed);
  const size_t row = extent.width_bytes + gap, slice = row * (extent.rows + more_rows), bytes = slice * extent.slices;
  const size_t dense = extent.width_bytes * extent.rows * extent.slices;
  std::vector<uint8_t> host(dense), back(bytes + 1, 0x77), whole(bytes + 1, 0);
  for (uint8_t& byte : host) byte = static_cast<uint8_t>(random());

  Stream stream = device.create_stream();
  const Buffer a = device.allocate(bytes + 1), b = device.allocate(bytes + 1);
  stream.fill(a, 0x11);
  stream.fill(b, 0x22);
  const Pitched in_a{a.data(), row, slice, bytes}, in_b{b.data(), row, slice, bytes};
  stream.copy(in_a, {host.data()}, extent, CopyKind::host_to_device);
  stream.copy(in_b, in_a, extent, CopyKind::device_to_device);
  stream.copy({back.data(), row, slice, bytes}, in_b, extent, CopyKind::device_to_host);
  stream.download(whole.data(), b, 0, bytes + 1);
  stream.synchronize();
  for (size_t i = 0; i <= bytes; ++i) {
    const size_t z = i / slice, y = i % slice / row, x = i % row;
    const bool copied = i < bytes && y < extent.rows && x < extent.width_bytes;
    const size_t from = (z * extent.rows + y) * extent.width_bytes + x;
    ASSERT_EQ(back[i], copied ? host[from] : 0x77) << "byte " << i << " of the host's";
    ASSERT_EQ(whole[i], copied ? host[from] : 0x22) << "byte " << i << " of the device's";
  }
}

inline void expect_pitched_copies(const Device& device) {
  for (const size_t width : {1, 31, 32, 33, 96, 256, 1024})
    for (const size_t rows : {1, 3})
      for (const size_t slices : {1, 4})
        for (const size_t gap : {0, 5}) expect_pitched_copies(device, {width, rows, slices}, gap, gap ? 2 : 0);
}

}  // namespace trine::compute
