// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// From TOML to a policy table. Reads the whole file before it complains, so that one run shows every problem.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <system_error>

// toml++ is slow to compile: this is the only file that sees it.
#include <toml++/toml.h>

#include "harness/judge/policy.h"
#include "harness/judge/policy_checks.h"

namespace kvr {
namespace {

constexpr std::array<std::string_view, 3> kPlatforms{"cpu", "cuda", "hip"};
constexpr std::array<std::string_view, 17> kRowKeys{
    "kernel", "output", "dtype", "platform", "arch",   "name",       "reason", "evidence", "expires",
    "exact",  "atol",   "rtol",  "max_ulp",  "budget", "tie_window", "bias",   "row_l2"};

int line_of(const toml::node& node) {
  return static_cast<int>(node.source().begin.line);
}

// Levenshtein distance: how many letters to add, drop or change.
std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> previous(b.size() + 1), current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      current[j] =
          std::min({previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
    }
    std::swap(previous, current);
  }
  return previous.back();
}

template <class Names>
std::string_view nearest(std::string_view name, const Names& names) {
  return *std::min_element(std::begin(names), std::end(names),
                           [name](std::string_view a, std::string_view b) {
                             return edits_between(name, a) < edits_between(name, b);
                           });
}

std::vector<std::string_view> all_dtype_names() {
  std::vector<std::string_view> names;
  for (int each = 0; each <= static_cast<int>(DType::int64); ++each)
    names.push_back(dtype_name(static_cast<DType>(each)));
  return names;
}

// Reads one [[row]] or [[alternative]].
class RowReader {
 public:
  RowReader(const toml::table& table, bool is_alternative, const std::string& file,
            std::vector<PolicyProblem>& problems)
      : table_(table), is_alternative_(is_alternative), problems_(problems) {
    row_.file = file;
    row_.line = line_of(table);
  }

  Policy read() {
    check_keys();
    read_selectors();
    row_.reason = text("reason");
    row_.evidence = text("evidence");
    read_expires();
    read_rule();
    if (row_.kernel.empty() && !table_.contains("kernel")) missing("kernel");
    if (row_.reason.empty() && !table_.contains("reason")) missing("reason");
    return std::move(row_);
  }

 private:
  std::string_view kind() const { return is_alternative_ ? "alternative" : "row"; }
  void problem(int line, std::string what) { problems_.push_back({line, std::move(what)}); }
  void missing(std::string_view key) { problem(row_.line, fmt::format("{} without '{}'", kind(), key)); }

  void check_keys() {
    for (const auto& [key, node] : table_) {
      const std::string_view name = key.str();
      if (name == "outliers" || std::find(kRowKeys.begin(), kRowKeys.end(), name) != kRowKeys.end()) continue;
      problem(line_of(node),
              fmt::format("unknown key '{}'; did you mean '{}'?", name, nearest(name, kRowKeys)));
    }
    if (!is_alternative_ && table_.contains("name")) {
      problem(line_of(*table_.get("name")), "a row has no 'name'; an alternative has");
    }
  }

  // Empty when absent or wrong; what is wrong is noted.
  std::string text(std::string_view key) {
    const toml::node* node = table_.get(key);
    if (node == nullptr) return {};
    const auto value = node->value_exact<std::string>();
    if (!value) {
      problem(line_of(*node), fmt::format("'{}' is not a string", key));
      return {};
    }
    if (value->find_first_not_of(" \t\n") == std::string::npos) {
      problem(line_of(*node), fmt::format("'{}' is empty", key));
      return {};
    }
    return *value;
  }

  void read_selectors() {
    row_.kernel = text("kernel");
    row_.output = text("output");
    row_.platform = text("platform");
    row_.arch = text("arch");
    if (is_alternative_) {
      row_.name = text("name");
      if (!table_.contains("name")) missing("name");
    }
    if (!row_.platform.empty() &&
        std::find(kPlatforms.begin(), kPlatforms.end(), row_.platform) == kPlatforms.end()) {
      problem(line_of(*table_.get("platform")),
              fmt::format("unknown platform '{}' (cpu, cuda or hip)", row_.platform));
    }
    const toml::node* dtype = table_.get("dtype");
    if (dtype == nullptr) return;
    if (const toml::array* list = dtype->as_array()) {
      if (list->empty()) problem(line_of(*dtype), "'dtype' is an empty list");
      for (const toml::node& each : *list) read_dtype(each);
    } else {
      read_dtype(*dtype);
    }
  }

