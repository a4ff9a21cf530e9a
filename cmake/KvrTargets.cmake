# SPDX-FileCopyrightText: 2026 The kvr authors
# SPDX-License-Identifier: MIT

# Flags of every target of this project. No contraction and no fast-math on the host: references promise the same bits everywhere.
add_library(kvr_options INTERFACE)
target_include_directories(kvr_options INTERFACE "${PROJECT_SOURCE_DIR}")
target_compile_definitions(kvr_options INTERFACE KVR_PLATFORM_${KVR_PLATFORM}=1)
target_compile_options(kvr_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -ffp-contract=off>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${KVR_WERROR}>>:-Werror>)

# kvr_add_library(<folder> <sources>...  [LINK <targets>...]): static library kvr_<folder>, alias kvr::<folder>.
function(kvr_add_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(kvr_${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  add_library(kvr::${name} ALIAS kvr_${name})
  target_link_libraries(kvr_${name} PUBLIC kvr_options ${ARG_LINK})
endfunction()

# kvr_add_unit_test(<name> <sources>... [LINK <targets>...]): one Catch2 program kvr_unit_<name>, one ctest test unit.<name>.
function(kvr_add_unit_test name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(kvr_unit_${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(kvr_unit_${name} PRIVATE kvr_options ${ARG_LINK} Catch2::Catch2WithMain)
  add_test(NAME unit.${name} COMMAND kvr_unit_${name} "~[soak]")
  set_tests_properties(unit.${name} PROPERTIES LABELS "unit;quick" TIMEOUT 300)
endfunction()
