#include "report/evaluation/neutrino_truth.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace cosmic::report::evaluation {
namespace {

// The name that the reference's files use.
constexpr const char* kNeutrinoProducer = "sbndneutrino";

}  // namespace

std::optional<TrueNeutrino> NeutrinoTruth::of(std::int64_t entry) {
  const auto file = std::find_if(files_.begin(), files_.end(),
                                 [&](const data::SourcePart& one) { return entry < one.end; });
  COSMIC_ASSERT(file != files_.end());
  if (!open_ || open_->name() != file->name) {
    open(file->name);
  }
  if (!reader_) {
    return std::nullopt;
  }
  reader_->read(entry - file->begin, particles_);
  return particles_.empty() ? std::nullopt : true_neutrino(particles_.front());
}

void NeutrinoTruth::open(const std::string& name) {
  reader_.reset();
  data::larcv::ReadWarnings opening;  // the source of the events counted them
  open_.emplace(name, opening);
  if (open_->has({"particle", kNeutrinoProducer})) {
    reader_.emplace(*open_, kNeutrinoProducer, warnings_);
  }
}

}  // namespace cosmic::report::evaluation
