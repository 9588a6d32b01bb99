// The real sample file, which is not part of the sources.
#pragma once

#include <filesystem>

namespace cosmic::data::larcv {

inline const std::filesystem::path kSampleFile = "../shared/data/cosmic_tagging_light.h5";

}  // namespace cosmic::data::larcv

/// First line of a test that needs it.
#define COSMIC_NEEDS_SAMPLE_FILE()                                             \
  do {                                                                         \
    if (!std::filesystem::exists(::cosmic::data::larcv::kSampleFile)) {        \
      GTEST_SKIP() << "needs " << ::cosmic::data::larcv::kSampleFile.string(); \
    }                                                                          \
  } while (false)
