// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// How this process treats memory that was freed.
#pragma once

namespace kvr {

// Keeps freed memory for the next case instead of giving it back to the system. A case of 4096 x 8192 frees
// a gigabyte of expectations and codes, and the next one asks for as much: the page faults of getting it
// anew were a fifth of the full tier's processor time. Once, first thing in main(); does nothing where the
// C library has no such setting.
void keep_freed_memory();

}  // namespace kvr
