# Optional targets at configure time: one that is on enables its language or says which compiler is
# missing, one that is off needs nothing, and the summary names both. The project here is as small as
# can be, with the modules of the real one.
#
#   cmake -D SCRATCH=build/optional_targets -P optional_targets_test.cmake

cmake_minimum_required(VERSION 3.25)
set(modules ${CMAKE_CURRENT_LIST_DIR}/../../cmake)
file(REMOVE_RECURSE ${SCRATCH})
file(WRITE ${SCRATCH}/project/CMakeLists.txt "
cmake_minimum_required(VERSION 3.25)
project(Toy VERSION 1 LANGUAGES CXX)
include(${modules}/CosmicTargets.cmake)
include(${modules}/CosmicSummary.cmake)
cosmic_target(toy OPTIONAL OFF COMPUTE_MODE TOY LANGUAGES Toylang ABOUT \"a toy\")
cosmic_target(plain OPTIONAL ON ABOUT \"needs nothing\")
cosmic_write_target_list(\${PROJECT_BINARY_DIR}/list.cpp
  ON \${COSMIC_TARGETS_ON} OFF \${COSMIC_TARGETS_OFF})
cosmic_print_summary()
")

set(failures "")

# Configures with the given options; passes if it succeeds or fails as wanted and says all that is
# expected.
function(expect_configure name succeeds options)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -S ${SCRATCH}/project -B ${SCRATCH}/${name} -DCOSMIC_TARGET_CUDA=OFF
      ${options}
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " output "${output}")
  if((succeeds AND NOT status EQUAL 0) OR (NOT succeeds AND status EQUAL 0))
    string(APPEND failures "\n${name}: ended with ${status}: ${output}")
  endif()
  foreach(expected IN LISTS ARGN)
    string(FIND "${output}" "${expected}" position)
    if(position EQUAL -1)
      string(APPEND failures "\n${name}: expected '${expected}' in: ${output}")
    endif()
  endforeach()
  set(failures "${failures}" PARENT_SCOPE)
endfunction()

expect_configure(usual TRUE ""
  "target toy OFF COSMIC_TARGET_TOY, a toy" "target plain on COSMIC_TARGET_PLAIN, needs nothing"
  "target ipu on COSMIC_TARGET_IPU" "target cuda OFF COSMIC_TARGET_CUDA")
expect_configure(few TRUE "-DCOSMIC_TARGET_IPU=OFF;-DCOSMIC_TARGET_PLAIN=OFF"
  "target ipu OFF COSMIC_TARGET_IPU" "target plain OFF COSMIC_TARGET_PLAIN")
expect_configure(missing_language FALSE "-DCOSMIC_TARGET_TOY=ON"
  "target 'toy' needs a compiler of Toylang, and there is none"
  "configure with -DCOSMIC_TARGET_TOY=OFF")

file(READ ${SCRATCH}/few/list.cpp list)
foreach(expected IN ITEMS "reference::registration()," "hpu::registration(),"
    "{\"ipu\", \"IPU\", \"COSMIC_TARGET_IPU\"}," "{\"toy\", \"TOY\", \"COSMIC_TARGET_TOY\"},")
  string(FIND "${list}" "${expected}" position)
  if(position EQUAL -1)
    string(APPEND failures "\nlist: expected '${expected}' in: ${list}")
  endif()
endforeach()
string(FIND "${list}" "target/ipu" position)
if(NOT position EQUAL -1)
  string(APPEND failures "\nlist: it includes a header of a target that is off: ${list}")
endif()

if(failures)
  message(FATAL_ERROR "optional targets do not configure as they should:${failures}")
endif()
