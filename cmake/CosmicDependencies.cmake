# Libraries from outside, all from the system's packages; nothing is downloaded. Each is looked for
# only if something that is switched on needs it.

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(hwy REQUIRED IMPORTED_TARGET libhwy)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(yaml-cpp REQUIRED)
pkg_search_module(hdf5 REQUIRED IMPORTED_TARGET hdf5-serial hdf5)
pkg_check_modules(deflate REQUIRED IMPORTED_TARGET libdeflate)

# What `cosmictagger serve` and `cosmictagger view` speak. The library's own flags say how it was built, and must be ours.
pkg_check_modules(httplib REQUIRED IMPORTED_TARGET cpp-httplib)
find_package(OpenSSL REQUIRED)

# The same protocol over gRPC, where its packages are installed.
pkg_check_modules(grpcpp QUIET IMPORTED_TARGET grpc++)
pkg_check_modules(protobuf QUIET IMPORTED_TARGET protobuf)
find_program(COSMIC_PROTOC protoc)
find_program(COSMIC_GRPC_PLUGIN grpc_cpp_plugin)
mark_as_advanced(COSMIC_PROTOC COSMIC_GRPC_PLUGIN)
cmake_dependent_option(COSMIC_GRPC "Serve over gRPC beside HTTP" ON
  "grpcpp_FOUND;protobuf_FOUND;COSMIC_PROTOC;COSMIC_GRPC_PLUGIN" OFF)

# Any MPI will do, by its C interface.
include(CheckLanguage)
check_language(C)
if(CMAKE_C_COMPILER)
  enable_language(C)
  find_package(MPI COMPONENTS C QUIET)
endif()
cmake_dependent_option(COSMIC_MPI "Train and tag in several processes, over MPI" ON "MPI_C_FOUND" OFF)

if(COSMIC_TESTS)
  find_package(GTest REQUIRED)
endif()

if(COSMIC_BENCH)
  find_package(benchmark REQUIRED)
  # Not by find_package: Debian's package file of oneDNN asks for an OpenCL that nothing here needs.
  find_library(COSMIC_ONEDNN_LIBRARY dnnl)
  find_path(COSMIC_ONEDNN_INCLUDE oneapi/dnnl/dnnl.hpp)
  mark_as_advanced(COSMIC_ONEDNN_LIBRARY COSMIC_ONEDNN_INCLUDE)
endif()
cmake_dependent_option(COSMIC_BENCH_ONEDNN "Time oneDNN's convolutions beside ours" ON
  "COSMIC_BENCH;COSMIC_ONEDNN_LIBRARY;COSMIC_ONEDNN_INCLUDE" OFF)
if(COSMIC_BENCH_ONEDNN)
  # What oneDNN itself runs on; the benchmark gives it and our kernels the same threads.
  find_package(OpenMP REQUIRED COMPONENTS CXX)
  add_library(cosmic_onednn INTERFACE)
  target_link_libraries(cosmic_onednn INTERFACE ${COSMIC_ONEDNN_LIBRARY})
  target_include_directories(cosmic_onednn SYSTEM INTERFACE ${COSMIC_ONEDNN_INCLUDE})
endif()

# The module for Python needs its headers and pybind11. The system's Python is preferred to others
# that a user has; -DPython_EXECUTABLE names another.
option(COSMIC_PYTHON "Build the module for Python, if what it needs is there" ${PROJECT_IS_TOP_LEVEL})
set(COSMIC_PYTHON_FOUND OFF)
if(COSMIC_PYTHON AND NOT COSMIC_SANITIZE)
  if(NOT DEFINED Python_EXECUTABLE AND EXISTS /usr/bin/python3)
    set(Python_EXECUTABLE /usr/bin/python3)
  endif()
  find_package(Python COMPONENTS Interpreter Development.Module QUIET)
  find_package(pybind11 QUIET)
  if(Python_Development.Module_FOUND AND pybind11_FOUND)
    set(COSMIC_PYTHON_FOUND ON)
  endif()
endif()
