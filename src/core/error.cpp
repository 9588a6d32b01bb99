#include "core/error.hpp"

namespace cosmic {

int exit_status(const Error& error) {
  if (dynamic_cast<const UserError*>(&error) != nullptr) {
    return 2;
  }
  if (dynamic_cast<const DataError*>(&error) != nullptr) {
    return 3;
  }
  if (dynamic_cast<const ShapeError*>(&error) != nullptr) {
    return 4;
  }
  if (dynamic_cast<const TargetError*>(&error) != nullptr) {
    return 5;
  }
  return 70;
}

}  // namespace cosmic
