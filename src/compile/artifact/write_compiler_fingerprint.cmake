# Writes compiler_fingerprint.cpp: a hash over the names and contents of the compiler's sources.
#
#   cmake -D ROOT=src -D FILES=<list of files below it> -D OUTPUT=<file> -P ...

set(all "")
foreach(file IN LISTS FILES)
  file(SHA256 ${ROOT}/${file} hash)
  string(APPEND all "${file} ${hash}\n")
endforeach()
string(SHA256 fingerprint "${all}")
string(SUBSTRING ${fingerprint} 0 16 fingerprint)
file(WRITE ${OUTPUT}
  "#include \"compile/artifact/compiler_fingerprint.hpp\"\n\n"
  "namespace cosmic::compile::artifact {\n\n"
  "std::string_view compiler_fingerprint() {\n"
  "  return \"${fingerprint}\";\n"
  "}\n\n"
  "}  // namespace cosmic::compile::artifact\n")
