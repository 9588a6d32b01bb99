# Who may use whom. A folder of src/ may link and include the folders listed on its line, itself,
# and nothing else. cosmic_add_library checks the linking; the CTest `layers` checks the #include
# lines against the same table. Nested layers (target/cpu) are layers of their own, so two targets
# cannot see each other. A later folder is one more line.

# cosmic_layer(<folder> [MAY_USE <folder>...])
macro(cosmic_layer layer)
  cmake_parse_arguments(cosmic_layer "" "" "MAY_USE" ${ARGN})
  list(APPEND COSMIC_LAYERS ${layer})
  set(COSMIC_MAY_USE_${layer} ${cosmic_layer_MAY_USE})
endmacro()

set(COSMIC_LAYERS)
cosmic_layer(core)
cosmic_layer(core/yaml        MAY_USE core)
cosmic_layer(data             MAY_USE core)
cosmic_layer(data/larcv       MAY_USE core data)
cosmic_layer(data/detector    MAY_USE core data)
cosmic_layer(data/loader      MAY_USE core data)
cosmic_layer(data/idx         MAY_USE core data)
cosmic_layer(picture          MAY_USE core data)
# Processes that work together; what carries their messages is a folder of its own.
cosmic_layer(comm             MAY_USE core)
cosmic_layer(comm/mpi         MAY_USE core comm)
cosmic_layer(graph            MAY_USE core)
cosmic_layer(model            MAY_USE core graph)
cosmic_layer(compile          MAY_USE core graph)
cosmic_layer(compile/artifact MAY_USE core graph compile)
cosmic_layer(machine          MAY_USE core core/yaml graph compile)
cosmic_layer(target           MAY_USE core comm graph compile machine)
cosmic_layer(target/reference MAY_USE core graph compile target)
# Whether what a target computes is right: every stored value against the reference.
cosmic_layer(target/check     MAY_USE core graph compile target target/reference)
cosmic_layer(target/cpu       MAY_USE core comm graph compile target)
cosmic_layer(target/cuda      MAY_USE core comm graph compile target)
# Machines that are not here: the host computes, a description says how they would do.
cosmic_layer(target/modelled  MAY_USE core graph compile machine target target/cpu)
cosmic_layer(target/ipu       MAY_USE core graph compile machine target target/modelled)
cosmic_layer(target/hpu       MAY_USE core graph compile machine target target/modelled)
cosmic_layer(target/rdu       MAY_USE core graph compile machine target target/modelled)
cosmic_layer(target/roofline  MAY_USE core graph machine)
# registry.hpp and registry.cpp: the one place that names the targets.
cosmic_layer(target/registry  MAY_USE core machine target target/reference target/cpu target/cuda target/ipu target/hpu target/rdu target/roofline)
cosmic_layer(session          MAY_USE core comm core/yaml graph model compile compile/artifact machine target target/registry)
cosmic_layer(checkpoint       MAY_USE core graph model compile target session)
cosmic_layer(checkpoint/onnx  MAY_USE core graph model compile session)
cosmic_layer(config           MAY_USE core core/yaml model)
cosmic_layer(output           MAY_USE core picture)
cosmic_layer(monitor          MAY_USE core)
cosmic_layer(report/page      MAY_USE core picture)
cosmic_layer(report/profile   MAY_USE core picture graph compile target session report/page)
cosmic_layer(report/prediction MAY_USE core picture graph machine report/page)
cosmic_layer(report/machines  MAY_USE core machine report/page)
# What training, inference and the commands share, so that none of them needs another.
cosmic_layer(run              MAY_USE core comm data data/larcv data/detector data/loader graph model compile compile/artifact machine target target/check target/registry session checkpoint checkpoint/onnx config output monitor report/profile report/prediction report/machines)
cosmic_layer(train            MAY_USE core comm data graph model machine session checkpoint config output report/profile run)
cosmic_layer(infer            MAY_USE core comm data data/larcv data/loader graph model machine session checkpoint config output report/profile run)
# Events in memory: what the command, the libraries and a server tag with.
cosmic_layer(tagger           MAY_USE core data data/loader graph model session checkpoint config output run infer target/registry)
cosmic_layer(report/comparison MAY_USE core config output report/page report/evaluation infer data)
# The public interfaces, whose headers are in include/.
cosmic_layer(api              MAY_USE core data config output run infer tagger)
cosmic_layer(report/evaluation MAY_USE core comm data data/larcv data/loader picture config output report/page run infer)
# Events and runs in a browser.
cosmic_layer(view             MAY_USE core data data/larcv picture output monitor report/page report/evaluation)
# Projects for other people's software, written from the settings of a run.
cosmic_layer(port             MAY_USE core data graph model compile machine session checkpoint config run)
# Events that others send to be tagged: models, batches and what a request is; each protocol is a folder.
cosmic_layer(serve            MAY_USE core data data/larcv model session checkpoint config output run infer)
cosmic_layer(serve/http       MAY_USE core data infer output serve)
cosmic_layer(serve/grpc       MAY_USE core data infer output serve)
# For who asks a server: it needs nothing of what a server is made of.
cosmic_layer(serve/client     MAY_USE core data)
cosmic_layer(serve/remote     MAY_USE core data config output run infer serve/client)
# Everything except the targets themselves, which even the program reaches through the registry.
cosmic_layer(cli              MAY_USE core comm comm/mpi data data/larcv data/detector data/loader data/idx picture graph model compile compile/artifact machine target target/check target/registry session checkpoint checkpoint/onnx config output monitor report/page report/prediction report/machines report/evaluation run train infer tagger port report/comparison serve serve/http serve/grpc serve/client serve/remote view)
# Not of src but of tools: what was published about machines, against what we predict.
cosmic_layer(validation       MAY_USE core config graph model compile machine target/registry session run)

