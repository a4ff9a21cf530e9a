// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/report/traffic_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/report/results.h"
#include "harness/report/text_table.h"

namespace kvr {
namespace {

using Json = nlohmann::ordered_json;

// What is one table: a machine and a kernel's group.
std::string heading(const TrafficReport& report) {
  return fmt::format("{}  {}", report.machine,
                     report.name.substr(0, report.name.find('/', report.kernel.size() + 1)));
}

std::string table_of(const std::vector<const TrafficReport*>& reports) {
  TextTable table;
  table.column("case");
  for (const char* title : {"load sectors", "store sectors", "requested", "unique", "minimum", "moved",
                            "ratio", "16 B", "conflicts", "barriers", "collectives", "atomics"})
    table.column(title, TextTable::Align::right);
  for (const TrafficReport* report : reports) {
    const TrafficReport& r = *report;
    table.row({r.name.substr(std::min(r.name.size(), r.name.find('/', r.kernel.size() + 1) + 1)),
               std::to_string(r.load_sectors), std::to_string(r.store_sectors),
               std::to_string(r.bytes_requested), std::to_string(r.unique_bytes), std::to_string(r.minimum),
               std::to_string(r.moved), fmt::format("{:.3f}", r.ratio()),
               fmt::format("{:.1f} %", 100.0 * r.wide_share()), std::to_string(r.launch.bank_conflicts),
               std::to_string(r.launch.barriers), std::to_string(r.launch.collectives),
               std::to_string(r.launch.atomics)});
  }
  return table.text();
}

std::string cached_reason(const TrafficReport& report, const std::string& tensor) {
  for (const CachedTensor& cached : report.cached)
    if (cached.tensor == tensor) return cached.reason;
  return "";
}

}  // namespace

std::string traffic_text(const std::vector<TrafficReport>& reports) {
  std::string text;
  std::vector<const TrafficReport*> rows;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    rows.push_back(&reports[i]);
    if (i + 1 < reports.size() && heading(reports[i + 1]) == heading(reports[i])) continue;
    text += fmt::format("{}{}\n{}", text.empty() ? "" : "\n", heading(reports[i]), table_of(rows));
    rows.clear();
  }

  std::set<std::string> cached, limits;
  std::string rejected;
  for (const TrafficReport& report : reports) {
    for (const CachedTensor& tensor : report.cached)
      cached.insert(fmt::format("  {}, '{}': {}\n", report.kernel, tensor.tensor, tensor.reason));
    if (report.accepted && report.limit != kTrafficLimit)
      limits.insert(fmt::format("  {} x for {}: {}\n", report.limit, report.name, report.reason));
    if (!report.accepted)
      rejected += fmt::format("  {}  {}: {}\n", report.machine, report.name, report.reason);
  }
  if (!cached.empty()) text += "\nCounted once, because a cache serves what is read again:\n";
  for (const std::string& line : cached) text += line;
  if (!limits.empty()) text += fmt::format("\nAllowed more than {} x the minimum:\n", kTrafficLimit);
  for (const std::string& line : limits) text += line;
  if (!rejected.empty()) text += "\nRejected:\n" + rejected;
  return text;
}

std::string traffic_to_json(const std::vector<TrafficReport>& reports) {
  Json cases = Json::array();
  for (const TrafficReport& r : reports) {
    Json tensors = Json::array();
    for (const TensorTraffic& t : r.launch.tensors)
      tensors.push_back({{"tensor", t.tensor},
                         {"cached", cached_reason(r, t.tensor)},
                         {"load_sectors", t.load_sectors},
                         {"store_sectors", t.store_sectors},
                         {"unique_load_sectors", t.unique_load_sectors},
                         {"unique_store_sectors", t.unique_store_sectors},
                         {"unique_bytes", t.unique_bytes},
                         {"bytes_requested", t.bytes_requested}});
    cases.push_back({{"name", r.name},
                     {"kernel", r.kernel},
                     {"machine", r.machine},
                     {"seed", std::to_string(r.seed)},
                     {"accepted", r.accepted},
                     {"reason", r.reason},
                     {"minimum_bytes", r.minimum},
                     {"moved_bytes", r.moved},
                     {"ratio", r.ratio()},
                     {"limit", r.limit},
                     {"load_sectors", r.load_sectors},
                     {"store_sectors", r.store_sectors},
                     {"bytes_requested", r.bytes_requested},
                     {"unique_bytes", r.unique_bytes},
                     {"accesses", r.launch.accesses},
                     {"wide_accesses", r.launch.wide_accesses},
                     {"bank_conflicts", r.launch.bank_conflicts},
                     {"barriers", r.launch.barriers},
                     {"collectives", r.launch.collectives},
                     {"atomics", r.launch.atomics},
                     {"tensors", std::move(tensors)}});
  }
  const Json json{
      {"schema", "kvr-traffic"}, {"schema_version", 1}, {"kvr_version", kvr_version()}, {"cases", cases}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace kvr
