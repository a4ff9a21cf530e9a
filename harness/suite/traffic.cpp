// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/suite/traffic.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/suite/execution.h"

namespace kvr {
namespace {

void add_up(TrafficReport& report, const CaseBuilder& builder) {
  for (const TensorDecl& decl : builder.tensors())
    if (!decl.cached.empty()) report.cached.push_back({decl.spec.name, decl.cached});
  for (const TensorTraffic& tensor : report.launch.tensors) {
    report.load_sectors += tensor.load_sectors;
    report.store_sectors += tensor.store_sectors;
    report.bytes_requested += tensor.bytes_requested;
    report.unique_bytes += tensor.unique_bytes;
    const bool cached = std::any_of(report.cached.begin(), report.cached.end(),
                                    [&](const CachedTensor& c) { return c.tensor == tensor.tensor; });
    report.moved += kSectorBytes * (cached ? tensor.unique_load_sectors + tensor.unique_store_sectors
                                           : tensor.load_sectors + tensor.store_sectors);
  }
}

// "", or what is wrong with it.
std::string objection(const TrafficReport& report, const CaseBuilder& builder) {
  if (!builder.minimum_traffic()) return "the case declares no minimum (CaseBuilder::minimum_traffic)";
  if (report.minimum <= 0) return fmt::format("the declared minimum of {} bytes is none", report.minimum);
  if (report.moved < report.minimum)
    return fmt::format(
        "{} bytes moved, below the declared minimum of {}: the declaration is wrong, or the kernel does not "
        "do all of its work",
        report.moved, report.minimum);
  if (report.ratio() > report.limit) {
    // Whose sectors exceed what its bytes need most.
    const TensorTraffic* worst = nullptr;
    const auto excess = [](const TensorTraffic& t) {
      return (t.load_sectors + t.store_sectors) * kSectorBytes - t.unique_bytes;
    };
    for (const TensorTraffic& tensor : report.launch.tensors) {
      const bool cached = std::any_of(report.cached.begin(), report.cached.end(),
                                      [&](const CachedTensor& c) { return c.tensor == tensor.tensor; });
      if (!cached && (worst == nullptr || excess(tensor) > excess(*worst))) worst = &tensor;
    }
    std::string text = fmt::format("{} bytes moved, {:.3f} x the minimum of {}; at most {:g} x is allowed",
                                   report.moved, report.ratio(), report.minimum, report.limit);
    if (worst != nullptr)
      text += fmt::format(". '{}' took {} sectors for {} bytes", worst->tensor,
                          worst->load_sectors + worst->store_sectors, worst->unique_bytes);
    return text;
  }
  return "";
}

}  // namespace

TrafficReport measure_traffic(const CaseId& id, Machine& machine, Seed seed) {
  TrafficReport report;
  report.name = id.name;
  report.kernel = id.kernel;
  report.machine = machine.name();
  report.seed = seed.value;
  Execution execution(id, machine, seed);
  const CaseBuilder& builder = execution.builder();
  if (builder.unsupported()) {
    report.reason = "unsupported: " + *builder.unsupported();
    return report;
  }
  execution.prepare();
  machine.take_traffic();
  const LaunchStatus status = execution.launch(0, "");
  report.launch = machine.take_traffic();
  if (!status.ok()) {
    report.reason = status.what;
    return report;
  }
  report.minimum = builder.minimum_traffic().value_or(0);
  if (const auto& limit = builder.traffic_limit()) {
    report.limit = limit->ratio;
    report.reason = limit->reason;
  }
  add_up(report, builder);
  const std::string wrong = objection(report, builder);
  report.accepted = wrong.empty();
  if (!wrong.empty()) report.reason = wrong;
  return report;
}

}  // namespace kvr