  void read_dtype(const toml::node& node) {
    const auto name = node.value_exact<std::string>();
    if (!name) {
      problem(line_of(node), "'dtype' is not a name or a list of names");
      return;
    }
    const auto dtype = parse_dtype(*name);
    if (!dtype) {
      problem(line_of(node), fmt::format("unknown dtype '{}'; did you mean '{}'? ({})", *name,
                                         nearest(*name, all_dtype_names()), dtype_names()));
    } else if (std::find(row_.dtypes.begin(), row_.dtypes.end(), *dtype) != row_.dtypes.end()) {
      problem(line_of(node), fmt::format("dtype '{}' is listed twice", *name));
    } else {
      row_.dtypes.push_back(*dtype);
    }
  }

  void read_expires() {
    const toml::node* node = table_.get("expires");
    if (node == nullptr) return;
    const auto date = node->value_exact<toml::date>();
    if (!date) {
      problem(line_of(*node), "'expires' is not a date (expires = 2027-06-01, without quotes)");
      return;
    }
    row_.expires = fmt::format("{:04}-{:02}-{:02}", date->year, date->month, date->day);
  }

  std::optional<double> limit(std::string_view key) { return limit(table_.get(key), key); }

  std::optional<double> limit(const toml::node* node, std::string_view key) {
    if (node == nullptr) return std::nullopt;
    if (const auto written = node->value_exact<std::string>()) {
      if (written->ends_with("ulp") && row_.dtypes.size() != 1) {
        problem(line_of(*node),
                fmt::format("{}: '{}' means something only with exactly one dtype", key, *written));
        return std::nullopt;
      }
      try {
        return parse_number(*written, row_.dtypes.size() == 1 ? row_.dtypes.front() : DType::f32);
      } catch (const std::invalid_argument& error) {
        problem(line_of(*node), fmt::format("{}: {}", key, error.what()));
        return std::nullopt;
      }
    }
    // Integers count as numbers; booleans and dates do not.
    std::optional<double> value = node->value_exact<double>();
    if (const auto integer = node->value_exact<std::int64_t>()) value = static_cast<double>(*integer);
    if (!value || !std::isfinite(*value) || std::signbit(*value)) {
      problem(line_of(*node), fmt::format("{}: not a number >= 0 (0.06, 1e-3, \"2^-7\", \"2ulp\")", key));
      return std::nullopt;
    }
    return value;
  }

  std::optional<std::int64_t> codes(const toml::node* node, std::string_view key) {
    if (node == nullptr) return std::nullopt;
    const auto value = node->value_exact<std::int64_t>();
    if (!value || *value < 0) {
      problem(line_of(*node), fmt::format("{}: not a whole number >= 0", key));
      return std::nullopt;
    }
    return value;
  }

  void read_rule() {
    Rule& rule = row_.rule;
    const std::size_t before = problems_.size();
    if (const toml::node* exact = table_.get("exact")) {
      rule.exact = exact->value_exact<bool>().value_or(false);
      if (!rule.exact)
        problem(line_of(*exact), "exact: only 'true' says something; leave the key out otherwise");
    }
    rule.atol = limit("atol");
    rule.rtol = limit("rtol");
    rule.max_ulp = codes(table_.get("max_ulp"), "max_ulp");
    rule.tie_window = limit("tie_window");
    rule.budget = limit("budget");
    rule.bias = limit("bias");
    rule.row_l2 = limit("row_l2");
    read_outliers();
    if (problems_.size() != before) return;  // a key that is there but wrong is not a missing one
    if (rule.empty()) {
      problem(row_.line,
              fmt::format("{} without a rule (exact, atol, rtol, max_ulp, tie_window, budget, bias, row_l2)",
                          kind()));
    } else if (rule.outliers && !rule.has_elementwise()) {
      problem(row_.line, "outliers without a key that elements could miss");
    }
  }

