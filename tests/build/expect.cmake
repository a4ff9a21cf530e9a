# SPDX-FileCopyrightText: 2026 The kvr authors
# SPDX-License-Identifier: MIT
#
# For tests that are CMake scripts: all expectations are looked at, then the script fails if one was not met.

# expect(<what> <actual> <expected>)
function(expect what actual expected)
  if(NOT actual STREQUAL expected)
    message(SEND_ERROR "${what}: '${actual}' instead of '${expected}'")
  endif()
endfunction()

# expect_matches(<what> <text> <regex>)
function(expect_matches what text regex)
  if(NOT text MATCHES "${regex}")
    message(SEND_ERROR "${what}: nothing matches '${regex}' in:\n${text}")
  endif()
endfunction()

# stand_in(<folder> <program> <shell commands>): a program of that name.
function(stand_in folder program commands)
  file(WRITE "${folder}/${program}" "#!/bin/sh\n${commands}\n")
  file(CHMOD "${folder}/${program}" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endfunction()
