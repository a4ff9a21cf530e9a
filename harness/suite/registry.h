// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Case families: which cases exist. Filled during start-up by the files in tests/cases; enumerated, never
// edited.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/suite/case.h"

namespace kvr {

enum class Tier : std::uint8_t { quick, full, soak };
std::string_view tier_name(Tier tier);
std::optional<Tier> parse_tier(std::string_view name);

using Describe = void (*)(CaseBuilder&);

// Describes a case of a kernel; where the kernel is not built for the machine, the case is unsupported.
struct Description {
  std::string kernel;
  Describe declare = nullptr;
  void operator()(CaseBuilder& builder) const;
};

// A group is a product of axes. Later axes vary fastest.
struct Axis {
  std::string key;
  std::vector<std::string> values;
  // A presentation axis changes how the same data lies in memory (layout, position type), not what it is:
  // inputs are equal along it, and so must the output bits be. The first value is the baseline the others are
  // compared with.
  bool presentation = false;
  // A variant axis changes what the kernel is asked to do with the same data (a scale, an output format):
  // inputs are equal along it, outputs need not be.
  bool variant = false;
};

class Group {
 public:
  Group(std::string name, Tier tier) : name_(std::move(name)), tier_(tier) {}
  Group& axis(std::string key, std::vector<std::string> values);
  Group& presentation(std::string key, std::vector<std::string> values);
  Group& variant(std::string key, std::vector<std::string> values);
  // Leaves out combinations that make no sense.
  Group& where(std::function<bool(const Params&)> keep);

  const std::string& name() const { return name_; }
  Tier tier() const { return tier_; }
  const std::vector<Axis>& axes() const { return axes_; }
  bool keeps(const Params& params) const { return !keep_ || keep_(params); }

 private:
  std::string name_;
  Tier tier_;
  std::vector<Axis> axes_;
  std::function<bool(const Params&)> keep_;
};

// One enumerated case, without seed and machine.
struct CaseId {
  std::string kernel, group;
  Tier tier = Tier::quick;
  Params params;
  Description describe;
  std::string name;      // "k_norm_rope/public/n=37/dtype=bf16/..."
  std::string data_id;   // the name without presentation and variant axes: keys the random streams
  std::string baseline;  // name of the case it must equal bit for bit along presentation axes; empty: none
};

// At namespace scope: const bool registered = kvr::register_cases("k_norm_rope", describe, {Group("public",
// Tier::quick)...});
bool register_cases(std::string kernel, Describe describe, std::vector<Group> groups);

// Every case, ordered by kernel, then declaration. Throws std::logic_error for duplicate names.
const std::vector<CaseId>& all_cases();
const CaseId* find_case(std::string_view name);

// FILTER: terms separated by spaces, all of which must match. A term is a glob ('*', '?') over the whole name
// when it holds a wildcard; otherwise a prefix of the name that ends at a '/', or one of its "key=value"
// parts. A last part "seed=N" is not part of the filter: it sets the seed.
struct Filter {
  std::string text;
  std::vector<std::string> terms;
  std::optional<std::uint64_t> seed;
  static Filter parse(
      std::string_view text);  // throws std::invalid_argument: a seed that is no 64-bit number
  bool matches(const CaseId& id) const;
};

}  // namespace kvr
