// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// KVR_VECTOR_CLONES before a function: its loops are compiled for any processor and, on x86-64, for AVX2 as
// well; the dynamic linker picks one when the program starts. AVX2 alone brings no fused multiply-add, so
// both give equal bits.
#pragma once

// An address sanitizer's runtime is not up yet when the linker asks which clone to take.
#if defined(__x86_64__) && defined(__ELF__) && defined(__has_attribute) && !defined(__SANITIZE_ADDRESS__)
#if __has_attribute(target_clones)
#define KVR_VECTOR_CLONES __attribute__((target_clones("avx2", "default")))
#endif
#endif
#if !defined(KVR_VECTOR_CLONES)
#define KVR_VECTOR_CLONES
#endif