  void read_outliers() {
    const toml::node* node = table_.get("outliers");
    if (node == nullptr) return;
    const toml::table* outliers = node->as_table();
    if (outliers == nullptr) {
      problem(line_of(*node), "'outliers' is not a table (outliers = {count = \"8\", max_ulp = 1})");
      return;
    }
    for (const auto& [key, each] : *outliers) {
      if (key.str() != "count" && key.str() != "max_ulp" && key.str() != "max_magnitude" &&
          key.str() != "anywhere") {
        problem(
            line_of(each),
            fmt::format("unknown key 'outliers.{}' (count, max_ulp, max_magnitude, anywhere)", key.str()));
      }
    }
    const toml::node* count = outliers->get("count");
    const auto max_ulp = codes(outliers->get("max_ulp"), "outliers.max_ulp");
    const auto max_magnitude = limit(outliers->get("max_magnitude"), "outliers.max_magnitude");
    const bool anywhere = outliers->contains("anywhere");
    if (anywhere && outliers->get("anywhere")->value_exact<bool>() != true)
      problem(line_of(*outliers->get("anywhere")), "outliers.anywhere: leave the key out, or write true");
    else if (anywhere && !is_alternative_)
      problem(line_of(*outliers->get("anywhere")),
              "outliers.anywhere is for alternatives: what ships must not forgive a whole row");
    if (count == nullptr || (!outliers->contains("max_ulp") && !outliers->contains("max_magnitude"))) {
      problem(line_of(*node), fmt::format("outliers without {}",
                                          count == nullptr ? "'count'" : "'max_ulp' or 'max_magnitude'"));
      return;
    }
    std::optional<std::string> expression = count->value_exact<std::string>();
    if (const auto number = count->value_exact<std::int64_t>()) expression = fmt::format("{}", *number);
    if (!expression) {
      problem(line_of(*count), "outliers.count: not an expression (\"numel/100000 + 8\")");
      return;
    }
    try {
      check_count(*expression);
    } catch (const std::invalid_argument& error) {
      problem(line_of(*count), fmt::format("outliers.{}", error.what()));
      return;
    }
    if (max_ulp || max_magnitude)
      row_.rule.outliers = Outliers{*expression, max_ulp, max_magnitude, anywhere};
  }

  const toml::table& table_;
  bool is_alternative_;
  std::vector<PolicyProblem>& problems_;
  Policy row_;
};

// Rows with a problem are left out: how they relate to others would only raise follow-up complaints.
std::vector<Policy> read_rows(const toml::table& root, bool alternatives, const std::string& file,
                              std::vector<PolicyProblem>& problems) {
  std::vector<Policy> rows;
  const std::string_view key = alternatives ? "alternative" : "row";
  const toml::node* node = root.get(key);
  if (node == nullptr) return rows;
  const toml::array* list = node->as_array();
  if (list == nullptr) {
    problems.push_back({line_of(*node), fmt::format("'{}' is not a list of tables: write [[{}]]", key, key)});
    return rows;
  }
  for (const toml::node& each : *list) {
    if (const toml::table* table = each.as_table()) {
      const std::size_t before = problems.size();
      Policy row = RowReader(*table, alternatives, file, problems).read();
      if (problems.size() == before) rows.push_back(std::move(row));
    } else {
      problems.push_back({line_of(each), fmt::format("'{}' holds something that is not a table", key)});
    }
  }
  return rows;
}

void append(std::vector<PolicyProblem>& to, std::vector<PolicyProblem> from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

[[noreturn]] void fail(const std::string& file, std::vector<PolicyProblem> problems) {
  std::stable_sort(problems.begin(), problems.end(),
                   [](const PolicyProblem& a, const PolicyProblem& b) { return a.line < b.line; });
  std::string lines;
  for (const PolicyProblem& each : problems) {
    lines += fmt::format("{}{}:{}: {}", lines.empty() ? "" : "\n", file, each.line, each.what);
  }
  throw PolicyError(lines);
}

}  // namespace

PolicyTable PolicyTable::load(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) {
    throw PolicyError(fmt::format("{}: {}", file.string(), error ? error.message() : "not a regular file"));
  }
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  if (stream && stream.peek() != std::ifstream::traits_type::eof()) text << stream.rdbuf();
  if (!stream.is_open() || stream.bad() || text.bad())
    throw PolicyError(fmt::format("{}: cannot be read", file.string()));
  return parse(text.str(), file.string());
}

PolicyTable PolicyTable::parse(std::string_view text, std::string file_name) {
  toml::table root;
  try {
    root = toml::parse(text, file_name);
  } catch (const toml::parse_error& error) {
    fail(file_name, {{static_cast<int>(error.source().begin.line), std::string(error.description())}});
  }
  std::vector<PolicyProblem> problems;
  for (const auto& [key, node] : root) {
    if (key.str() != "row" && key.str() != "alternative") {
      problems.push_back(
          {line_of(node),
           fmt::format("unknown key '{}': the table holds [[row]] and [[alternative]]", key.str())});
    }
  }
  PolicyTable table;
  table.file_ = file_name;
  table.rows_ = read_rows(root, false, file_name, problems);
  table.alternatives_ = read_rows(root, true, file_name, problems);
  if (table.rows_.empty() && problems.empty()) problems.push_back({1, "holds no [[row]]"});

  std::vector<const Policy*> shipped;
  for (const Policy& row : table.rows_) shipped.push_back(&row);
  append(problems, check_rows(shipped));
  for (const std::string& name : table.alternative_names()) {
    std::vector<const Policy*> group;
    for (const Policy& row : table.alternatives_) {
      if (row.name == name) group.push_back(&row);
    }
    append(problems, check_rows(group));
  }
  if (!problems.empty()) fail(file_name, std::move(problems));
  return table;
}

}  // namespace kvr