# Flags of every library, program and test: warnings, sanitizers. Set in the top CMakeLists.txt.
function(cosmic_set_build_options target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  target_link_libraries(${target} PRIVATE cosmic_build_options)
endfunction()

# cosmic::target_cpu for target/cpu
function(cosmic_target_names out)
  list(TRANSFORM ARGN REPLACE "/" "_")
  list(TRANSFORM ARGN PREPEND "cosmic::")
  set(${out} ${ARGN} PARENT_SCOPE)
endfunction()

# cosmic_add_library(<layer> SOURCES <file>... [USES <layer>...] [EXTERNAL <library>...])
# The library of one folder, as cosmic_<layer> and cosmic::<layer>, '/' written as '_'. External
# libraries are private: none of their headers may appear in a header of ours.
function(cosmic_add_library layer)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;USES;EXTERNAL")
  if(NOT layer IN_LIST COSMIC_LAYERS)
    message(FATAL_ERROR "src/${layer} is not a layer; add its line to cmake/CosmicLayers.cmake")
  endif()
  foreach(dep IN LISTS arg_USES)
    if(NOT dep IN_LIST COSMIC_MAY_USE_${layer})
      message(FATAL_ERROR "src/${layer} may not use src/${dep} (see cmake/CosmicLayers.cmake)")
    endif()
  endforeach()
  string(REPLACE "/" "_" name ${layer})
  add_library(cosmic_${name} ${arg_SOURCES})
  add_library(cosmic::${name} ALIAS cosmic_${name})
  cosmic_target_names(uses ${arg_USES})
  target_link_libraries(cosmic_${name} PUBLIC ${uses} PRIVATE ${arg_EXTERNAL})
  target_include_directories(cosmic_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  cosmic_set_build_options(cosmic_${name})
  # The same objects make the program and the shared libraries.
  set_target_properties(cosmic_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  set_target_properties(cosmic_${name} PROPERTIES
    UNITY_BUILD ${COSMIC_UNITY} UNITY_BUILD_BATCH_SIZE 8)
  if(layer IN_LIST COSMIC_COLD_LAYERS)
    cosmic_optimize_little(cosmic_${name})
  endif()
endfunction()
