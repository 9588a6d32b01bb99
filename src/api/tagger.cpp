// <cosmictagger/tagger.hpp>: the tagger for C++.
#include "cosmictagger/tagger.hpp"

#include <new>

#include "api/shared_tagger.hpp"
#include "core/config.hpp"
#include "core/error.hpp"
#include "core/process_memory.hpp"

namespace cosmictagger {
namespace {

/// Calls `work`; whatever it throws becomes an Error of the public kind.
template <class Work>
auto translated(const Work& work) {
  try {
    return work();
  } catch (const cosmic::HostMemoryError& error) {
    throw Error(Fault::memory, error.what());
  } catch (const cosmic::Error& error) {
    throw Error(static_cast<Fault>(cosmic::exit_status(error)), error.what());
  } catch (const std::bad_alloc&) {
    throw Error(Fault::memory,
                "there is not enough memory (the network and its images need more than this "
                "process gets); give fewer events_at_a_time, or smaller images");
  } catch (const std::exception& error) {
    throw Error(Fault::internal, error.what());
  }
}

}  // namespace

class Tagger::Implementation {
 public:
  explicit Implementation(const TaggerOptions& options)
      : tagger_({options.weights, options.threads, options.events_at_a_time, options.rows,
                 options.columns, options.settings}) {}

  std::vector<EventTags> tag(std::span<const Event> events) {
    std::vector<EventTags> results(events.size());
    std::vector<cosmic::api::GivenPixels> pixels;
    std::vector<cosmic::api::WantedTags> wanted;
    for (std::size_t event = 0; event < events.size(); ++event) {
      for (std::size_t plane = 0; plane < kPlanes; ++plane) {
        const PlanePixels& given = events[event][plane];
        PlaneTags& result = results[event][plane];
        result.tag.resize(given.charges.size());
        result.cosmic.resize(given.charges.size());
        result.neutrino.resize(given.charges.size());
        pixels.push_back({given.rows, given.columns, given.charges});
        wanted.push_back({result.tag, result.cosmic, result.neutrino});
      }
    }
    tagger_.tag(pixels, wanted);
    return results;
  }

  cosmic::api::SharedTagger tagger_;
};

Tagger::Tagger(const TaggerOptions& options)
    : implementation_(translated([&] { return std::make_unique<Implementation>(options); })) {}
Tagger::~Tagger() = default;
Tagger::Tagger(Tagger&&) noexcept = default;
Tagger& Tagger::operator=(Tagger&&) noexcept = default;

EventTags Tagger::tag(const Event& event) {
  return std::move(tag(std::span(&event, 1)).front());
}

std::vector<EventTags> Tagger::tag(std::span<const Event> events) {
  return translated([&] { return implementation_->tag(events); });
}

void Tagger::tag(std::span<const float> charges, std::span<std::uint8_t> tags,
                 std::span<float> cosmic, std::span<float> neutrino) {
  translated([&] { implementation_->tagger_.tag(charges, {tags, cosmic, neutrino}); });
}

int Tagger::threads() const {
  return implementation_->tagger_.tagger().threads();
}

std::int64_t Tagger::memory_bytes() const {
  return implementation_->tagger_.tagger().memory_bytes();
}

std::uint32_t Tagger::rows() const {
  return static_cast<std::uint32_t>(implementation_->tagger_.tagger().grid().rows());
}

std::uint32_t Tagger::columns() const {
  return static_cast<std::uint32_t>(implementation_->tagger_.tagger().grid().columns());
}

std::string Tagger::weights() const {
  return implementation_->tagger_.tagger().network().weights().string();
}

std::int64_t Tagger::step() const {
  return implementation_->tagger_.tagger().network().step();
}

const std::vector<std::string>& Tagger::notes() const {
  return implementation_->tagger_.notes();
}

std::vector<std::string> Tagger::oddities() const {
  return translated([&] { return implementation_->tagger_.oddities(); });
}

std::string version() {
  return std::string(cosmic::version) + " (" + std::string(cosmic::revision) + ")";
}

}  // namespace cosmictagger
