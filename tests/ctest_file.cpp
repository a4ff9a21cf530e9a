// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "tests/ctest_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "harness/machine/machine.h"
#include "harness/report/results_file.h"
#include "harness/suite/registry.h"

namespace kvr {
namespace {

constexpr int kAllSkipped = 4;  // Catch2's exit code when every test was skipped

// Seconds; many times what a group takes on two cores.
int time_limit(Tier tier) {
  return tier == Tier::quick ? 300 : tier == Tier::full ? 1800 : 14400;
}

// The configurations (ctest -C) a group is for; empty: all. ctest reads its scripts with the policies of old
// CMake, for which TRUE is a variable.
std::string condition(Tier tier) {
  if (tier == Tier::quick) return "";
  return fmt::format("CTEST_CONFIGURATION_TYPE MATCHES \"^({})$\"",
                     tier == Tier::full ? "[Ff]ull|[Ss]oak" : "[Ss]oak");
}

// Catch2 reads ',' '[' '"' and '\' in a test specification as syntax.
std::string escape_specification(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == ',' || c == '[' || c == ']' || c == '"' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string bracket(const std::string& text) {
  return fmt::format("[==[{}]==]", text);
}

std::string test_script(const std::string& program, const MachineProperties& machine, const CaseId& id,
                        const std::string& junit_folder) {
  const std::string name = fmt::format("{}.{}.{}", id.kernel, machine.name, id.group);
  std::string file_name = name + ".xml";
  std::replace(file_name.begin(), file_name.end(), ':', '_');  // "::" separates a reporter's options
  const std::string specification =
      escape_specification(fmt::format("{} {}/{}/", machine.name, id.kernel, id.group)) + "*";
  std::string script =
      fmt::format("add_test({} {} {} --reporter console --reporter {})\n", bracket(name), bracket(program),
                  bracket(specification), bracket(fmt::format("junit::out={}/{}", junit_folder, file_name)));
  script += fmt::format("set_tests_properties({} PROPERTIES LABELS {} TIMEOUT {} SKIP_RETURN_CODE {}",
                        bracket(name),
                        bracket(fmt::format("{};{};{};{}{}", machine.platform, id.kernel, tier_name(id.tier),
                                            machine.name, machine.strict ? ";strict" : "")),
                        time_limit(id.tier), kAllSkipped);
  // One slot of one GPU, of whichever ctest's resource file offers; without such a file this says nothing.
  if (machine.platform != "cpu") script += " RESOURCE_GROUPS \"1,gpus:1\"";
  script += ")\n";
  return condition(id.tier).empty() ? script : fmt::format("if({})\n{}endif()\n", condition(id.tier), script);
}

}  // namespace

void write_ctest_file(const std::string& program, const std::string& file, const std::string& junit_folder) {
  std::filesystem::create_directories(junit_folder);
  const std::string absolute = std::filesystem::absolute(program).string();
  std::string script;
  std::string platform;  // of the GPU that was listed: further ones are resources, not tests of their own
  for (const MachineInfo& machine : list_machines()) {
    if (machine.properties.platform != "cpu" && machine.properties.platform == platform) continue;
    if (machine.properties.strict && !machine.present) continue;
    platform = machine.properties.platform;
    const CaseId* previous = nullptr;
    for (const CaseId& id : all_cases()) {
      if (machine.properties.strict && id.tier != Tier::quick) continue;
      const bool same_group =
          previous != nullptr && previous->kernel == id.kernel && previous->group == id.group;
      if (!same_group) script += test_script(absolute, machine.properties, id, junit_folder);
      previous = &id;
    }
  }
  ResultsFile(file).write(script);
}

}  // namespace kvr
