# Read by cpack for each kind of package. Debian's have what is ours and name the rest; the tarball has
# everything in one.
if(CPACK_GENERATOR STREQUAL "DEB")
  set(CPACK_COMPONENTS_ALL program libraries development ${CPACK_COMPONENTS_OPTIONAL})
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
else()
  set(CPACK_MONOLITHIC_INSTALL ON)
endif()
