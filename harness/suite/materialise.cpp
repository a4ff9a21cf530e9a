// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/suite/materialise.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

namespace kvr {
namespace {

// Up to this size a tensor's memory exists as a whole, poisoned where nothing is addressed, so that a read of
// a wrong row gives NaN; beyond it, only pages around what is addressed exist, and a wrong access faults.
constexpr std::int64_t kWholeBytes = std::int64_t{4} << 20;

static_assert(std::endian::native == std::endian::little, "codes are stored little-endian");

std::vector<std::int64_t> existing_rows(const TensorDecl& decl) {
  std::vector<std::int64_t> rows = decl.rows;
  if (rows.empty()) {
    rows.resize(static_cast<std::size_t>(decl.spec.rows()));
    std::iota(rows.begin(), rows.end(), 0);
  } else {
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  }
  return rows;
}

// Calls copy(memory, code) for each run of consecutive bytes of the given rows; `code` points into logical
// order.
template <class Memory, class Codes, class Copy>
void for_each_run(const TensorSpec& spec, std::span<const std::int64_t> rows, Memory* memory, Codes* codes,
                  Copy copy) {
  const auto size = static_cast<std::int64_t>(dtype_size(spec.dtype));
  const std::int64_t row_len = spec.row_len();
  const std::int64_t inner = spec.inner_stride();
  for (std::size_t r = 0; r < rows.size(); ++r) {
    Memory* row = memory + spec.row_start(rows[r]) * size;
    Codes* code = codes + static_cast<std::int64_t>(r) * row_len * size;
    if (inner == 1) {
      copy(row, code, static_cast<std::size_t>(row_len * size));
    } else {
      for (std::int64_t c = 0; c < row_len; ++c)
        copy(row + c * inner * size, code + c * size, static_cast<std::size_t>(size));
    }
  }
}

// Of the ranges `all`, what lies in none of `holes`. Both ascending and disjoint.
std::vector<ByteRange> complement(const std::vector<ByteRange>& all, const std::vector<ByteRange>& holes) {
  std::vector<ByteRange> rest;
  std::size_t next = 0;
  for (const ByteRange& range : all) {
    std::int64_t at = range.begin;
    while (next < holes.size() && holes[next].end <= at) ++next;
    for (std::size_t h = next; h < holes.size() && holes[h].begin < range.end; ++h) {
      if (holes[h].begin > at) rest.push_back({at, holes[h].begin});
      at = std::max(at, holes[h].end);
    }
    if (at < range.end) rest.push_back({at, range.end});
  }
  return rest;
}

// What `tensor` can use of an earlier one of its name.
void take_over(std::vector<HostTensor>& previous, HostTensor& tensor) {
  for (std::size_t p = 0; p < previous.size(); ++p) {
    HostTensor& old = previous[p];
    if (old.spec.name != tensor.spec.name) continue;
    tensor.codes = std::move(old.codes);
    tensor.hashed = old.hashed;
    if (!tensor.source || old.source != tensor.source || old.spec.dtype != tensor.spec.dtype ||
        old.spec.shape != tensor.spec.shape || old.rows != tensor.rows)
      tensor.codes.clear();  // its capacity is of use
    if (old.spec == tensor.spec && old.committed == tensor.committed && old.placement == tensor.placement) {
      tensor.memory = std::move(old.memory);
      tensor.taken_from = p;
    }
    return;
  }
}

}  // namespace

std::vector<HostTensor> materialise(const CaseBuilder& builder, std::string_view data_id,
                                    std::vector<HostTensor> previous,
                                    const std::shared_ptr<MappingPool>& pool) {
  std::vector<HostTensor> tensors;
  tensors.reserve(builder.tensors().size());
  for (const TensorDecl& decl : builder.tensors()) {
    HostTensor& tensor = tensors.emplace_back();
    tensor.decl = &decl;
    tensor.rows = existing_rows(decl);
    tensor.addressed = decl.spec.addressed(tensor.rows);
    tensor.spec = decl.spec;
    tensor.placement = decl.placement;
    if (decl.role != Role::output && decl.fill.kind != Fill::Kind::list)
      tensor.source = Source{builder.seed(), std::string(data_id), decl.fill};
    const std::int64_t bytes = decl.spec.bytes();
    tensor.committed = bytes <= kWholeBytes ? std::vector<ByteRange>{{0, bytes}} : tensor.addressed;
    take_over(previous, tensor);
  }
  previous.clear();  // what is of no use any more makes room for what is missing
  for (HostTensor& tensor : tensors) {
    const TensorDecl& decl = *tensor.decl;
    if (!tensor.taken_from) tensor.memory = HostAllocation(decl.spec, tensor.committed, decl.placement, pool);
    tensor.around = complement(tensor.memory.committed(), tensor.addressed);
    if (decl.role == Role::output || !tensor.codes.empty()) continue;
    const RandomStream stream(builder.seed(), data_id, decl.spec.name);
    const std::int64_t row_len = decl.spec.row_len();
    const auto row_bytes = static_cast<std::size_t>(row_len) * dtype_size(decl.spec.dtype);
    tensor.codes.resize(tensor.rows.size() * row_bytes);
    // Threads pay off from about 64 Ki elements; below, starting them costs more than the work.
    const std::size_t grain = static_cast<std::size_t>(65536 / std::max<std::int64_t>(row_len, 1)) + 1;
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, tensor.rows.size(), grain), [&](const auto& range) {
      for (std::size_t r = range.begin(); r != range.end(); ++r)
        fill_row(decl.fill, stream, decl.spec.dtype, tensor.rows[r], row_len,
                 tensor.codes.data() + r * row_bytes);
    });
    tensor.hashed.reset();
  }
  return tensors;
}

