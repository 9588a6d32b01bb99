# What this build has and has not, said at the end of every configure.

function(cosmic_report name is_on detail)
  string(LENGTH "${name}" length)
  math(EXPR padding "16 - ${length}")
  string(REPEAT " " ${padding} spaces)
  if(is_on)
    message(STATUS "  ${name}${spaces}on    ${detail}")
  else()
    message(STATUS "  ${name}${spaces}OFF   ${detail}")
  endif()
endfunction()

function(cosmic_print_summary)
  message(STATUS "")
  message(STATUS "CosmicTagger ${PROJECT_VERSION} (${COSMIC_REVISION}), ${CMAKE_BUILD_TYPE}, "
    "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
  cosmic_report("Highway" TRUE "${hwy_VERSION}, vector kernels of the CPU target")
  cosmic_report("MPI" "${COSMIC_MPI}"
    "COSMIC_MPI, several processes (package libopenmpi-dev or libmpich-dev)")
  cosmic_report("gRPC" "${COSMIC_GRPC}"
    "COSMIC_GRPC, `serve` over gRPC too (packages libgrpc++-dev, libprotobuf-dev, protobuf-compiler-grpc)")
  foreach(name IN LISTS COSMIC_OPTIONAL_TARGETS)
    set(option ${COSMIC_OPTION_OF_${name}})
    cosmic_report("target ${name}" "${${option}}" "${option}, ${COSMIC_ABOUT_${name}}")
  endforeach()
  if(cuda IN_LIST COSMIC_TARGETS_ON)
    cosmic_report("NCCL" "${COSMIC_NCCL_INCLUDE}"
      "nccl.h, GPUs of several processes (package libnccl-dev); its library is loaded when asked for")
  endif()
  cosmic_report("libraries" "${COSMIC_LIBRARIES}" "COSMIC_LIBRARIES, for C and C++")
  cosmic_report("Python" "${COSMIC_PYTHON_FOUND}"
    "COSMIC_PYTHON, `import cosmictagger` (packages python3-dev and pybind11-dev; numpy when it runs)")
  cosmic_report("examples" "${COSMIC_EXAMPLES}" "COSMIC_EXAMPLES")
  cosmic_report("tests" "${COSMIC_TESTS}" "COSMIC_TESTS")
  cosmic_report("benchmarks" "${COSMIC_BENCH}" "COSMIC_BENCH")
  cosmic_report("oneDNN" "${COSMIC_BENCH_ONEDNN}"
    "COSMIC_BENCH_ONEDNN, a peer in the kernel benchmarks only (package libdnnl-dev)")
  cosmic_report("sanitizers" "${COSMIC_SANITIZE}" "COSMIC_SANITIZE ${COSMIC_SANITIZE}")
  cosmic_report("unity" "${COSMIC_UNITY}" "COSMIC_UNITY, several files of a library compiled as one")
  cosmic_report("strict" "${COSMIC_WARNINGS_AS_ERRORS}"
    "COSMIC_WARNINGS_AS_ERRORS, a warning stops the build")
  message(STATUS "")
endfunction()
