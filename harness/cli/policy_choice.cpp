// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/cli/policy_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>

#include "harness/cli/exit_code.h"
#include "harness/cli/selection.h"

namespace kvr {
namespace {

std::string read_file(const std::string& path) {
  std::error_code ignored;
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw PolicyError(fmt::format("policy file '{}': {}", path, std::strerror(errno)));
  if (std::filesystem::is_directory(path, ignored))
    throw PolicyError(fmt::format("policy file '{}': is a directory", path));
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

PolicyTable load_table(const PolicyOptions& options) {
  const char* environment = std::getenv("KVR_POLICY_FILE");
  if (options.file) return PolicyTable::parse(read_file(*options.file), *options.file);
  if (environment != nullptr && *environment != '\0')
    return PolicyTable::parse(read_file(environment), environment);
  const ProjectFiles& project = options.project;
  if (project.policies.empty())
    throw PolicyError(
        fmt::format("no policy table: {} was built without one (kvr_add_command's POLICIES gives it one); "
                    "--policy-file FILE "
                    "and KVR_POLICY_FILE name one",
                    project.command));
  return PolicyTable::parse(read_file(project.path(project.policies)), project.policies);
}

}  // namespace

PolicyChoice choose_policy(const PolicyOptions& options) {
  PolicyChoice choice{load_table(options), {}, std::nullopt};
  if (!options.policy) return choice;
  const std::string& text = *options.policy;
  const std::vector<std::string> names = choice.table.alternative_names();
  if (std::find(names.begin(), names.end(), text) != names.end()) {
    choice.alternative = text;
    return choice;
  }
  try {
    parse_rule(text, DType::f32);  // whether it parses does not depend on the dtype
  } catch (const std::invalid_argument& error) {
    if (text.find('=') != std::string::npos)
      throw UsageError(fmt::format("--policy '{}': {}", text, error.what()));
    throw UsageError(fmt::format(
        "--policy '{}' is neither a rule (atol=0.06 rtol=0) nor an alternative of {} ({}){}", text,
        choice.table.file(), names.empty() ? "it has none" : fmt::format("{}", fmt::join(names, ", ")),
        did_you_mean(text, names)));
  }
  choice.rule_text = text;
  return choice;
}

}  // namespace kvr