void lay_out(HostTensor& tensor, unsigned run) {
  if (tensor.codes.empty()) return tensor.memory.poison(poison_byte(run));
  poison_around(tensor, run);
  lay_out_rows(tensor);
}

void poison_around(HostTensor& tensor, unsigned run) {
  for (const ByteRange& range : tensor.around)
    std::memset(tensor.memory.data() + range.begin, std::to_integer<int>(poison_byte(run)),
                static_cast<std::size_t>(range.end - range.begin));
}

void lay_out_rows(HostTensor& tensor) {
  if (tensor.codes.empty()) return;
  for_each_run(tensor.decl->spec, tensor.rows, tensor.memory.data(), tensor.codes.data(),
               [](std::byte* memory, const std::byte* code, std::size_t n) { std::memcpy(memory, code, n); });
}

std::vector<std::byte> gather(const TensorSpec& spec, std::span<const std::int64_t> rows,
                              const HostAllocation& memory) {
  std::vector<std::byte> codes(rows.size() * static_cast<std::size_t>(spec.row_len()) *
                               dtype_size(spec.dtype));
  for_each_run(spec, rows, static_cast<const std::byte*>(memory.data()), codes.data(),
               [](const std::byte* from, std::byte* code, std::size_t n) { std::memcpy(code, from, n); });
  return codes;
}

std::uint64_t hash_bytes(std::span<const std::byte> bytes, std::uint64_t basis) {
  // One multiply per 8 bytes; the constants are those of MurmurHash64A's and SplitMix64's finalisers.
  constexpr std::uint64_t kMultiply = 0xc6a4a7935bd1e995ULL;
  std::uint64_t hash = basis ^ (bytes.size() * kMultiply);
  const auto mix = [&hash](std::uint64_t word) {
    word *= kMultiply;
    word ^= word >> 47;
    hash = (hash ^ (word * kMultiply)) * kMultiply;
  };
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, 8);
    mix(word);
  }
  if (at < bytes.size()) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, bytes.size() - at);
    mix(word);
  }
  hash ^= hash >> 31;
  hash *= 0xbf58476d1ce4e5b9ULL;
  return hash ^ (hash >> 29);
}

std::uint64_t hash_inputs(const std::vector<HostTensor>& tensors) {
  std::uint64_t hash = hash_text("kvr inputs");
  for (const HostTensor& tensor : tensors) {
    if (tensor.decl->role == Role::output) continue;
    const TensorSpec& spec = tensor.decl->spec;
    hash = hash_text(spec.name, hash);
    hash = hash_text(dtype_name(spec.dtype), hash);
    hash = hash_bytes(std::as_bytes(std::span(spec.shape)), hash);
    hash = hash_bytes(std::as_bytes(std::span(tensor.rows)), hash);
    if (!tensor.hashed || tensor.hashed->basis != hash)
      tensor.hashed = {hash, hash_bytes(tensor.codes, hash)};
    hash = tensor.hashed->hash;
  }
  return hash;
}

}  // namespace kvr
