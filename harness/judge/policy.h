// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The policy table: tests/tolerances.toml. `[[row]]` entries are what ships; the most specific row wins.
// `[[alternative]]` entries carry a `name` (published rules, for comparison) and apply only when asked for.
//
//   [[row]]
//   kernel = "k_norm_rope"      # required
//   output = "out"              # optional, like dtype, platform and arch: absent means any
//   dtype = "bf16"              # a name or a list of names
//   budget = 1
//   reason = "why these numbers"   # required
//   evidence = "..."            # with expires: required in a row looser than its platform-neutral sibling
//   expires = 2027-06-01
//
// Selectors are kernel, output, dtype, platform and arch. A row with more selectors given is more specific,
// whichever they are; between rows with the same number, the one whose list of dtypes is the shorter. load()
// makes sure that this always decides: two rows that some key would match with neither inside the other are
// an error.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "harness/judge/rule.h"

namespace kvr {

struct Policy {
  Rule rule;
  std::string name;                            // of an alternative; empty for a shipped row
  std::string kernel, output, platform, arch;  // empty: any
  std::vector<DType> dtypes;                   // empty: any
  std::string reason, evidence, expires;       // expires: ISO date or empty
  std::string file;
  int line = 0;
  // "tests/tolerances.toml:12".
  std::string place() const;
};

struct PolicyKey {
  std::string kernel;
  std::string output;
  DType dtype = DType::f32;
  std::string platform;
  std::string arch;
};

// "tolerances.toml:14: row without 'reason'". Every problem in the file, one line each.
class PolicyError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class PolicyTable {
 public:
  // Throws PolicyError for: a file that cannot be read or parsed, a row without kernel, rule or reason, an
  // unknown key, a dtype or platform that does not exist, a number or date that does not parse, "ulp" numbers
  // in a row of more than one dtype; and between rows: one that no key can reach (same selectors as another,
  // or every dtype and platform of it taken by more specific rows), two that are equally specific and
  // overlap, a platform or arch row that is not at least as tight as the platform-neutral row it overrides
  // and has no evidence and expires.
  static PolicyTable load(const std::filesystem::path& file);
  static PolicyTable parse(std::string_view text, std::string file_name);

  // The most specific matching row; nullptr when none matches.
  const Policy* resolve(const PolicyKey& key) const;
  // The alternative called `name` that matches `key` best; nullptr when there is none.
  const Policy* alternative(std::string_view name, const PolicyKey& key) const;
  std::vector<std::string> alternative_names() const;
  const std::string& file() const { return file_; }  // as parse() was told; messages name it
  const std::vector<Policy>& rows() const { return rows_; }
  const std::vector<Policy>& alternatives() const { return alternatives_; }

 private:
  std::string file_;
  std::vector<Policy> rows_;
  std::vector<Policy> alternatives_;
};

}  // namespace kvr
