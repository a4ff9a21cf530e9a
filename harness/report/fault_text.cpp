// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/report/fault_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/report/text_table.h"

namespace kvr {
namespace {

using Json = nlohmann::ordered_json;

// "killed" when every fill that shows the fault kills it, else which fills do not.
std::string cell_text(const FaultRow& row, std::size_t policy) {
  std::vector<std::string> blind;
  std::int64_t fills = 0;
  for (const auto& [fill, cell] : row.cells[policy]) {
    if (cell.applied == 0) continue;
    ++fills;
    if (cell.killed == 0) blind.push_back(fill);
  }
  if (fills == 0) return "-";
  if (blind.empty()) return "killed";
  if (static_cast<std::int64_t>(blind.size()) == fills) return "SURVIVES";
  return fmt::format("killed, not by {}", blind.size() <= 2 ? fmt::format("{}", fmt::join(blind, ", "))
                                                            : fmt::format("{} fills", blind.size()));
}

// Of the fills in which a policy let the fault through, the largest effect.
std::string hidden_text(const FaultRow& row, std::size_t policy) {
  const FaultCell* worst = nullptr;
  for (const auto& [fill, cell] : row.cells[policy])
    if (cell.applied > cell.killed && (worst == nullptr || cell.hidden_ulp > worst->hidden_ulp))
      worst = &cell;
  if (worst == nullptr) return "";
  const std::string distance =
      worst->hidden_ulp == kNanDistance ? "NaN against a number" : fmt::format("{} ULP", worst->hidden_ulp);
  return fmt::format("hid up to {} (error {:.4g}) in {}", distance, worst->hidden_error, worst->hidden_case);
}

// Why a fault was never judged.
std::string silence_text(const FaultRow& row) {
  if (row.tried == 0) return "none of them could try it";
  return fmt::format("it changed nothing in the {} that tried it", row.tried);
}

std::string or_nothing(bool seen, std::string text) {
  return seen ? text : "nothing seen";
}

std::string fault_name(const FaultRow& row) {
  return row.output.empty() ? row.name : fmt::format("{} ({})", row.name, row.output);
}

}  // namespace

std::string fault_matrix_text(const FaultMatrix& matrix) {
  if (matrix.rows.empty())
    return fmt::format("{} on {}: no case ran, no fault was tried\n", matrix.kernel, matrix.machine);
  TextTable table;
  table.column("kind");
  table.column("fault");
  for (const std::string& policy : matrix.policies) table.column(policy);
  for (const FaultRow& row : matrix.rows) {
    if (!row.applied()) continue;
    std::vector<std::string> cells{std::string(fault_kind_name(row.kind)), fault_name(row)};
    for (std::size_t p = 0; p < matrix.policies.size(); ++p) cells.push_back(cell_text(row, p));
    table.row(std::move(cells));
  }
  std::string text =
      fmt::format("{} on {}, {} cases\n\n{}\n", matrix.kernel, matrix.machine, matrix.cases, table.text());
  for (std::size_t p = 0; p < matrix.policies.size(); ++p) {
    std::int64_t applied = 0, killed = 0;
    for (const FaultRow& row : matrix.rows) {
      applied += row.applied(p) ? 1 : 0;
      killed += row.killed(p) ? 1 : 0;
    }
    // The shipped policy must kill every fault there is; another one, what it could be asked about.
    const auto unproven = p == 0 ? matrix.unproven() : std::vector<const FaultRow*>{};
    text += fmt::format("{}: {} of {} faults killed\n", matrix.policies[p], killed,
                        applied + static_cast<std::int64_t>(unproven.size()));
    for (const FaultRow* row : matrix.survivors(p))
      text += fmt::format("  {} {} survives; {}\n", fault_kind_name(row->kind), fault_name(*row),
                          hidden_text(*row, p));
    for (const FaultRow* row : unproven)
      text += fmt::format("  {} {} is not shown by these cases: {}\n", fault_kind_name(row->kind),
                          fault_name(*row), silence_text(*row));
  }
  std::vector<std::string> idle;
  for (const FaultRow& row : matrix.rows)
    if (!row.applied() && row.kind == FaultKind::output) idle.push_back(fault_name(row));
  if (!idle.empty()) text += fmt::format("do not apply to these outputs: {}\n", fmt::join(idle, ", "));
  return text;
}

std::string fault_matrices_to_json(const std::vector<FaultMatrix>& matrices) {
  Json json{{"schema", "kvr-fault-matrix"}, {"schema_version", 1}, {"matrices", Json::array()}};
  for (const FaultMatrix& matrix : matrices) {
    Json rows = Json::array();
    for (const FaultRow& row : matrix.rows) {
      Json policies = Json::object();
      for (std::size_t p = 0; p < matrix.policies.size(); ++p) {
        Json fills = Json::object();
        for (const auto& [fill, cell] : row.cells[p])
          fills[fill] = {
              {"applied", cell.applied},
              {"killed", cell.killed},
              {"hidden_case", cell.hidden_case},
              {"hidden_ulp", cell.hidden_ulp == kNanDistance ? Json("nan") : Json(cell.hidden_ulp)}};
        policies[matrix.policies[p]] = std::move(fills);
      }
      rows.push_back({{"kind", fault_kind_name(row.kind)},
                      {"fault", row.name},
                      {"output", row.output},
                      {"tried", row.tried},
                      {"policies", std::move(policies)}});
    }
    json["matrices"].push_back({{"kernel", matrix.kernel},
                                {"machine", matrix.machine},
                                {"cases", matrix.cases},
                                {"rows", std::move(rows)}});
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string sensitivity_text(const std::vector<SensitivityRow>& rows) {
  TextTable table;
  for (const char* title : {"machine", "case", "output", "policy", "one element", "gain", "rows zeroed"})
    table.column(title);
  for (const SensitivityRow& row : rows)
    table.row({row.machine, row.case_name, row.output, row.policy,
               or_nothing(row.seen.element_ulp > 0, fmt::format("{} ULP", row.seen.element_ulp)),
               or_nothing(row.seen.gain > 0, fmt::format("{:.3g} %", 100.0 * row.seen.gain)),
               or_nothing(row.seen.rows_share > 0, fmt::format("{:.3g} %", 100.0 * row.seen.rows_share))});
  return table.text();
}

std::string sensitivity_to_json(const std::vector<SensitivityRow>& rows) {
  Json json{{"schema", "kvr-sensitivity"}, {"schema_version", 1}, {"rows", Json::array()}};
  for (const SensitivityRow& row : rows)
    json["rows"].push_back(
        {{"machine", row.machine},
         {"case", row.case_name},
         {"output", row.output},
         {"policy", row.policy},
         {"element_ulp", row.seen.element_ulp > 0 ? Json(row.seen.element_ulp) : Json(nullptr)},
         {"gain", row.seen.gain > 0 ? Json(row.seen.gain) : Json(nullptr)},
         {"rows_share", row.seen.rows_share > 0 ? Json(row.seen.rows_share) : Json(nullptr)}});
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace kvr
