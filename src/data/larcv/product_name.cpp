#include "data/larcv/product_name.hpp"

#include "core/error.hpp"

namespace cosmic::data::larcv {
namespace {

constexpr std::string_view kSuffix = "_group";

}  // namespace

std::string group_name(const ProductName& product) {
  std::string group = product.type + "_" + product.producer + std::string(kSuffix);
  COSMIC_REQUIRE(UserError, parse_group_name(group) == product,
                 "product type '" << product.type << "' and producer '" << product.producer
                                  << "' do not make a group name that can be read back (the type "
                                  << "ends at the first underscore, neither may be empty, hold a "
                                  << "'/' or make a name of more than " << kMaxGroupName
                                  << " bytes); choose another producer");
  return group;
}

std::optional<ProductName> parse_group_name(std::string_view group) {
  const std::size_t type_end = group.find('_');
  if (type_end == std::string_view::npos || !group.ends_with(kSuffix) ||
      group.size() > kMaxGroupName || group.find('/') != std::string_view::npos) {
    return std::nullopt;
  }
  const std::size_t producer_end = group.size() - kSuffix.size();
  if (type_end == 0 || type_end + 1 >= producer_end) {
    return std::nullopt;
  }
  return ProductName{std::string(group.substr(0, type_end)),
                     std::string(group.substr(type_end + 1, producer_end - type_end - 1))};
}

}  // namespace cosmic::data::larcv
