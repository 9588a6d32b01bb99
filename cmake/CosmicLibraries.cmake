# What others link: libcosmictagger for C++, shared and static, and libcosmictagger_c for C, with the
# files by which CMake and pkg-config find them once they are installed. docs/library.md is for users.

# cosmic_closure(<layers-out> <external-out> <library>...)
# The libraries of folders that these ones need, themselves included, and what they need from outside.
function(cosmic_closure layers_out external_out)
  set(waiting ${ARGN})
  set(layers)
  set(external)
  while(waiting)
    list(POP_FRONT waiting name)
    string(REGEX REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1" name "${name}")
    if(TARGET ${name})
      get_target_property(aliased ${name} ALIASED_TARGET)
      if(aliased)
        set(name ${aliased})
      endif()
    endif()
    if(name STREQUAL "cosmic_build_options" OR name IN_LIST layers OR name IN_LIST external)
      continue()
    elseif(name MATCHES "^cosmic_")
      list(APPEND layers ${name})
      get_target_property(needed ${name} INTERFACE_LINK_LIBRARIES)
      if(needed)
        list(APPEND waiting ${needed})
      endif()
    else()
      list(APPEND external ${name})
    endif()
  endwhile()
  set(${layers_out} ${layers} PARENT_SCOPE)
  set(${external_out} ${external} PARENT_SCOPE)
endfunction()

# cosmic_included_headers(<out> <header>...)
# The headers of src/ that these ones include, directly or not, as paths from src/.
function(cosmic_included_headers out)
  set(waiting ${ARGN})
  set(found)
  while(waiting)
    list(POP_FRONT waiting file)
    file(STRINGS ${file} lines REGEX "^#include \"")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^#include \"([^\"]*)\".*$" "\\1" header "${line}")
      if(NOT header IN_LIST found)
        list(APPEND found ${header})
        list(APPEND waiting ${PROJECT_SOURCE_DIR}/src/${header})
      endif()
    endforeach()
  endwhile()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

set(COSMIC_SESSION_INCLUDE ${CMAKE_INSTALL_INCLUDEDIR}/cosmictagger/session)

# Both libraries for C++ show the same headers: those of the tagger, and those of the session.
function(cosmic_library_for_cpp target)
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME cosmictagger LINKER_LANGUAGE CXX
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}> $<INSTALL_INTERFACE:${COSMIC_SESSION_INCLUDE}>)
endfunction()

cosmic_closure(layers external cosmic_api cosmic_train cosmic_session cosmic_data_idx)
list(TRANSFORM layers REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
# Headers alone: nothing to link.
list(REMOVE_ITEM external nlohmann_json::nlohmann_json)
if(cuda IN_LIST COSMIC_TARGETS_ON)
  # CMake links it by itself where it sees sources in CUDA; here it sees their objects.
  find_package(CUDAToolkit REQUIRED)
  list(APPEND external CUDA::cudart_static)
  set(COSMIC_FIND_CUDA "find_dependency(CUDAToolkit)")
endif()

add_library(cosmictagger_shared SHARED ${objects})
target_link_libraries(cosmictagger_shared PRIVATE
  ${external} $<BUILD_INTERFACE:cosmic_build_options>)
cosmic_library_for_cpp(cosmictagger_shared)
set_target_properties(cosmictagger_shared PROPERTIES EXPORT_NAME cosmictagger)
add_library(cosmictagger::cosmictagger ALIAS cosmictagger_shared)

add_library(cosmictagger_static STATIC ${objects})
target_link_libraries(cosmictagger_static PRIVATE
  ${external} $<BUILD_INTERFACE:cosmic_build_options>)
cosmic_library_for_cpp(cosmictagger_static)
set_target_properties(cosmictagger_static PROPERTIES EXPORT_NAME static)
add_library(cosmictagger::static ALIAS cosmictagger_static)

# Of the rest, only what tagging needs is in it, and nobody sees it.
set(symbols ${PROJECT_SOURCE_DIR}/src/api/exported_symbols.txt)
add_library(cosmictagger_c SHARED $<TARGET_OBJECTS:cosmic_api>)
cosmic_closure(api_layers api_external cosmic_api)
target_link_libraries(cosmictagger_c PRIVATE
  ${api_layers} ${api_external} $<BUILD_INTERFACE:cosmic_build_options>)
target_link_options(cosmictagger_c PRIVATE LINKER:--version-script=${symbols} LINKER:--gc-sections
  LINKER:--no-undefined)
set_target_properties(cosmictagger_c PROPERTIES
  LINKER_LANGUAGE CXX LINK_DEPENDS ${symbols} EXPORT_NAME c
  VERSION 1.${PROJECT_VERSION_MINOR}.${PROJECT_VERSION_PATCH} SOVERSION 1)
target_include_directories(cosmictagger_c INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
add_library(cosmictagger::c ALIAS cosmictagger_c)

set_target_properties(cosmictagger_shared cosmictagger_static cosmictagger_c PROPERTIES
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib
  ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

include(CMakePackageConfigHelpers)
set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/CosmicTagger)
configure_package_config_file(${PROJECT_SOURCE_DIR}/packaging/CosmicTaggerConfig.cmake.in
  ${PROJECT_BINARY_DIR}/packaging/CosmicTaggerConfig.cmake INSTALL_DESTINATION ${config_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/packaging/CosmicTaggerConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
# From the file itself, so that the prefix may move.
file(RELATIVE_PATH COSMIC_PREFIX_FROM_PKGCONFIG
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
foreach(name IN ITEMS cosmictagger cosmictagger-c)
  configure_file(${PROJECT_SOURCE_DIR}/packaging/${name}.pc.in
    ${PROJECT_BINARY_DIR}/packaging/${name}.pc @ONLY)
endforeach()

install(TARGETS cosmictagger_shared cosmictagger_c EXPORT CosmicTaggerTargets
  LIBRARY COMPONENT libraries NAMELINK_COMPONENT development)
install(TARGETS cosmictagger_static EXPORT CosmicTaggerStaticTargets
  ARCHIVE COMPONENT development)
foreach(set IN ITEMS CosmicTaggerTargets CosmicTaggerStaticTargets)
  install(EXPORT ${set} NAMESPACE cosmictagger:: DESTINATION ${config_folder} COMPONENT development)
endforeach()
install(FILES
  ${PROJECT_BINARY_DIR}/packaging/CosmicTaggerConfig.cmake
  ${PROJECT_BINARY_DIR}/packaging/CosmicTaggerConfigVersion.cmake
  DESTINATION ${config_folder} COMPONENT development)
install(FILES
  ${PROJECT_BINARY_DIR}/packaging/cosmictagger.pc
  ${PROJECT_BINARY_DIR}/packaging/cosmictagger-c.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/cosmictagger
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
cosmic_included_headers(headers ${PROJECT_SOURCE_DIR}/include/cosmictagger/session.hpp)
foreach(header IN LISTS headers)
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${PROJECT_SOURCE_DIR}/src/${header}
    DESTINATION ${COSMIC_SESSION_INCLUDE}/${folder} COMPONENT development)
endforeach()
