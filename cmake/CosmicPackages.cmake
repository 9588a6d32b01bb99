# `cpack` makes Debian packages and a tarball that runs from any folder. What is for packages alone is
# switched on by COSMIC_BUNDLE, which the preset `package` sets. docs/packages.md is for users.

option(COSMIC_BUNDLE "Libraries from outside are installed too, and found beside the program" OFF)

set(CPACK_PACKAGE_NAME cosmictagger)
set(CPACK_PACKAGE_VENDOR "CosmicTagger")
set(CPACK_PACKAGE_CONTACT "the maintainers of CosmicTagger <maintainers@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_FILE_NAME cosmictagger-${PROJECT_VERSION}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/packaging/cpack_generators.cmake)

# One package for each component: who tags needs no compiler's files.
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME cosmictagger)
set(CPACK_DEBIAN_LIBRARIES_PACKAGE_NAME
  libcosmictagger${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(CPACK_DEBIAN_LIBRARIES_PACKAGE_GENERATE_SHLIBS ON)
# The networks in the box are in the package of the program.
set(CPACK_DEBIAN_LIBRARIES_PACKAGE_RECOMMENDS cosmictagger)
set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS cosmictagger)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libcosmictagger-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "${CPACK_DEBIAN_LIBRARIES_PACKAGE_NAME} (= ${PROJECT_VERSION})")
# For who links the archive.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS
  "libhwy-dev, libhdf5-dev, libdeflate-dev, libyaml-cpp-dev, libfmt-dev, pkg-config")
set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-cosmictagger)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
  "python3 (>= ${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}), python3-numpy")

set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "${PROJECT_DESCRIPTION}: the program")
set(CPACK_COMPONENT_LIBRARIES_DESCRIPTION "${PROJECT_DESCRIPTION}: libraries for C and C++")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
  "${PROJECT_DESCRIPTION}: headers and archives of the libraries")
set(CPACK_COMPONENT_PYTHON_DESCRIPTION "${PROJECT_DESCRIPTION}: the module for Python")

if(COSMIC_BUNDLE)
  set(bundled cosmictagger cosmictagger_shared cosmictagger_c)
  set_target_properties(cosmictagger PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  set_target_properties(cosmictagger_shared cosmictagger_c PROPERTIES INSTALL_RPATH "$ORIGIN")
  if(COSMIC_PYTHON_FOUND)
    file(RELATIVE_PATH from_module /${COSMIC_PYTHON_INSTALL_DIR}/cosmictagger /${CMAKE_INSTALL_LIBDIR})
    set_target_properties(cosmictagger_python PROPERTIES INSTALL_RPATH "$ORIGIN/${from_module}")
    list(APPEND bundled cosmictagger_python)
  endif()
  foreach(target IN LISTS bundled)
    # The old kind of path, which also holds for what these libraries need themselves.
    target_link_options(${target} PRIVATE LINKER:--disable-new-dtags)
  endforeach()
  # The C library and that of C++ are the system's: in one process there can be one of each.
  install(RUNTIME_DEPENDENCY_SET cosmic_outside
    PRE_EXCLUDE_REGEXES "^lib(c|m|dl|rt|pthread|resolv|stdc\\+\\+|gcc_s)\\.so" "^ld-linux"
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT bundled)
endif()

if(COSMIC_PYTHON_FOUND)
  set(CPACK_COMPONENTS_OPTIONAL python)
endif()
include(CPack)
