// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/suite/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace kvr {
namespace {

struct Family {
  std::string kernel;
  Describe describe;
  std::vector<Group> groups;
};

std::vector<Family>& families() {
  static std::vector<Family> registered;
  return registered;
}

CaseId make_case(const Family& family, const Group& group, const std::vector<std::size_t>& choice) {
  CaseId id;
  id.kernel = family.kernel;
  id.group = group.name();
  id.tier = group.tier();
  id.describe = {family.kernel, family.describe};
  id.name = fmt::format("{}/{}", family.kernel, group.name());
  id.data_id = family.kernel;  // groups share data: the same parameters give the same inputs
  std::string baseline = id.name;
  bool is_baseline = true;
  for (std::size_t a = 0; a < choice.size(); ++a) {
    const Axis& axis = group.axes()[a];
    const std::string& value = axis.values[choice[a]];
    const std::string part = fmt::format("/{}={}", axis.key, value);
    id.params.set(axis.key, value);
    id.name += part;
    if (axis.presentation) {
      baseline += fmt::format("/{}={}", axis.key, axis.values.front());
      is_baseline = is_baseline && choice[a] == 0;
    } else {
      if (!axis.variant) id.data_id += part;
      baseline += part;
    }
  }
  if (!is_baseline) id.baseline = std::move(baseline);
  return id;
}

void enumerate(const Family& family, const Group& group, std::vector<CaseId>& out) {
  for (const Axis& axis : group.axes())
    if (axis.values.empty())
      throw std::logic_error(
          fmt::format("{}/{}: axis '{}' has no values", family.kernel, group.name(), axis.key));
  std::vector<std::size_t> choice(group.axes().size(), 0);
  for (bool more = true; more;) {
    CaseId id = make_case(family, group, choice);
    if (group.keeps(id.params)) out.push_back(std::move(id));
    more = false;
    for (std::size_t a = choice.size(); a-- > 0;) {  // the last axis varies fastest
      if (++choice[a] < group.axes()[a].values.size()) {
        more = true;
        break;
      }
      choice[a] = 0;
    }
  }
}

struct Enumeration {
  std::vector<CaseId> cases;
  std::unordered_map<std::string_view, const CaseId*> by_name;
};

Enumeration enumerate_all() {
  Enumeration all;
  std::vector<Family> sorted = families();  // start-up order depends on the linker; names do not
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Family& a, const Family& b) { return a.kernel < b.kernel; });
  for (const Family& family : sorted)
    for (const Group& group : family.groups) enumerate(family, group, all.cases);
  for (const CaseId& id : all.cases)
    if (!all.by_name.emplace(id.name, &id).second)
      throw std::logic_error(fmt::format("two cases are called '{}'", id.name));
  for (const CaseId& id : all.cases)
    if (!id.baseline.empty() && !all.by_name.contains(id.baseline))
      throw std::logic_error(fmt::format("case '{}' has no baseline '{}'", id.name, id.baseline));
  return all;
}

const Enumeration& enumeration() {
  static const Enumeration all = enumerate_all();
  return all;
}

}  // namespace

void Description::operator()(CaseBuilder& builder) const {
  declare(builder);
  if (auto why = why_no_kernel(kernel, builder.machine().warp_size)) builder.unsupported(std::move(*why));
}

std::string_view tier_name(Tier tier) {
  switch (tier) {
    case Tier::quick:
      return "quick";
    case Tier::full:
      return "full";
    case Tier::soak:
      return "soak";
  }
  return "?";
}

std::optional<Tier> parse_tier(std::string_view name) {
  for (const Tier tier : {Tier::quick, Tier::full, Tier::soak})
    if (tier_name(tier) == name) return tier;
  return std::nullopt;
}

Group& Group::axis(std::string key, std::vector<std::string> values) {
  axes_.push_back({std::move(key), std::move(values), false, false});
  return *this;
}

Group& Group::presentation(std::string key, std::vector<std::string> values) {
  axes_.push_back({std::move(key), std::move(values), true, false});
  return *this;
}

Group& Group::variant(std::string key, std::vector<std::string> values) {
  axes_.push_back({std::move(key), std::move(values), false, true});
  return *this;
}

Group& Group::where(std::function<bool(const Params&)> keep) {
  keep_ = std::move(keep);
  return *this;
}

bool register_cases(std::string kernel, Describe describe, std::vector<Group> groups) {
  families().push_back({std::move(kernel), describe, std::move(groups)});
  return true;
}

const std::vector<CaseId>& all_cases() {
  return enumeration().cases;
}

const CaseId* find_case(std::string_view name) {
  const auto found = enumeration().by_name.find(name);
  return found == enumeration().by_name.end() ? nullptr : found->second;
}

}  // namespace kvr
