// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/suite/invariance.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/suite/memory_check.h"

namespace kvr {

std::uint64_t hash_output(const Execution& execution, std::size_t t, const std::vector<std::byte>& codes) {
  const TensorDecl& decl = *execution.tensors()[t].decl;
  std::span<const std::byte> bits = codes;
  if (decl.rows_alike)
    bits = bits.first(
        std::min(bits.size(), static_cast<std::size_t>(decl.spec.row_len()) * dtype_size(decl.spec.dtype)));
  return hash_bytes(bits, hash_text(decl.spec.name));
}

std::optional<std::string> find_unlike_rows(const Execution& execution, const OutputCodes& codes) {
  for (std::size_t t = 0; t < codes.size(); ++t) {
    const TensorDecl& decl = *execution.tensors()[t].decl;
    if (!decl.rows_alike || codes[t].empty()) continue;
    const std::size_t size = dtype_size(decl.spec.dtype);
    const std::size_t row_bytes = static_cast<std::size_t>(decl.spec.row_len()) * size;
    for (std::size_t at = row_bytes; at < codes[t].size(); at += row_bytes) {
      const auto row = codes[t].begin() + static_cast<std::ptrdiff_t>(at);
      const auto different =
          std::mismatch(row, row + static_cast<std::ptrdiff_t>(row_bytes), codes[t].begin()).first;
      if (different == row + static_cast<std::ptrdiff_t>(row_bytes)) continue;
      const std::size_t element = (at + static_cast<std::size_t>(different - row)) / size;
      return fmt::format("{} differs in bits from row 0, though the inputs of both are equal",
                         element_place(execution.tensors()[t], *execution.expected(t), element));
    }
  }
  return std::nullopt;
}

std::optional<std::string> find_baseline_difference(const Execution& execution, const OutputCodes& codes,
                                                    std::string_view fault) {
  const CaseId& id = execution.id();
  if (id.baseline.empty()) return std::nullopt;
  Execution baseline(*find_case(id.baseline), execution.machine(), execution.builder().seed());
  baseline.prepare();
  const LaunchStatus status = baseline.launch(0, fault);
  if (!status.ok())
    return fmt::format("the same data in the case '{}' is not computed: {}", id.baseline, status.what);
  baseline.compute_reference();
  const OutputCodes base = baseline.outputs();
  for (std::size_t t = 0; t < base.size(); ++t) {
    if (base[t].empty()) continue;
    const std::string& name = baseline.tensors()[t].decl->spec.name;
    for (std::size_t other = 0; other < codes.size(); ++other) {
      if (codes[other].empty() || execution.tensors()[other].decl->spec.name != name) continue;
      if (hash_output(execution, other, codes[other]) != hash_output(baseline, t, base[t]))
        return fmt::format("'{}' differs in bits from the same data in the case '{}'", name, id.baseline);
    }
  }
  return std::nullopt;
}

}  // namespace kvr
