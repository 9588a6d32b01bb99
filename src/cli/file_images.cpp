#include "cli/file_images.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/error.hpp"
#include "data/larcv/event_file.hpp"
#include "data/larcv/predictions.hpp"

namespace cosmic::cli {
namespace {

std::vector<data::larcv::ProductName> products_of(const std::filesystem::path& file) {
  try {
    data::larcv::ReadWarnings warnings;
    return data::larcv::EventFile(file, warnings).products();
  } catch (const Error&) {
    return {};  // whoever reads its events says why
  }
}

}  // namespace

std::optional<std::string> only_other_images(const std::filesystem::path& file,
                                             const config::DataConfig& data) {
  std::vector<std::string> producers;
  const auto& predicted = data::larcv::prediction_products();
  for (const data::larcv::ProductName& product : products_of(file)) {
    if (product.type != data::larcv::kSparse2d || product.producer == data.label_producer ||
        std::find(predicted.begin(), predicted.end(), product) != predicted.end()) {
      continue;
    }
    if (product.producer == data.image_producer) {
      return std::nullopt;
    }
    producers.push_back(product.producer);
  }
  COSMIC_REQUIRE(UserError, producers.size() <= 1,
                 fmt::format("{}: has no images '{}', which the weights were trained on (it has "
                             "'{}', and which of them hold charge is not known); name one with "
                             "data.image_producer=",
                             file.string(), data.image_producer, fmt::join(producers, "', '")));
  return producers.empty() ? std::nullopt : std::optional(producers.front());
}

}  // namespace cosmic::cli
