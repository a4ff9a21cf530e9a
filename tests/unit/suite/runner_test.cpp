// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// What the runner says about kernels that misbehave: y = 2x over N rows of 8 floats, done wrong in one way
// each.
#include "harness/suite/runner.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "harness/suite/null_answers.h"
#include "kernels/common/registry_types.h"
#include "tests/unit/suite/fake_machine.h"

namespace kvr {
namespace {

using Catch::Matchers::ContainsSubstring;
using test::FakeMachine;

struct DoubleArgs {
  float* x = nullptr;
  float* y = nullptr;
  std::int64_t rows = 0;
  std::int64_t y_stride = 8;
};

void work(const DoubleArgs& a, std::int64_t rows) {
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < 8; ++c) a.y[r * a.y_stride + c] = 2.0F * a.x[r * 8 + c];
}

LaunchStatus right(const DoubleArgs& a, Stream) {
  return work(a, a.rows), LaunchStatus{};
}
LaunchStatus last_row_missing(const DoubleArgs& a, Stream) {
  return work(a, a.rows - 1), LaunchStatus{};
}
LaunchStatus never_runs(const DoubleArgs&, Stream) {
  return {};
}
LaunchStatus writes_behind(const DoubleArgs& a, Stream) {
  work(a, a.rows);
  a.y[(a.rows - 1) * a.y_stride + 8] = 1.0F;
  return {};
}
LaunchStatus writes_gap(const DoubleArgs& a, Stream) {
  work(a, a.rows);
  a.y[8] = 1.0F;
  return {};
}
LaunchStatus writes_in_front(const DoubleArgs& a, Stream) {
  work(a, a.rows);
  a.y[-1] = 1.0F;
  return {};
}
LaunchStatus changes_input(const DoubleArgs& a, Stream) {
  work(a, a.rows);
  a.x[8 + 3] = -a.x[8 + 3];
  return {};
}
LaunchStatus reads_gap(const DoubleArgs& a, Stream) {
  work(a, a.rows);
  // What lies behind the last input row decides a bit of the result: it differs from run to run.
  a.y[0] += reinterpret_cast<const unsigned char*>(a.x + a.rows * 8)[0] == 0xFF ? 0x1p-20F : 0.0F;
  return {};
}
LaunchStatus ignores_stride(const DoubleArgs& a, Stream) {
  DoubleArgs packed = a;
  packed.y_stride = 8;
  return work(packed, a.rows), LaunchStatus{};
}
LaunchStatus nan_element(const DoubleArgs& a, Stream) {
  work(a, a.rows);
  a.y[1] = std::numeric_limits<float>::quiet_NaN();
  return {};
}
LaunchStatus launch_fails(const DoubleArgs&, Stream) {
  return LaunchStatus::error("double: invalid configuration");
}
LaunchStatus refuses(const DoubleArgs&, Stream) {
  return LaunchStatus::refused("y_stride = 3: too small");
}
LaunchStatus unsupported(const DoubleArgs&, Stream) {
  return LaunchStatus::unsupported("rows: only 1");
}

void add(const char* fault, Launcher<DoubleArgs> launcher) {
  register_kernel(
      {"double", "fake", fault, std::type_index(typeid(DoubleArgs)), reinterpret_cast<void (*)()>(launcher)});
}

const bool kernels_registered = [] {
  add("", right);
  add("last_row_missing", last_row_missing);
  add("never_runs", never_runs);
  add("writes_behind", writes_behind);
  add("writes_gap", writes_gap);
  add("writes_in_front", writes_in_front);
  add("changes_input", changes_input);
  add("reads_gap", reads_gap);
  add("ignores_stride", ignores_stride);
  add("nan_element", nan_element);
  add("launch_fails", launch_fails);
  add("refuses", refuses);
  add("unsupported", unsupported);
  return true;
}();

void describe(CaseBuilder& c) {
  const std::int64_t n = c.params().integer("n");
  const std::int64_t stride = c.params().text("layout") == "padded" ? 11 : 8;
  const std::string& fill = c.params().text("fill");
  c.input(TensorSpec::contiguous("x", DType::f32, {n, 8}),
          fill == "zero" ? Fill::constant(0.0) : Fill::normal());
  c.output(TensorSpec::contiguous("y", DType::f32, {n, 8}).with_row_stride(stride)).null_source = "x";
  c.bind<DoubleArgs>([=](const Bindings& at) { return DoubleArgs{at("x"), at("y"), n, stride}; });
  if (fill == "refused") c.expect_refusal("y_stride");
  c.reference<DoubleArgs>([](const DoubleArgs& a, Expectations& expected) {
    for (std::int64_t i = 0; i < a.rows * 8; ++i) expected.at("y").set(i, 2.0 * static_cast<double>(a.x[i]));
  });
}

const bool cases_registered = register_cases("double", describe,
                                             {Group("all", Tier::quick)
                                                  .axis("n", {"0", "1", "5"})
                                                  .axis("fill", {"normal", "zero", "refused"})
                                                  .presentation("layout", {"packed", "padded"}),
                                              Group("variants", Tier::quick)
                                                  .axis("n", {"2"})
                                                  .axis("fill", {"normal"})
                                                  .variant("layout", {"packed", "padded"})});

CaseReport run(const std::string& fault, const std::string& name, const std::string& rule = "exact") {
  FakeMachine machine;
  const PolicyTable policies =
      PolicyTable::parse("[[row]]\nkernel = \"double\"\nexact = true\nreason = \"x2 is exact\"\n", "inline");
  const CaseId* id = find_case("double/all/" + name);
  REQUIRE(id != nullptr);
  RunOptions options;
  options.fault = fault;
  if (rule != "exact") options.rule_text = rule;
  return run_case(*id, machine, policies, options);
}

TEST_CASE("a right kernel passes in every layout") {
  for (const char* name :
       {"n=1/fill=normal/layout=packed", "n=5/fill=normal/layout=packed", "n=5/fill=normal/layout=padded"}) {
    const CaseReport report = run("", name);
    CAPTURE(name, report.reason);
    CHECK(report.verdict == Verdict::pass);
    REQUIRE(report.outputs.size() == 1);
    CHECK(report.outputs[0].comparison.differing == 0);
  }
}

TEST_CASE("no tokens: nothing is touched, and that is a pass") {
  CHECK(run("", "n=0/fill=normal/layout=packed").verdict == Verdict::pass);
  CHECK_THAT(run("", "n=0/fill=normal/layout=packed").reason, ContainsSubstring("no elements"));
}

TEST_CASE("the verdict names what went wrong and where") {
  struct Row {
    const char* fault;
    const char* name;
    Verdict verdict;
    const char* says;
  };
  const Row rows[] = {
      {"last_row_missing", "n=5/fill=normal/layout=packed", Verdict::fail,
       "8 elements of 40 never written, first 'y' row 4, column 0"},
      {"never_runs", "n=5/fill=normal/layout=packed", Verdict::fail, "40 elements of 40 never written"},
      {"writes_behind", "n=5/fill=normal/layout=packed", Verdict::fail,
       "'y' was written in the guard, byte 0 behind the data"},
      {"writes_behind", "n=5/fill=normal/layout=padded", Verdict::fail, "behind the data"},
      {"writes_gap", "n=5/fill=normal/layout=padded", Verdict::fail,
       "'y' was written in the gap behind row 0, byte 0 after its end"},
      {"writes_in_front", "n=5/fill=normal/layout=packed", Verdict::fail,
       "in the guard, byte 4 in front of the data"},
      {"changes_input", "n=5/fill=normal/layout=packed", Verdict::fail,
       "input 'x' was modified at row 1, column 3"},
      {"reads_gap", "n=5/fill=normal/layout=packed", Verdict::fail, "a second run differs"},
      {"ignores_stride", "n=5/fill=normal/layout=padded", Verdict::fail,
       "'y' was written in the gap behind row 0"},
      {"nan_element", "n=5/fill=normal/layout=packed", Verdict::fail, "NaN"},
      {"launch_fails", "n=5/fill=normal/layout=packed", Verdict::launch_error, "invalid configuration"},
      {"refuses", "n=5/fill=normal/layout=packed", Verdict::fail, "launch refused: y_stride = 3"},
      {"refuses", "n=5/fill=refused/layout=packed", Verdict::pass, "refused as it must be"},
      {"unsupported", "n=5/fill=normal/layout=packed", Verdict::unsupported, "rows: only 1"},
      {"", "n=5/fill=refused/layout=packed", Verdict::fail,
       "must be refused naming 'y_stride', but it went through"},
      {"launch_fails", "n=5/fill=refused/layout=packed", Verdict::launch_error, "invalid configuration"},
  };
  for (const Row& row : rows) {
    const CaseReport report = run(row.fault, row.name);
    CAPTURE(row.fault, row.name, report.reason);
    CHECK(report.verdict == row.verdict);
    CHECK_THAT(report.reason, ContainsSubstring(row.says));
    CHECK_THAT(report.replay, ContainsSubstring(std::string("double/all/") + row.name + "/seed=0"));
  }
}

TEST_CASE("a policy that accepts a null answer has no power") {
  CHECK_THAT(run("", "n=5/fill=zero/layout=packed").reason, ContainsSubstring("zeros"));
  CHECK(run("", "n=5/fill=zero/layout=packed").verdict == Verdict::no_power);
  const CaseReport loose = run("", "n=5/fill=normal/layout=packed", "atol=100");
  CHECK(loose.verdict == Verdict::no_power);
  CHECK_THAT(loose.reason, ContainsSubstring("null answer for 'y': zeros"));
}

TEST_CASE("a wrong kernel that the policy accepts on the baseline still fails against its baseline") {
  // Off by less than atol, and only when padded: the same data in another layout must give the same bits.
  add("padded_differs", [](const DoubleArgs& a, Stream) {
    work(a, a.rows);
    if (a.y_stride != 8) a.y[0] += 0x1p-10F;
    return LaunchStatus{};
  });
  const CaseReport report = run("padded_differs", "n=5/fill=normal/layout=padded", "atol=0.01");
  CHECK(report.verdict == Verdict::fail);
  CHECK_THAT(report.reason, ContainsSubstring("'y' differs in bits from the same data"));
}

TEST_CASE("cases along a variant axis share their inputs and no baseline") {
  const CaseId* packed = find_case("double/variants/n=2/fill=normal/layout=packed");
  const CaseId* padded = find_case("double/variants/n=2/fill=normal/layout=padded");
  REQUIRE(packed != nullptr);
  REQUIRE(padded != nullptr);
  CHECK(packed->data_id == "double/n=2/fill=normal");
  CHECK(padded->data_id == packed->data_id);
  CHECK(padded->baseline.empty());
}

// Cases one after the other in one workspace see what they would see alone: inputs that later cases share are
// taken over, everything else is drawn and laid out anew, and a kernel that leaves y unwritten is still found
// out.
TEST_CASE("a workspace changes nothing but the time a case takes") {
  FakeMachine machine;
  const PolicyTable policies =
      PolicyTable::parse("[[row]]\nkernel = \"double\"\nexact = true\nreason = \"x2 is exact\"\n", "inline");
  Workspace workspace;
  const auto compare = [&](const std::string& name, std::uint64_t seed, const std::string& fault) {
    CAPTURE(name, seed, fault);
    const CaseId* id = find_case("double/all/" + name);
    REQUIRE(id != nullptr);
    RunOptions options;
    options.seed = Seed{seed};
    options.fault = fault;
    const CaseReport alone = run_case(*id, machine, policies, options);
    const CaseReport after_others = run_case(*id, machine, policies, options, &workspace);
    CHECK(after_others.verdict == alone.verdict);
    CHECK(after_others.reason == alone.reason);
    CHECK(after_others.input_hash == alone.input_hash);
    REQUIRE(after_others.outputs.size() == alone.outputs.size());
    for (std::size_t o = 0; o < alone.outputs.size(); ++o)
      CHECK(after_others.outputs[o].output_hash == alone.outputs[o].output_hash);
  };
  for (const std::uint64_t seed : {1U, 1U, 2U})
    for (const char* name :
         {"n=5/fill=normal/layout=packed", "n=5/fill=normal/layout=padded", "n=5/fill=zero/layout=padded",
          "n=0/fill=normal/layout=packed", "n=1/fill=normal/layout=packed"})
      for (const char* fault : {"", "never_runs", "changes_input", "launch_fails"})
        compare(name, seed, fault);
}

TEST_CASE("what a reference says of an output may be floats") {
  Expected expected(2, 3);
  const Expected::AllSingle all = expected.set_all_single();
  REQUIRE(all.values.size() == 6);
  REQUIRE(all.budgets.size() == 6);
  for (std::size_t i = 0; i < 6; ++i) all.values[i] = static_cast<float>(i) + 0.1F;
  all.budgets[4] = 0.25;
  CHECK(expected.set_count() == 6);
  CHECK(expected.touched_rows() == 2);
  CHECK(expected.budgets() == std::vector<double>{0, 0, 0, 0, 0.25, 0});
  CHECK(expected.value(5) == static_cast<double>(5.1F));
  const ExpectedValues values = expected.values();
  const auto* single = std::get_if<std::span<const float>>(&values);
  REQUIRE(single != nullptr);
  CHECK((*single)[5] == 5.1F);
  CHECK_THROWS_AS(expected.set(0, 1.0), std::logic_error);
  CHECK_THROWS_AS(expected.set_all(), std::logic_error);
}

// Every row of y from one and the same row of x, so that n is a matter of presentation.
void describe_alike(CaseBuilder& c) {
  const std::int64_t n = c.params().integer("n");
  c.input(TensorSpec::contiguous("x", DType::f32, {1, 8}), Fill::normal());
  c.output(TensorSpec::contiguous("y", DType::f32, {n, 8})).rows_alike = true;
  c.bind<DoubleArgs>([=](const Bindings& at) { return DoubleArgs{at("x"), at("y"), n, 8}; });
  c.reference<DoubleArgs>([](const DoubleArgs& a, Expectations& expected) {
    const Expected::All all = expected.at("y").set_all();
    for (std::size_t i = 0; i < all.values.size(); ++i) all.values[i] = 2.0 * static_cast<double>(a.x[i % 8]);
  });
}
void work_alike(const DoubleArgs& a, float last_row_error, float large_launch_error) {
  for (std::int64_t i = 0; i < a.rows * 8; ++i)
    a.y[i] = 2.0F * a.x[i % 8] + (i >= (a.rows - 1) * 8 && a.rows > 1 ? last_row_error : 0.0F) +
             (a.rows > 2 ? large_launch_error : 0.0F);
}

const bool alike_registered = [] {
  const auto add_alike = [](const char* fault, Launcher<DoubleArgs> launcher) {
    register_kernel({"alike", "fake", fault, std::type_index(typeid(DoubleArgs)),
                     reinterpret_cast<void (*)()>(launcher)});
  };
  add_alike("", [](const DoubleArgs& a, Stream) { return work_alike(a, 0.0F, 0.0F), LaunchStatus{}; });
  add_alike("place",
            [](const DoubleArgs& a, Stream) { return work_alike(a, 0x1p-10F, 0.0F), LaunchStatus{}; });
  add_alike("size",
            [](const DoubleArgs& a, Stream) { return work_alike(a, 0.0F, 0x1p-10F), LaunchStatus{}; });
  return register_cases("alike", describe_alike,
                        {Group("all", Tier::quick).presentation("n", {"1", "2", "5"})});
}();

TEST_CASE("a row's bits depend neither on its place nor on how many rows there are") {
  const auto run_alike = [](const std::string& fault, const std::string& n) {
    FakeMachine machine;
    RunOptions options;
    options.fault = fault;
    options.rule_text = "atol=0.01";
    return run_case(*find_case("alike/all/n=" + n), machine, PolicyTable{}, options);
  };
  for (const char* n : {"1", "2", "5"}) {
    const CaseReport report = run_alike("", n);
    CAPTURE(n, report.reason);
    CHECK(report.verdict == Verdict::pass);  // "rows shifted by one" is no null answer here
  }
  CHECK(run_alike("place", "1").verdict == Verdict::pass);
  CHECK(run_alike("place", "2").verdict == Verdict::fail);
  CHECK_THAT(run_alike("place", "2").reason,
             ContainsSubstring("'y' row 1, column 0 differs in bits from row 0"));
  CHECK(run_alike("size", "2").verdict == Verdict::pass);
  CHECK(run_alike("size", "5").verdict == Verdict::fail);
  CHECK_THAT(run_alike("size", "5").reason,
             ContainsSubstring("differs in bits from the same data in the case"));
}

// The reference may find that the inputs prove nothing.
void describe_note(CaseBuilder& c) {
  const bool powerless = c.params().text("inputs") == "powerless";
  c.input(TensorSpec::contiguous("x", DType::f32, {2, 8}), Fill::normal());
  c.output(TensorSpec::contiguous("y", DType::f32, {2, 8}));
  c.bind<DoubleArgs>([=](const Bindings& at) { return DoubleArgs{at("x"), at("y"), 2, 8}; });
  c.reference<DoubleArgs>([=](const DoubleArgs& a, Expectations& expected) {
    Expected& y = expected.at("y");
    for (std::int64_t i = 0; i < 16; ++i) y.set(i, 2.0 * static_cast<double>(a.x[i]));
    y.note = "clamp active in 1 of 2 rows";
    if (powerless) y.powerless = "clamp active in 0 of 2 rows";
  });
}
const bool note_registered = [] {
  register_kernel(
      {"note", "fake", "", std::type_index(typeid(DoubleArgs)), reinterpret_cast<void (*)()>(&right)});
  register_kernel({"note", "fake", "nan", std::type_index(typeid(DoubleArgs)),
                   reinterpret_cast<void (*)()>(&nan_element)});
  return register_cases("note", describe_note,
                        {Group("all", Tier::quick).axis("inputs", {"powerful", "powerless"})});
}();

TEST_CASE("a case whose inputs prove nothing has no power, unless the kernel fails anyway") {
  const auto run_note = [](const std::string& fault, const std::string& inputs) {
    FakeMachine machine;
    RunOptions options;
    options.fault = fault;
    options.rule_text = "exact=true";
    return run_case(*find_case("note/all/inputs=" + inputs), machine, PolicyTable{}, options);
  };
  CHECK(run_note("", "powerful").verdict == Verdict::pass);
  CHECK_THAT(run_note("", "powerful").reason, ContainsSubstring("clamp active in 1 of 2 rows"));
  CHECK(run_note("", "powerless").verdict == Verdict::no_power);
  CHECK(run_note("", "powerless").reason == "'y': clamp active in 0 of 2 rows");
  CHECK(run_note("nan", "powerless").verdict == Verdict::fail);
}

TEST_CASE("a constant that is the right answer everywhere is no null answer") {
  const double one[] = {2.0};
  const std::byte code[4] = {};
  Outcome outcome;
  outcome.rows = outcome.row_len = 1;
  outcome.actual = code;
  outcome.expected = std::span<const double>(one);
  const Rule rule = parse_rule("exact=true", DType::f32);
  for (const NullAnswer& answer : null_answers(outcome, "", {}, {}))
    CHECK_FALSE(accepts_null(outcome, rule, answer));
  const double zero[] = {0.0};
  outcome.expected = std::span<const double>(zero);
  const auto answers = null_answers(outcome, "", {}, {});
  CHECK(answers[0].name == "zeros");
  CHECK(accepts_null(outcome, rule, answers[0]));
}

TEST_CASE("seeds and names decide the inputs, layouts do not") {
  CHECK(run("", "n=5/fill=normal/layout=packed").input_hash ==
        run("", "n=5/fill=normal/layout=padded").input_hash);
  CHECK(run("", "n=5/fill=normal/layout=packed").input_hash !=
        run("", "n=1/fill=normal/layout=packed").input_hash);
}

TEST_CASE("an output without a policy row is an error, not a pass") {
  FakeMachine machine;
  const PolicyTable policies =
      PolicyTable::parse("[[row]]\nkernel = \"other\"\nexact = true\nreason = \"r\"\n", "inline");
  CHECK_THROWS_AS(run_case(*find_case("double/all/n=5/fill=normal/layout=packed"), machine, policies, {}),
                  PolicyError);
}

}  // namespace
}  // namespace kvr
