// What a copy of a file does not have.
#pragma once

#include <string>

namespace cosmic::data::larcv {

struct LeftOut {
  std::string what;  ///< "product '/Data/sparse2d_x_group'"
  std::string why;
};

}  // namespace cosmic::data::larcv
