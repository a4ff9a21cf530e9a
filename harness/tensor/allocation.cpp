// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/tensor/allocation.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

namespace kvr {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

class AllocationError : public std::bad_alloc {
 public:
  explicit AllocationError(std::string what) : what_(std::move(what)) {}
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  std::string what_;
};

std::int64_t page_size() {
  static const std::int64_t size = ::sysconf(_SC_PAGESIZE);
  return size;
}

std::int64_t round_down(std::int64_t n, std::int64_t unit) {
  return n - (n % unit + unit) % unit;
}
std::int64_t round_up(std::int64_t n, std::int64_t unit) {
  return -round_down(-n, unit);
}

// The accessible bytes: whole pages around the ranges and their guards, relative to the data, which begins
// `lead` bytes into a page.
std::vector<ByteRange> accessible(const std::vector<ByteRange>& ranges, std::int64_t bytes, std::int64_t lead,
                                  Placement placement) {
  std::vector<ByteRange> pages;
  const auto add = [&](std::int64_t begin, std::int64_t end) {
    const bool last = placement == Placement::end_at_page && end >= bytes;  // nothing behind the data
    begin = round_down(begin - kGuardBytes + lead, page_size()) - lead;
    end =
        (last ? round_up(bytes + lead, page_size()) : round_up(end + kGuardBytes + lead, page_size())) - lead;
    if (placement == Placement::end_at_page) end = std::min(end, bytes);
    if (!pages.empty() && begin <= pages.back().end) {
      pages.back().end = std::max(pages.back().end, end);
    } else {
      pages.push_back({begin, end});
    }
  };
  if (ranges.empty()) add(0, 0);  // an empty tensor has guards too
  for (const ByteRange& range : ranges) add(range.begin, range.end);
  return pages;
}

}  // namespace

std::byte poison_byte(unsigned run) {
  return run % 2 == 0 ? std::byte{0xFF} : std::byte{0x7F};
}

MappingPool::MappingPool() {
  mappings_.reserve(kMost + 1);  // so that put() never fails
}

MappingPool::~MappingPool() {
  for (const Mapping& mapping : mappings_) ::munmap(mapping.begin, mapping.bytes);
}

MappingPool::Mapping MappingPool::take(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  constexpr std::size_t kWaste = 4;
  auto best = mappings_.end();
  for (auto it = mappings_.begin(); it != mappings_.end(); ++it)
    if (it->bytes >= bytes && it->bytes / kWaste <= bytes &&
        (best == mappings_.end() || it->bytes < best->bytes))
      best = it;
  if (best == mappings_.end()) return {};
  const Mapping mapping = *best;
  mappings_.erase(best);
  return mapping;
}

void MappingPool::put(Mapping mapping) {
  const std::lock_guard lock(mutex_);
  constexpr std::size_t kSmall = std::size_t{1} << 20;  // not worth keeping
  constexpr std::size_t kHuge = std::size_t{4} << 30;   // address space for the most part
  if (mapping.bytes < kSmall || mapping.bytes > kHuge) {
    ::munmap(mapping.begin, mapping.bytes);
    return;
  }
  mappings_.push_back(mapping);
  if (mappings_.size() <= kMost) return;
  ::munmap(mappings_.front().begin, mappings_.front().bytes);
  mappings_.erase(mappings_.begin());
}

HostAllocation::HostAllocation(const TensorSpec& spec, const std::vector<ByteRange>& committed,
                               Placement placement, std::shared_ptr<MappingPool> pool)
    : pool_(std::move(pool)), bytes_(spec.bytes()) {
  spec.validate();
  const std::int64_t page = page_size();
  // Where the data begins within its page. kGuardBytes is a multiple of 256, the alignment promised for
  // guarded tensors.
  static_assert(kGuardBytes % 256 == 0);
  const std::int64_t lead = placement == Placement::guarded ? kGuardBytes : round_up(bytes_, page) - bytes_;
  committed_ = accessible(committed, bytes_, lead, placement);

  // Inaccessible pages at both ends, and in between all that the ranges and the data span. An offset beyond
  // 2^31 that is computed in 32 bits wraps to as much as 2^31 elements in front of the data: where that can
  // happen, nothing else may lie there.
  constexpr std::int64_t kWrap = INT64_C(1) << 31;
  const std::int64_t in_front =
      bytes_ > kWrap ? kWrap * static_cast<std::int64_t>(dtype_size(spec.dtype)) : 0;
  const std::int64_t first = std::min(committed_.front().begin, -lead) - in_front;
  const std::int64_t end = std::max(committed_.back().end, round_up(bytes_ + lead, page) - lead);
  const auto needed = static_cast<std::size_t>(end - first + 2 * page);
  if (pool_ != nullptr) reserved_ = pool_->take(needed);
  if (reserved_.begin == nullptr || ::mprotect(reserved_.begin, reserved_.bytes, PROT_NONE) != 0) {
    release();
    void* const begin =
        ::mmap(nullptr, needed, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (begin == MAP_FAILED)
      throw AllocationError(fmt::format("tensor '{}': no address space for its {} bytes: {}", spec.name,
                                        bytes_, std::strerror(errno)));
    reserved_ = {begin, needed};
  }
  data_ = static_cast<std::byte*>(reserved_.begin) + page - first;
  for (const ByteRange& range : committed_) {
    const auto size = static_cast<std::size_t>(range.end - range.begin);
    if (::mprotect(data_ + range.begin, size, PROT_READ | PROT_WRITE) == 0) {
#if defined(MADV_HUGEPAGE)
      // Large tensors are touched as a whole, once per case: one fault per 2 MiB instead of one per page. A
      // wish only; small ranges (a paged cache's rows) keep small pages.
      if (size >= kHugePage) ::madvise(data_ + range.begin, size, MADV_HUGEPAGE);
#endif
      continue;
    }
    const int error = errno;
    release();
    throw AllocationError(
        fmt::format("tensor '{}': cannot commit {} bytes: {}", spec.name, size, std::strerror(error)));
  }
}

HostAllocation::HostAllocation(HostAllocation&& other) noexcept {
  *this = std::move(other);
}

HostAllocation& HostAllocation::operator=(HostAllocation&& other) noexcept {
  std::swap(reserved_, other.reserved_);
  std::swap(pool_, other.pool_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(committed_, other.committed_);
  return *this;
}

HostAllocation::~HostAllocation() {
  release();
}

void HostAllocation::release() noexcept {
  if (reserved_.begin == nullptr) return;
  if (pool_ != nullptr)
    pool_->put(reserved_);
  else
    ::munmap(reserved_.begin, reserved_.bytes);
  reserved_ = {};
}

void HostAllocation::poison(std::byte pattern) {
  for (const ByteRange& range : committed_) {
    std::memset(data_ + range.begin, std::to_integer<int>(pattern),
                static_cast<std::size_t>(range.end - range.begin));
  }
}

}  // namespace kvr
