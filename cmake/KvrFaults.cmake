# SPDX-FileCopyrightText: 2026 The kvr authors
# SPDX-License-Identifier: MIT
#
# Source faults: known wrong versions of a kernel, described beside it in faults.txt, so that the kernel's own text stays
# as it is read. A fault names lines of the kernel and what stands there instead:
#
#   # a comment
#   [mean_not_subtracted] the row is scaled but not centred
#   <<<
#   const float centred = x - mean;
#   ===
#   const float centred = x;
#   >>>
#
# The text between <<< and === must occur exactly once in the kernel. `<<< 2 of 3` means: it occurs three times, take the
# second. It may span lines, part of a line will do, and nothing after === deletes it. A fault may hold several such edits,
# in the order of the kernel's lines.
#
# A fault that no longer fits its kernel is an error when configuring, never a fault that silently tests nothing.

# Source faults are judged on the cpu machine; elsewhere they only cost compile time.
if(KVR_PLATFORM STREQUAL "cpu")
  set(kvr_build_faults_default ON)
else()
  set(kvr_build_faults_default OFF)
endif()
option(KVR_BUILD_FAULTS "Build the source faults of every kernel" ${kvr_build_faults_default})

function(kvr_write_if_different file text)
  if(EXISTS "${file}")
    file(READ "${file}" present)
    if(present STREQUAL text)
      return()
    endif()
  endif()
  file(WRITE "${file}" "${text}")
endfunction()

function(_kvr_count_newlines text result)
  string(REGEX REPLACE "[^\n]" "" newlines "${text}")
  string(LENGTH "${newlines}" count)
  set(${result} ${count} PARENT_SCOPE)
endfunction()

# Offset of the occurrence of `find` that `which` asks for ("1 of 1"); an error text in ${result}_error if there is none.
function(_kvr_find_occurrence text find which result)
  string(REGEX MATCH "^([0-9]+) of ([0-9]+)$" matched "${which}")
  set(wanted "${CMAKE_MATCH_1}")
  set(expected "${CMAKE_MATCH_2}")
  string(LENGTH "${find}" find_length)
  set(base 0)
  set(count 0)
  set(offset -1)
  while(TRUE)
    string(FIND "${text}" "${find}" at)
    if(at EQUAL -1)
      break()
    endif()
    math(EXPR count "${count} + 1")
    if(count EQUAL wanted)
      math(EXPR offset "${base} + ${at}")
    endif()
    math(EXPR next "${at} + ${find_length}")
    math(EXPR base "${base} + ${next}")
    string(SUBSTRING "${text}" ${next} -1 text)
  endwhile()
  set(${result}_error "" PARENT_SCOPE)
  if(NOT count EQUAL expected OR offset EQUAL -1)
    set(${result}_error "occurs ${count} times, expected ${expected}" PARENT_SCOPE)
  endif()
  set(${result} ${offset} PARENT_SCOPE)
endfunction()

