// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// A study on disk: what an interrupted run resumes from, and what shards are merged from.
//
//   {"schema": "kvr-study", "schema_version": 2, "case": ..., "machine": ..., "first_seed": "0",
//    "planned": "1000000", "draws": "250000", "digest": "0x...", "done_chunks": [[0, 2500]],
//    "outputs": [{"output": "out", ..., "policies": [...]}], "checksum": "0x..."}
//
// done_chunks are half-open runs of chunk numbers. The checksum is over everything else: a file that was cut
// off or edited by hand is refused, not believed.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "harness/suite/study.h"

namespace kvr {

std::string study_to_json(const StudyResult& study);
// Throws JsonError: one line naming what is wrong.
StudyResult study_from_json(std::string_view text);
// Throws FileError or JsonError, both naming the file.
StudyResult read_study(const std::filesystem::path& file);

}  // namespace kvr
