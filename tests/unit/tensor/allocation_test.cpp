// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Guards, poison and holes. Accesses that must fault are made by a child process.
#include "harness/tensor/allocation.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <csignal>
#include <cstring>
#include <fstream>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace kvr {
namespace {

// Does writing (or reading) this byte fault?
bool faults(std::byte* address, bool write = true) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::signal(SIGSEGV, SIG_DFL);  // the test framework's handler would report a failed test
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    auto* place = reinterpret_cast<volatile unsigned char*>(address);
    if (write) {
      *place = 1;
    } else {
      (void)*place;
    }
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

// Resident bytes of this process.
std::int64_t resident() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t size = 0;
  std::int64_t pages = 0;
  statm >> size >> pages;
  return pages * ::sysconf(_SC_PAGESIZE);
}

TEST_CASE("guards on both sides, inaccessible memory behind them") {
  const TensorSpec spec = TensorSpec::contiguous("t", DType::bf16, {5, 100});
  HostAllocation memory(spec, spec.addressed());
  CHECK(memory.bytes() == 1000);
  CHECK(reinterpret_cast<std::uintptr_t>(memory.data()) % 256 == 0);
  REQUIRE(memory.committed().size() == 1);
  const ByteRange all = memory.committed()[0];
  CHECK(all.begin <= -kGuardBytes);
  CHECK(all.end >= 1000 + kGuardBytes);
  CHECK_FALSE(faults(memory.data() + all.begin));
  CHECK_FALSE(faults(memory.data() + all.end - 1));
  CHECK(faults(memory.data() + all.begin - 1));
  CHECK(faults(memory.data() + all.end));
  CHECK(faults(memory.data() + all.end, false));
}

TEST_CASE("poison fills every committed byte") {
  const TensorSpec spec = TensorSpec::contiguous("t", DType::f32, {3, 7}).with_row_stride(9);
  HostAllocation memory(spec, spec.addressed());
  for (unsigned run = 0; run < 4; ++run) {
    memory.poison(poison_byte(run));
    const ByteRange all = memory.committed().at(0);
    CHECK(std::all_of(memory.data() + all.begin, memory.data() + all.end,
                      [run](std::byte b) { return b == poison_byte(run); }));
    CHECK(poison_byte(run) != poison_byte(run + 1));
  }
  // NaN in every format that has a NaN of this shape (specs: bf16 0xFFFF, 0x7F7F is finite and huge; e4m3fn
  // 0xFF, 0x7F).
  CHECK(poison_byte(0) == std::byte{0xFF});
  CHECK(poison_byte(1) == std::byte{0x7F});
}

TEST_CASE("a tensor that ends at the end of its last page: one byte further faults") {
  for (const std::int64_t columns : {1, 128, 2048, 4096, 5000}) {
    const TensorSpec spec = TensorSpec::contiguous("t", DType::e4m3fn, {1, columns});
    HostAllocation memory(spec, spec.addressed(), Placement::end_at_page);
    CHECK_FALSE(faults(memory.data() + columns - 1));
    CHECK(faults(memory.data() + columns));
    CHECK(faults(memory.data() + columns, false));
    REQUIRE(memory.committed().size() == 1);
    CHECK(memory.committed()[0].end == columns);
    CHECK(memory.committed()[0].begin <= -kGuardBytes);
  }
}

TEST_CASE("A7: three rows 2^30 + 64 elements apart cost a few pages, and the space between them faults") {
  const TensorSpec spec =
      TensorSpec::contiguous("t", DType::bf16, {3, 128}).with_row_stride((INT64_C(1) << 30) + 64);
  const std::int64_t before = resident();
  HostAllocation memory(spec, spec.addressed());
  memory.poison(std::byte{0xFF});
  CHECK(memory.bytes() == 4294967808);
  std::int64_t committed = 0;
  for (const ByteRange& range : memory.committed()) committed += range.end - range.begin;
  CHECK(memory.committed().size() == 3);
  CHECK(committed <= 3 * 2 * 4096);
  CHECK(resident() - before < 1 << 20);
  for (std::int64_t row = 0; row < 3; ++row) {
    auto* values = reinterpret_cast<std::uint16_t*>(memory.data()) + spec.row_start(row);
    for (std::int64_t c = 0; c < 128; ++c) values[c] = static_cast<std::uint16_t>(row * 128 + c);
  }
  CHECK(reinterpret_cast<std::uint16_t*>(memory.data())[2147483776 + 5] == 261);
  CHECK(faults(memory.data() + (INT64_C(1) << 30)));          // half-way to row 1
  CHECK(faults(memory.data() + (INT64_C(1) << 31) + 65536));  // behind row 1
  CHECK(faults(memory.data() - 4294966784));  // row 2 with a 32-bit product: 2^31 + 128 wraps to -2^31 + 128
}

