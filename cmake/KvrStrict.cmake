# SPDX-FileCopyrightText: 2026 The kvr authors
# SPDX-License-Identifier: MIT
#
# Strict builds of kernels: compiled by clang with the thread sanitizer's instrumentation, linked against harness/strict instead of
# libtsan. clang whatever compiles the rest, because g++ splits 16-byte accesses.
#
#   KVR_STRICT_BUILDS   warp32_strict warp64_strict; empty when there are none
#   KVR_NO_STRICT       then: why
#
# Asking for them (KVR_BUILD_STRICT=ON) where they cannot be built is an error; AUTO, the default of a project that found an installed kvr
# with strict machines, does without.

include(KvrBinutils)

set(kvr_strict_default OFF)
if(KVR_STRICT_INSTALLED)
  set(kvr_strict_default AUTO)
endif()
set(KVR_BUILD_STRICT ${kvr_strict_default} CACHE STRING
  "Build the strict machines (cpu platform; needs clang 14 or newer, ld and objcopy): ON, OFF or AUTO")
set_property(CACHE KVR_BUILD_STRICT PROPERTY STRINGS ON OFF AUTO)

set(KVR_STRICT_BUILDS "")
set(KVR_NO_STRICT "")
if(NOT KVR_PLATFORM STREQUAL "cpu")
  set(KVR_NO_STRICT "strict machines exist on the cpu platform only")
elseif(NOT KVR_BUILD_STRICT)
  set(KVR_NO_STRICT "strict machines were not built: KVR_BUILD_STRICT is OFF")
elseif(KVR_INSTALLED AND NOT KVR_STRICT_INSTALLED)
  set(KVR_NO_STRICT "strict machines were not built: this kvr was installed without them")
else()
  find_program(KVR_STRICT_CXX NAMES clang++ clang++-22 clang++-21 clang++-20 clang++-19 clang++-18 clang++-17 clang++-16 clang++-15 clang++-14
    DOC "clang++ 14 or newer, for the strict builds of kernels")
  if(NOT KVR_STRICT_CXX OR NOT KVR_LD OR NOT KVR_OBJCOPY)
    set(KVR_NO_STRICT "strict machines were not built: clang++ 14 or newer, ld and objcopy are needed")
  else()
    execute_process(COMMAND "${KVR_STRICT_CXX}" -dumpversion OUTPUT_VARIABLE kvr_strict_version OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(kvr_strict_version VERSION_LESS 14)
      set(KVR_NO_STRICT "strict machines were not built: clang++ is ${kvr_strict_version}, 14 is needed")
    else()
      set(KVR_STRICT_BUILDS warp32_strict warp64_strict)
    endif()
  endif()
endif()
if(KVR_NO_STRICT AND KVR_BUILD_STRICT)
  if(NOT KVR_BUILD_STRICT STREQUAL "AUTO")
    message(FATAL_ERROR "KVR_BUILD_STRICT is ${KVR_BUILD_STRICT}: ${KVR_NO_STRICT} (cmake/setup.sh --strict installs it)")
  endif()
  message(STATUS "${KVR_NO_STRICT}")
endif()
set(KVR_STRICT_BUILDS "${KVR_STRICT_BUILDS}" CACHE INTERNAL "")
set(KVR_NO_STRICT "${KVR_NO_STRICT}" CACHE INTERNAL "")

# kvr_add_strict_object(<object variable> <file stem> <source> <build> [DEFINITIONS <d>...] [INCLUDES <dir>...]): a rule that makes one
# self-contained object. Its inline functions are instrumented, so none of its symbols may be merged with those of other
# objects: all become local, and only what it needs stays visible. Kernels register themselves at start-up and need no more.
function(kvr_add_strict_object result stem source build)
  cmake_parse_arguments(ARG "" "" "DEFINITIONS;INCLUDES" ${ARGN})
  string(REGEX MATCH "[0-9]+" warp_size "${build}")
  set(definitions KVR_PLATFORM_cpu=1 KVR_BUILD=${build} "KVR_BUILD_NAME=\"${build}\"" KVR_SIMT_WARP_SIZE=${warp_size}
    KVR_SIMT_STRICT=1 ${ARG_DEFINITIONS})
  list(TRANSFORM definitions PREPEND "-D")
  set(includes ${ARG_INCLUDES} "${PROJECT_SOURCE_DIR}" "${KVR_INCLUDE_DIR}")
  list(REMOVE_DUPLICATES includes)
  list(TRANSFORM includes PREPEND "-I")
  cmake_path(GET stem PARENT_PATH folder)
  file(MAKE_DIRECTORY "${folder}")
  # What a lane does must stay recognisable: no access may be widened, left out because another one follows, or turned into memcpy.
  set(options -std=c++20 -O2 -fPIE -gline-tables-only -gdwarf-4 -ffp-contract=off -fno-vectorize -fno-slp-vectorize -fsanitize=thread
    "SHELL:-mllvm -tsan-instrument-read-before-write=1" "SHELL:-mllvm -tsan-instrument-func-entry-exit=0"
    "SHELL:-mllvm -disable-loop-idiom-all" "SHELL:-mllvm -disable-vector-combine" -Wall -Wextra)
  list(TRANSFORM options REPLACE "^SHELL:(.*)" "\\1")
  string(REPLACE "-mllvm " "-mllvm;" options "${options}")
  if(KVR_WERROR)
    list(APPEND options -Werror)
  endif()
  add_custom_command(OUTPUT "${stem}.o"
    COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} "${KVR_STRICT_CXX}" ${options} ${definitions} ${includes} -MD -MF "${stem}.d" -MT "${stem}.o"
      -c "${source}" -o "${stem}.whole.o"
    COMMAND "${KVR_LD}" -r --force-group-allocation "${stem}.whole.o" -o "${stem}.joined.o"
    COMMAND "${KVR_OBJCOPY}" --wildcard "--localize-symbol=*" --redefine-sym memcpy=__tsan_memcpy
      --redefine-sym memmove=__tsan_memmove --redefine-sym memset=__tsan_memset "${stem}.joined.o" "${stem}.o"
    DEPENDS "${source}" DEPFILE "${stem}.d" VERBATIM COMMENT "Building strict object ${stem}.o")
  set_source_files_properties("${stem}.o" PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  set(${result} "${stem}.o" PARENT_SCOPE)
endfunction()
