// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Where a tensor lies in a device allocation. Expected values by hand from the guard of 512 bytes and the
// alignment of 256.
#include "harness/machine/gpu_span.h"

#include <catch2/catch_test_macros.hpp>

namespace kvr::gpu {
namespace {

TEST_CASE("a guarded tensor starts behind its guard, aligned, with the guard behind it included") {
  const DeviceSpan span = device_span(1000, {{-512, 1000 + 512}}, Placement::guarded);
  CHECK(span.data_offset == 512);
  CHECK(span.bytes == 512 + 1000 + 512);
}

TEST_CASE("committed bytes that begin at an odd place still leave the data aligned") {
  const DeviceSpan span = device_span(64, {{-700, 64}}, Placement::guarded);
  CHECK(span.data_offset == 768);  // 700 rounded up to 256s
  CHECK(span.bytes == 768 + 64);
}

TEST_CASE("with the end at a page the end of the data is aligned, as on the host") {
  const DeviceSpan span = device_span(1000, {{-512, 1000}}, Placement::end_at_page);
  CHECK(span.data_offset == 536);  // 512 + 1000 rounded up to 1536, less 1000
  CHECK(span.bytes == 1536);
}

TEST_CASE("rows far apart take everything between them") {
  const std::int64_t far = (std::int64_t{1} << 32) + 128;  // two rows, 2^31 + 64 elements of two bytes apart
  const DeviceSpan span = device_span(far + 256, {{-512, 256}, {far, far + 256 + 512}}, Placement::guarded);
  CHECK(span.data_offset == 512);
  CHECK(span.bytes == 512 + far + 256 + 512);
}

TEST_CASE("an empty tensor still has an address") {
  CHECK(device_span(0, {}, Placement::guarded).bytes == 1);
  CHECK(device_span(0, {}, Placement::guarded).data_offset == 0);
}

}  // namespace
}  // namespace kvr::gpu