TEST_CASE("memory from a pool: the same pages again, guarded like new ones") {
  const auto pool = std::make_shared<MappingPool>();
  const TensorSpec large = TensorSpec::contiguous("large", DType::f32, {1, 1 << 20});
  std::byte* place = nullptr;
  {
    HostAllocation memory(large, large.addressed(), Placement::guarded, pool);
    memory.poison(std::byte{0x5A});
    place = memory.data();
  }
  const TensorSpec smaller = TensorSpec::contiguous("smaller", DType::f32, {1, 300000});
  {
    HostAllocation memory(smaller, smaller.addressed(), Placement::guarded, pool);
    CHECK(memory.data() == place);
    REQUIRE(memory.committed().size() == 1);
    const ByteRange all = memory.committed()[0];
    CHECK_FALSE(faults(memory.data() + all.begin));
    CHECK_FALSE(faults(memory.data() + all.end - 1));
    CHECK(faults(memory.data() + all.begin - 1));
    CHECK(faults(memory.data() + all.end));
    CHECK(faults(memory.data() + large.bytes() - 1));  // the larger tensor's, which is gone
  }
  {
    HostAllocation memory(smaller, smaller.addressed(), Placement::end_at_page, pool);
    CHECK_FALSE(faults(memory.data() + smaller.bytes() - 1));
    CHECK(faults(memory.data() + smaller.bytes(), false));
  }
  {
    const TensorSpec larger = TensorSpec::contiguous("larger", DType::f32, {1, 1 << 21});
    HostAllocation memory(larger, larger.addressed(), Placement::guarded, pool);
    CHECK(memory.data() != place);
    CHECK_FALSE(faults(memory.data() + larger.bytes() - 1));
  }
  // Two at a time never share.
  HostAllocation one(smaller, smaller.addressed(), Placement::guarded, pool);
  HostAllocation other(smaller, smaller.addressed(), Placement::guarded, pool);
  one.poison(std::byte{1});
  other.poison(std::byte{2});
  CHECK(one.data()[0] == std::byte{1});
  HostAllocation moved = std::move(one);
  CHECK(moved.data()[0] == std::byte{1});
}

TEST_CASE("a pool keeps a few large ranges and nothing else") {
  const auto pool = std::make_shared<MappingPool>();
  const auto use = [&](std::int64_t bytes, int count) {
    const TensorSpec spec = TensorSpec::contiguous("t", DType::uint8, {1, bytes});
    std::vector<HostAllocation> all;
    for (int i = 0; i < count; ++i) {
      all.emplace_back(spec, spec.addressed(), Placement::guarded, pool);
      all.back().poison(std::byte{1});
    }
  };
  const std::int64_t before = resident();
  use(std::int64_t{8} << 20, 20);
  CHECK(resident() - before <= (std::int64_t{8} * 4 + 2) << 20);  // 4 of the 20
  CHECK(resident() - before >= (std::int64_t{8} * 4 - 2) << 20);
  // A range several times as large as what is asked for is left for something that needs it.
  CHECK(pool->take(std::size_t{1} << 20).begin == nullptr);
  const MappingPool::Mapping fits = pool->take(std::size_t{4} << 20);
  CHECK(fits.bytes >= std::size_t{8} << 20);
  pool->put(fits);
}

TEST_CASE("each committed range has guards of its own") {
  const TensorSpec spec = TensorSpec::contiguous("t", DType::f32, {100, 64}).with_row_stride(16384);
  HostAllocation memory(spec, spec.addressed({10, 50}));
  REQUIRE(memory.committed().size() == 2);
  CHECK(memory.committed()[0].begin <= 10 * 65536 - kGuardBytes);
  CHECK(memory.committed()[0].end >= 10 * 65536 + 256 + kGuardBytes);
  CHECK(memory.committed()[1].begin <= 50 * 65536 - kGuardBytes);
  CHECK(faults(memory.data()));  // row 0 was not asked for
  CHECK_FALSE(faults(memory.data() + 50 * 65536));
}

TEST_CASE("an empty tensor has guards and an address") {
  const TensorSpec spec = TensorSpec::contiguous("t", DType::f32, {0, 128});
  for (const Placement placement : {Placement::guarded, Placement::end_at_page}) {
    HostAllocation memory(spec, spec.addressed(), placement);
    CHECK(memory.data() != nullptr);
    CHECK(memory.bytes() == 0);
    CHECK_FALSE(faults(memory.data() - 1));
    memory.poison(std::byte{0x7F});
  }
}

TEST_CASE("moving an allocation moves its memory") {
  const TensorSpec spec = TensorSpec::contiguous("t", DType::f32, {4});
  HostAllocation a(spec, spec.addressed());
  std::byte* const where = a.data();
  HostAllocation b = std::move(a);
  CHECK(b.data() == where);
  HostAllocation c(spec, spec.addressed());
  c = std::move(b);
  CHECK(c.data() == where);
  c.data()[0] = std::byte{1};
}

TEST_CASE("running out of address space names the tensor and the size") {
  const TensorSpec spec =
      TensorSpec::contiguous("cache", DType::f32, {2, 1}).with_row_stride(INT64_C(1) << 60);
  CHECK_THROWS_AS(HostAllocation(spec, spec.addressed()), std::bad_alloc);
  CHECK_THROWS_WITH(
      HostAllocation(spec, spec.addressed()),
      Catch::Matchers::StartsWith("tensor 'cache': no address space for its 4611686018427387908 bytes: "));
}

}  // namespace
}  // namespace kvr
