# SPDX-FileCopyrightText: 2026 The kvr authors
# SPDX-License-Identifier: MIT
#
# kvr_discover_tests(<target>): after each build of the program, it writes its own ctest tests, one per kernel, machine and
# group: k_norm_rope.cpu:warp32.public. ctest reads that file when it starts; if the program was never built, a test that
# fails stands in for all of them.
#
#   ctest              the quick tier
#   ctest -C Full      and the full tier
#   ctest -C Soak      and the soak tier
#   ctest -L k_norm_rope -L cpu:warp64        labels: platform, kernel, tier, machine
#
# JUnit files, one per test, go to <build folder>/junit.
function(kvr_discover_tests target)
  set(file "${CMAKE_CURRENT_BINARY_DIR}/${target}.ctest.cmake")
  add_custom_command(TARGET ${target} POST_BUILD
    COMMAND ${target} --kvr-ctest "${file}" --kvr-junit "${PROJECT_BINARY_DIR}/junit"
    COMMENT "Listing the tests of ${target}" VERBATIM)
  set(include_file "${CMAKE_CURRENT_BINARY_DIR}/${target}.include.cmake")
  file(WRITE "${include_file}" "if(EXISTS \"${file}\")
  include(\"${file}\")
else()
  add_test(${target}_NOT_BUILT \"${CMAKE_COMMAND}\" -E false)
endif()
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${include_file}")
endfunction()
