// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The command line: options, help texts, and what becomes of errors. The only file that knows CLI11.
#include "harness/cli/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "harness/cli/commands.h"
#include "harness/cli/exit_code.h"
#include "harness/cli/heap.h"
#include "harness/cli/selection.h"
#include "harness/judge/policy.h"
#include "harness/report/results.h"

namespace kvr {
namespace {

constexpr const char* kExitCodes = R"(
Exit codes: 0 pass; 1 something failed; 2 bad input, nothing was run; 3 nothing ran (nothing selected, or every case
skipped or unsupported).)";

constexpr const char* kFilterHelp =
    R"(FILTER: terms that must all match a case's name. A term is a prefix that ends at a '/' (k_norm_rope, k_norm_rope/public),
one part of the name (n=37, dtype=bf16), or a pattern with * and ? over the whole name. The word "or" starts another filter.
A last part seed=N sets the seed.)";

CLI::App& add_command(CLI::App& app, const char* name, const char* description, const std::string& footer) {
  CLI::App& command = *app.add_subcommand(name, description);
  command.footer(footer + "\n" + kExitCodes);
  return command;
}

void add_threads(CLI::App& command, int& threads) {
  command.add_option("--threads", threads, "Host threads (default: 0, all cores)")->type_name("N");
}

void add_machines(CLI::App& command, std::vector<std::string>& machines, const char* help) {
  command.add_option("--machine", machines, help)
      ->type_name("NAME")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

// A file of the project, in help texts.
std::string project_file(const std::string& name) {
  return name.empty() ? "none" : name;
}

void add_policy_file(CLI::App& command, PolicyOptions& options) {
  command
      .add_option("--policy-file", options.file,
                  fmt::format("Policy table (default: $KVR_POLICY_FILE, else {})",
                              project_file(options.project.policies)))
      ->type_name("FILE");
}

void add_schedule_options(CLI::App& command, ScheduleOptions& options) {
  command
      .add_option(
          "--schedules", options.schedules,
          "Launch under every other schedule too: round robin, reverse, each warp ahead, each warp last, "
          "and N drawn ones. The outputs must be equal bit for bit (cpu machines)")
      ->type_name("N");
  command
      .add_option("--schedule", options.schedule,
                  "Launch under this one too: reverse, round_robin, ahead, last, random")
      ->type_name("NAME");
  command
      .add_option("--schedule-seed", options.seed, "Which warp is ahead or last, what is drawn (default: 0)")
      ->type_name("N");
}

// What check and replay have in common.
void add_run_options(CLI::App& command, CheckOptions& options) {
  add_machines(command, options.machines, "Run here; may be repeated (default: every machine of this build)");
  command.add_option("--seed", options.seed, "Seed of the inputs, 0 to 2^64-1 (default: 0)")->type_name("N");
  add_threads(command, options.threads);
  command
      .add_option("--json", options.json, "Write the results here, whole or not at all; - is standard output")
      ->type_name("FILE");
  command
      .add_option("--policy", options.policy.policy,
                  "Judge under this alternative of the policy table, or this rule")
      ->type_name("NAME|RULE");
  add_policy_file(command, options.policy);
  command
      .add_option(
          "--ledger", options.ledger,
          fmt::format("Compare with this ledger of the worst ever seen (default: $KVR_LEDGER_FILE, else {})",
                      project_file(options.policy.project.ledger)))
      ->type_name("FILE");
  command.add_flag("--no-ledger", options.no_ledger, "Compare with no ledger");
  command.add_option("--fail-on", options.fail_on, "'ledger': what the ledger remarks on is a failure")
      ->type_name("ledger");
  command
      .add_option("--fault", options.fault,
                  "Launch this source fault instead of the kernel (kvr list --faults)")
      ->type_name("NAME");
  add_schedule_options(command, options.schedules);
  command
      .add_option(
          "--jobs", options.jobs,
          "Cases at a time on cpu machines, which share the threads (default: 0, as many as threads and "
          "memory allow)")
      ->type_name("N");
  command.add_option("--timeout", options.timeout, "Time limit per case (default: 60)")->type_name("SECONDS");
  command.add_flag_callback(
      "--no-isolation", [&options] { options.isolation = false; },
      "Run in this process, for a debugger: no time limit, and a crash ends everything");
}

void add_list(CLI::App& app, ListOptions& options, int& exit_code) {
  CLI::App& command =
      add_command(app, "list", "Print cases, machines or source faults", std::string(kFilterHelp) + R"(

Examples:
  kvr list                              every case
  kvr list k_norm_rope n=37 --tier quick
  kvr list --machines                   what this build can run on
  kvr list k_norm_rope --faults)");
  command.add_option("FILTER", options.filter, "Which cases (default: all)");
  command.add_flag("--machines", options.machines, "Machines and their properties");
  command.add_flag("--faults", options.faults, "Source faults of the kernels");
  command
      .add_option("--tier", options.tier, "Only this tier and those below: quick, full, soak (default: soak)")
      ->type_name("TIER");
  command.add_option("--json", options.json, "Write the list here as JSON; - is standard output")
      ->type_name("FILE");
  command.callback([&] { exit_code = run_list(options); });
}

void add_check(CLI::App& app, CheckOptions& options, int& exit_code) {
  CLI::App& command = add_command(app, "check", "Run cases and judge them", std::string(kFilterHelp) + R"(

Examples:
  kvr check                                              the quick tier on every machine
  kvr check k_norm_rope/public --machine cpu:warp64
  kvr check dtype=bf16 n=37 --tier full --json out.json
  kvr check k_norm_rope/public --seed 7 --policy 'atol=0.06 rtol=0'
  kvr check k_norm_rope --fault mean_not_subtracted      must turn red
  kvr check norm_quant --schedules 20                    the same bits under any order of the warps
  kvr check --update-ledger --seed 5                     the worst ever seen may grow

Cases run in a worker process: one that crashes or hangs costs its own verdict only.
KVR_REQUIRE_DEVICE=1 makes a missing device a failure.)");
  command.add_option("FILTER", options.filter, "Which cases (default: all of the tier)");
  command.add_option("--tier", options.tier, "This tier and those below: quick, full, soak (default: quick)")
      ->type_name("TIER");
  add_run_options(command, options);
  command.add_flag("--update-ledger", options.update_ledger,
                   "Raise the ledger to what this run comes to, when nothing fails");
  command.add_flag("--fail-fast", options.fail_fast, "After the first failure, report the rest as skipped");
  command.add_flag("-q,--quiet", options.quiet, "No lines for what passed");
  command.add_flag("-v,--verbose", options.verbose, "The numbers of every case");
  command.callback([&] { exit_code = run_check(options); });
}

void add_replay(CLI::App& app, CheckOptions& options, int& exit_code) {
  CLI::App& command = add_command(app, "replay", "Run one case again and print its numbers",
                                  R"(NAME is a case's name as printed, seed included.

Examples:
  kvr replay 'k_norm_rope/public/n=37/dtype=bf16/pairing=interleaved/table=normal/pos=int32/seed=5' --machine cpu:warp32
  gdb --args kvr replay NAME --machine cpu:warp32 --no-isolation --threads 1)");
  command.add_option("NAME", options.filter, "Name of the case")->required()->expected(1);
  add_run_options(command, options);
  command.callback([&] { exit_code = run_replay(options); });
}

void add_policy(CLI::App& app, PolicyCommandOptions& options, int& exit_code) {
  CLI::App& command =
      add_command(app, "policy", "Print which tolerance applies to which output, why, and where it stands",
                  std::string(kFilterHelp) + R"(

Examples:
  kvr policy
  kvr policy k_norm_rope dtype=bf16
  kvr policy k_norm_rope --policy sglang-dsa-k)");
  command.add_option("FILTER", options.filter, "Which cases (default: all)");
  command.add_option("--policy", options.policy.policy, "Show this alternative where it applies")
      ->type_name("NAME");
  add_policy_file(command, options.policy);
  command.callback([&] { exit_code = run_policy(options); });
}

void add_study(CLI::App& app, StudyCommandOptions& options, int& exit_code) {
  CLI::App& command = add_command(app, "study", "Measure how often a policy fails a right kernel",
                                  std::string(kFilterHelp) + R"(

Examples:
  kvr study k_norm_rope/public pos=int32 --draws 10000 --policy 'atol=0.06 rtol=0' --policy 'rtol=2^-7 atol=0.001' --policy ''
  kvr study NAME --draws 1000000 --json study.json          saved from time to time; Ctrl-C stops it
  kvr study NAME --draws 1000000 --json study.json --resume goes on where it stopped
  kvr study NAME --draws 1000000 --shard 0/4 --json part0.json
  kvr study --merge part0.json --merge part1.json --json all.json

Totals and digest are equal for any number of threads and any split into shards (over the envelope: with one compiler, as which
operations are fused is its choice). Exit 1: the shipped policy is judged here and
fails a draw. An interrupted study exits with 3.)");
  command.add_option("FILTER", options.filter, "Which case (exactly one)");
  command.add_option("--machine", options.machine, "Run here (default: the first machine of this build)")
      ->type_name("NAME");
  command.add_option("--draws", options.draws, "How many seeds (default: 10000)")->type_name("N");
  command.add_option("--seed", options.seed, "The first seed (default: 0)")->type_name("N");
  command
      .add_option(
          "--policy", options.policies,
          "An alternative, a rule, or '' for the shipped policy; may be repeated (default: the shipped one)")
      ->type_name("NAME|RULE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_threads(command, options.threads);
  command.add_option("--shard", options.shard, "Only part i of n (default: 0/1)")->type_name("I/N");
  command.add_flag(
      "--envelope", options.envelope,
      "Vary by seed approximate intrinsics, the order of tree reductions and contraction (cpu machines)");
  command.add_option("--fault", options.fault, "Study this source fault instead of the kernel")
      ->type_name("NAME");
  command.add_option("--json", options.json, "Save the study here; - is standard output")->type_name("FILE");
  command.add_flag("--resume", options.resume, "Go on with the study in --json FILE");
  command.add_option("--merge", options.merge, "Merge these files instead of running; may be repeated")
      ->type_name("FILE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_policy_file(command, options.policy_file);
  command.callback([&] { exit_code = run_study_command(options); });
}

void add_faults(CLI::App& app, FaultsOptions& options, int& exit_code) {
  CLI::App& command =
      add_command(app, "faults", "Show which known faults each policy kills", std::string(kFilterHelp) + R"(

Examples:
  kvr faults                                       every kernel under its shipped policies; exit 1 if a fault survives,
                                                   or if an argument or source fault changes nothing in any case
  kvr faults k_norm_rope --published               beside the published ones
  kvr faults k_norm_rope --policy 'atol=0.06 rtol=0' --policy torch-assert-close
  kvr faults --fault last_row_unwritten --published
  kvr faults k_norm_rope/public --sensitivity      the smallest error each policy sees)");
  command.add_option("FILTER", options.filter, "Which cases (default: all of the tier)");
  add_machines(command, options.machines, "Run here; may be repeated (default: every machine present)");
  command
      .add_option("--policy", options.policies, "A further column: an alternative or a rule; may be repeated")
      ->type_name("NAME|RULE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command.add_flag("--published", options.published, "Every alternative of the policy table as a column");
  command.add_option("--fault", options.faults, "Only this fault, of whatever kind; may be repeated")
      ->type_name("NAME")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command
      .add_option("--kind", options.kinds, "Only faults of this kind; may be repeated (default: all three)")
      ->type_name("output|argument|source")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command.add_flag("--sensitivity", options.sensitivity,
                   "Instead: the smallest error, gain and share of rows that each policy sees");
  command.add_option("--tier", options.tier, "Cases of this tier and those below (default: quick)")
      ->type_name("TIER");
  command.add_option("--seed", options.seed, "Seed of the inputs (default: 0)")->type_name("N");
  add_threads(command, options.threads);
  command.add_option("--json", options.json, "Write every cell of the matrix here")->type_name("FILE");
  add_policy_file(command, options.policy_file);
  command.callback([&] { exit_code = run_faults(options); });
}

void add_tighten(CLI::App& app, TightenOptions& options, int& exit_code) {
  CLI::App& command =
      add_command(app, "tighten", "Show the tightest rules that the draws support, beside the shipped ones",
                  std::string(kFilterHelp) + R"(

For each row of the policy table: the tightest rule of each kind that every draw of the cases supports, with a margin. Then what
could go: a row that allows over 8 times what any machine needs (loose), one whose day is past (expired), one for a platform that
could do without it (needless).

Examples:
  kvr tighten k_norm_rope/public --draws 1000 --envelope
  kvr tighten --draws 20 --fail-on expired,loose   for CI: exit 1 for such rows (needless ones count as loose), and, as
                                                   always, where a row fails a right kernel)");
  command.add_option("FILTER", options.filter, "Which cases (default: all of the quick tier)");
  add_machines(command, options.machines, "Run here; may be repeated (default: every machine present)");
  command.add_option("--draws", options.draws, "Seeds per case (default: 200)")->type_name("N");
  command.add_option("--seed", options.seed, "The first seed (default: 0)")->type_name("N");
  add_threads(command, options.threads);
  command.add_option("--margin", options.margin, "Factor on the worst value seen, from 1 (default: 1.5)")
      ->type_name("X");
  command.add_flag(
      "--envelope", options.envelope,
      "Vary by seed approximate intrinsics, the order of tree reductions and contraction (cpu machines)");
  command.add_option("--fail-on", options.fail_on, "Exit 1 for rows that are expired, loose, or either")
      ->type_name("expired,loose");
  add_policy_file(command, options.policy_file);
  command.callback([&] { exit_code = run_tighten(options); });
}

void add_bench(CLI::App& app, BenchOptions& options, int& exit_code) {
  CLI::App& command = add_command(app, "bench", "Measure kernels at the shapes that servers launch",
                                  std::string(kFilterHelp) + R"(

Examples:
  kvr bench --traffic                              every kernel, both warp sizes
  kvr bench --traffic norm_quant h=5120 --machine cpu:warp32+strict --json traffic.json

--traffic counts, on the strict machines, what a launch of each case of a 'serving' group moves: sectors of 32 bytes for each access of
a warp; bytes requested by lanes; unique bytes, each once per direction; bytes moved against the minimum that the case declares; the
share of accesses that are 16 bytes wide; bank conflicts in shared memory; barriers, collectives, atomics. Exit 1: a case moves more
than 1.05 x its minimum, or more than the limit that it states with a reason; or a kernel has no serving group.)");
  command.add_option("FILTER", options.filter, "Which cases (default: all of the serving groups)");
  command.add_flag("--traffic", options.traffic, "Count memory traffic");
  add_machines(command, options.machines, "Run here; may be repeated (default: every strict machine)");
  command.add_option("--seed", options.seed, "Seed of the inputs (default: 0)")->type_name("N");
  command.add_option("--json", options.json, "Write every count of every tensor here; - is standard output")
      ->type_name("FILE");
  command.callback([&] { exit_code = run_bench(options); });
}

void add_worker(CLI::App& app, WorkerOptions& options, int& exit_code) {
  CLI::App& command = *app.add_subcommand("worker", "Started by check and replay")->group("");
  command.add_option("--machine", options.machine)->required();
  command.add_option("--threads", options.threads);
  command.add_option("--policy", options.policy.policy);
  command.add_option("--policy-file", options.policy.file);
  command.add_option("--fault", options.fault);
  add_schedule_options(command, options.schedules);
  command.callback([&] { exit_code = run_worker(options); });
}

// "--seed -1" is a seed of -1, not an option called -1; so for every option that takes a number.
std::vector<std::string> join_negative_numbers(int argc, const char* const* argv) {
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) {
    const std::string_view previous = words.empty() ? "" : std::string_view(words.back());
    const bool numeric = previous == "--seed" || previous == "--threads" || previous == "--jobs" ||
                         previous == "--timeout" || previous == "--draws" || previous == "--margin" ||
                         previous == "--schedules" || previous == "--schedule-seed";
    if (numeric && argv[i][0] == '-' && argv[i][1] != '-')
      words.back() += fmt::format("={}", argv[i]);
    else
      words.emplace_back(argv[i]);
  }
  return words;
}

int complain(const char* text, int exit_code) {
  std::fflush(stdout);
  fmt::print(stderr, "kvr: {}\n", text);
  return exit_code;
}

int parse_and_run(int argc, const char* const* argv, const ProjectFiles& project) {
  CLI::App app{
      "kvr: kernel versus reference. Runs GPU kernels against their references under tolerances that say "
      "why.",
      "kvr"};
  app.set_version_flag("--version", "kvr " + kvr_version());
  app.require_subcommand(1);
  app.footer(std::string(R"(
Examples:
  kvr list --machines
  kvr check
  kvr check k_norm_rope/public --machine cpu:warp32 --json results.json
  kvr replay 'NAME' --machine cpu:warp32
'kvr COMMAND --help' says more.
)") + kExitCodes);

  int exit_code = kExitPass;
  ListOptions list;
  CheckOptions check, replay;
  PolicyCommandOptions policy;
  StudyCommandOptions study;
  FaultsOptions faults;
  TightenOptions tighten;
  BenchOptions bench;
  WorkerOptions worker;
  for (PolicyOptions* options : {&check.policy, &replay.policy, &policy.policy, &study.policy_file,
                                 &faults.policy_file, &tighten.policy_file, &worker.policy})
    options->project = project;
  add_list(app, list, exit_code);
  add_check(app, check, exit_code);
  add_replay(app, replay, exit_code);
  add_policy(app, policy, exit_code);
  add_study(app, study, exit_code);
  add_faults(app, faults, exit_code);
  add_tighten(app, tighten, exit_code);
  add_bench(app, bench, exit_code);
  add_worker(app, worker, exit_code);

  std::vector<std::string> words = join_negative_numbers(argc, argv);
  // CLI11 would say that a command is missing, not that this one is none.
  const std::vector<std::string> commands{"list",  "check",  "replay",  "policy",
                                          "study", "faults", "tighten", "bench"};
  if (!words.empty() && !words.front().starts_with('-') &&
      app.get_subcommands([&](const CLI::App* c) { return c->get_name() == words.front(); }).empty())
    throw UsageError(fmt::format("'{}' is none of the commands {}{}", words.front(),
                                 fmt::join(commands, ", "), did_you_mean(words.front(), commands)));
  std::reverse(words.begin(), words.end());  // as CLI11 wants them
  try {
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return complain(error.what(), kExitUsage);
  }
  return exit_code;
}

}  // namespace

int run_command_line(int argc, const char* const* argv, const ProjectFiles& project) {
  keep_freed_memory();
  try {
    return parse_and_run(argc, argv, project);
  } catch (const NothingSelected& error) {
    return complain(error.what(), kExitNothingRan);
  } catch (const std::exception& error) {
    // UsageError, PolicyError, FileError: bad input. Anything else is a bug of the harness, and nothing to
    // build on either.
    return complain(error.what(), kExitUsage);
  }
}

}  // namespace kvr
