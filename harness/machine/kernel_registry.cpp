// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/machine/kernel_registry.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <stdexcept>
#include <tuple>

namespace kvr {
namespace {

struct Registry {
  std::map<std::tuple<std::string, std::string, std::string>, KernelEntry> entries;
  std::map<std::string, int, std::less<>> warp_sizes;  // of kernels that are built for one only
  // A second registration under the same name, reported at the first use: start-up has nobody to catch an
  // exception.
  std::string clash;
};

Registry& registry() {
  static Registry instance;  // constructed by the first registration, whatever the order of translation units
  return instance;
}

const Registry& checked_registry() {
  if (!registry().clash.empty()) throw std::logic_error(registry().clash);
  return registry();
}

std::string listed(const std::vector<std::string>& names) {
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

std::string type_name(std::type_index type) {
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, nullptr), std::free);
  return name ? name.get() : type.name();
}

std::vector<std::string> kernel_builds(std::string_view kernel) {
  std::vector<std::string> names;
  for (const auto& [key, entry] : checked_registry().entries) {
    if (kernel == entry.kernel && (names.empty() || names.back() != entry.build))
      names.emplace_back(entry.build);
  }
  return names;
}

}  // namespace

bool register_kernel(const KernelEntry& entry) {
  const bool added = registry().entries.try_emplace({entry.kernel, entry.build, entry.fault}, entry).second;
  if (!added) {
    registry().clash = fmt::format("kernel '{}' is registered twice for build '{}', fault '{}'", entry.kernel,
                                   entry.build, entry.fault);
  }
  return added;
}

bool limit_kernel_to_warps(const char* kernel, int warp_size) {
  registry().warp_sizes[kernel] = warp_size;
  return true;
}

std::optional<std::string> why_no_kernel(std::string_view kernel, int warp_size) {
  const auto& limits = checked_registry().warp_sizes;
  const auto found = limits.find(kernel);
  if (found == limits.end() || found->second == warp_size) return std::nullopt;
  return fmt::format("built for warps of {} only", found->second);
}

const KernelEntry& find_kernel(std::string_view kernel, std::string_view build, std::string_view fault,
                               std::type_index args) {
  const auto& entries = checked_registry().entries;
  const auto found = entries.find({std::string(kernel), std::string(build), std::string(fault)});
  if (found != entries.end()) {
    const KernelEntry& entry = found->second;
    if (entry.args != args) {
      throw std::logic_error(
          fmt::format("kernel '{}' takes {}, not {}", kernel, type_name(entry.args), type_name(args)));
    }
    return entry;
  }
  const std::vector<std::string> builds = kernel_builds(kernel);
  if (builds.empty())
    throw std::logic_error(fmt::format("unknown kernel '{}'; known: {}", kernel, listed(kernel_names())));
  if (std::find(builds.begin(), builds.end(), build) == builds.end()) {
    throw std::logic_error(
        fmt::format("kernel '{}' has no build '{}'; it has: {}", kernel, build, listed(builds)));
  }
  if (fault.empty())
    throw std::logic_error(
        fmt::format("kernel '{}' has faults but no production build for '{}'", kernel, build));
  throw std::logic_error(fmt::format("kernel '{}' has no fault '{}' for build '{}'; it has: {}", kernel,
                                     fault, build, listed(kernel_faults(kernel, build))));
}

bool has_kernel(std::string_view kernel, std::string_view build) {
  return checked_registry().entries.contains({std::string(kernel), std::string(build), ""});
}

std::vector<std::string> kernel_names() {
  std::vector<std::string> names;
  for (const auto& [key, entry] : checked_registry().entries) {
    if (names.empty() || names.back() != entry.kernel) names.emplace_back(entry.kernel);
  }
  return names;
}

std::vector<std::string> kernel_faults(std::string_view kernel, std::string_view build) {
  std::vector<std::string> names;
  for (const auto& [key, entry] : checked_registry().entries) {
    if (kernel == entry.kernel && build == entry.build && *entry.fault != '\0')
      names.emplace_back(entry.fault);
  }
  return names;
}

}  // namespace kvr