# Reads `faults_file`, writes one mutated copy of `source` per fault into `folder`, and sets `names_var` to the faults' names.
# Files are rewritten only when their text changes.
function(kvr_generate_faults source faults_file folder names_var)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}" "${faults_file}")
  file(READ "${source}" text)
  file(READ "${faults_file}" rest)
  string(APPEND rest "\n")

  set(names "")
  set(name "")
  set(state outside)  # outside, find, replace
  set(line_number 0)
  while(NOT rest STREQUAL "")
    string(FIND "${rest}" "\n" end)
    string(SUBSTRING "${rest}" 0 ${end} line)
    math(EXPR end "${end} + 1")
    string(SUBSTRING "${rest}" ${end} -1 rest)
    math(EXPR line_number "${line_number} + 1")
    set(here "${faults_file}:${line_number}")

    if(state STREQUAL "find" AND line STREQUAL "===")
      set(state replace)
    elseif(state STREQUAL "replace" AND line STREQUAL ">>>")
      set(state outside)
      _kvr_apply_edit()
    elseif(NOT state STREQUAL "outside")
      if(line MATCHES "^(<<<( .*)?|===|>>>)$")
        message(FATAL_ERROR "${here}: '${line}' inside an edit of fault '${name}'; an edit is <<<, ===, >>>")
      endif()
      if(${state}_lines GREATER 0)
        string(APPEND ${state} "\n")
      endif()
      string(APPEND ${state} "${line}")
      math(EXPR ${state}_lines "${${state}_lines} + 1")
    elseif(line MATCHES "^[ \t]*(#.*)?$")
      # a comment or an empty line
    elseif(line MATCHES "^<<<( ([0-9]+ of [0-9]+))?$")
      set(which "${CMAKE_MATCH_2}")
      if(name STREQUAL "")
        message(FATAL_ERROR "${here}: an edit before the first [fault]")
      endif()
      if(which STREQUAL "")
        set(which "1 of 1")
      endif()
      set(state find)
      foreach(part find replace)
        set(${part} "")
        set(${part}_lines 0)
      endforeach()
    elseif(line MATCHES "^\\[([a-z][a-z0-9_]*)\\][ \t]+([^ \t].*)$")
      _kvr_finish_fault()
      set(name "${CMAKE_MATCH_1}")
      set(description "${CMAKE_MATCH_2}")
      if(name IN_LIST names)
        message(FATAL_ERROR "${here}: fault '${name}' is described twice")
      endif()
      list(APPEND names ${name})
      set(mutated "// Fault ${name}: ${description}. Generated from ${faults_file}.\n#line 1 \"${source}\"\n")
      set(done 0)  # how much of the kernel's text `mutated` holds already
      set(edits 0)
    else()
      message(FATAL_ERROR "${here}: '${line}' is neither '[name] description' nor '<<<', '<<< 2 of 3' or a '# comment'")
    endif()
  endwhile()
  if(NOT state STREQUAL "outside")
    message(FATAL_ERROR "${faults_file}: the last edit of fault '${name}' is not closed by >>>")
  endif()
  _kvr_finish_fault()
  set(${names_var} "${names}" PARENT_SCOPE)
endfunction()

# The two steps below work on the variables of kvr_generate_faults.
macro(_kvr_apply_edit)
  if(find STREQUAL "")
    message(FATAL_ERROR "${here}: fault '${name}' looks for an empty text")
  endif()
  _kvr_find_occurrence("${text}" "${find}" "${which}" at)
  if(NOT at_error STREQUAL "")
    message(FATAL_ERROR "${here}: fault '${name}' does not fit ${source}: this text ${at_error}\n${find}")
  endif()
  if(at LESS done)
    message(FATAL_ERROR "${here}: fault '${name}': edits must not overlap and must follow the order of the lines of ${source}")
  endif()
  math(EXPR length "${at} - ${done}")
  string(SUBSTRING "${text}" ${done} ${length} before)
  string(LENGTH "${find}" length)
  math(EXPR done "${at} + ${length}")
  string(APPEND mutated "${before}${replace}")
  math(EXPR edits "${edits} + 1")

  # An edit that changes the number of lines: say where the next line came from.
  _kvr_count_newlines("${find}" find_newlines)
  _kvr_count_newlines("${replace}" replace_newlines)
  if(NOT find_newlines EQUAL replace_newlines)
    string(SUBSTRING "${text}" ${done} -1 tail)
    string(FIND "${tail}" "\n" end_of_line)
    if(NOT end_of_line EQUAL -1)
      math(EXPR end_of_line "${end_of_line} + 1")
      string(SUBSTRING "${tail}" 0 ${end_of_line} tail)
      math(EXPR done "${done} + ${end_of_line}")
      string(SUBSTRING "${text}" 0 ${done} before)
      _kvr_count_newlines("${before}" next_line)
      math(EXPR next_line "${next_line} + 1")
      string(APPEND mutated "${tail}#line ${next_line} \"${source}\"\n")
    endif()
  endif()
endmacro()

macro(_kvr_finish_fault)
  if(NOT name STREQUAL "")
    if(edits EQUAL 0)
      message(FATAL_ERROR "${faults_file}: fault '${name}' changes nothing: it has no <<< === >>> edit")
    endif()
    string(SUBSTRING "${text}" ${done} -1 tail)
    kvr_write_if_different("${folder}/${name}.inc" "${mutated}${tail}")
  endif()
endmacro()
