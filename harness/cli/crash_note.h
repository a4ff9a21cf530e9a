// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// A last line on standard error when the process is about to die of a bad memory access: the address, which
// the signal knows and the exit status does not.
#pragma once

namespace kvr {

// For SIGSEGV and SIGBUS, unless somebody (a sanitizer) handles them already. The process still dies of the
// signal.
void note_crashes();

}  // namespace kvr
