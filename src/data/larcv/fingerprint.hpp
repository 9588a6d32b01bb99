// One text that stands for the content of files. `data check` prints it, checkpoints keep it, and
// reports show it: for the same products of a file they all have the same.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "data/larcv/event_file.hpp"
#include "data/larcv/product_name.hpp"

namespace cosmic::data::larcv {

/// Of the event ids and these products of one file, or of several in this order. The products are
/// of types that this program reads. It depends on every row, and neither on chunks nor on how they
/// are packed. Reads four bytes of each chunk that nobody has read yet; its rows are verified when
/// they are read.
std::string fingerprint_of(std::span<const std::unique_ptr<EventFile>> files,
                           std::span<const ProductName> products);
std::string fingerprint_of(const EventFile& file, std::span<const ProductName> products);

}  // namespace cosmic::data::larcv
