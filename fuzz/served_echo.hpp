// What front ends and the tensor decoder are fuzzed with: a service whose model says the same about
// every pixel, so that whatever goes wrong is not the network's doing, and nothing takes time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "serve/inference_service.hpp"

namespace cosmic::serve {

/// Images of 8 x 16 pixels, which the network sees halved once.
inline constexpr std::uint64_t kRows = 8;
inline constexpr std::uint64_t kColumns = 16;

class EchoRunner final : public BatchRunner {
 public:
  const std::vector<std::int64_t>& batch_sizes() const override { return sizes_; }

  BatchTimes run(std::span<EventWork* const> events, std::span<const Wanted> wanted,
                 std::int64_t /*size*/) override {
    constexpr std::size_t kSeen = 3 * (kRows / 2) * (kColumns / 2);
    for (std::size_t i = 0; i < events.size(); ++i) {
      EventWork& work = *events[i];
      if (wanted[i].pixels) {
        for (std::size_t plane = 0; plane < work.image.size(); ++plane) {
          for (data::SparseImage* const image :
               {&work.pixels.tag, &work.pixels.cosmic, &work.pixels.neutrino}) {
            (*image)[plane] = work.image[plane];
            std::fill((*image)[plane].values.begin(), (*image)[plane].values.end(), 1.0F);
          }
        }
      }
      work.tag.assign(wanted[i].tag ? kSeen : 0, 1);
      work.cosmic.assign(wanted[i].cosmic ? kSeen : 0, 1);
      work.neutrino.assign(wanted[i].neutrino ? kSeen : 0, 0);
      work.logits.assign(wanted[i].logits ? 3 * kSeen : 0, 0);
    }
    return {};
  }

 private:
  std::vector<std::int64_t> sizes_{1, 4};
};

class ServedEcho {
 public:
  InferenceService& service() { return service_; }
  const Limits& limits() const { return service_.limits(); }

 private:
  static Limits small_limits() {
    Limits limits;
    limits.body_bytes = 1 << 20;
    limits.answer_bytes = 1 << 20;
    limits.pixels = 1 << 14;
    limits.events = 16;
    limits.json_numbers = 4096;
    return limits;
  }

  ComputeSlots slots_{1};
  AccessLog log_{{}, 0, [](const std::string&) {}};
  ModelRepository models_{
      [] {
        return std::vector<ModelSource>{{"m", 1, {}}, {"m", 2, {}}};
      },
      [this](const ModelSource& source) {
        ServingOptions options;
        options.grid = {
            0, {kColumns, kRows}, {static_cast<double>(kColumns), static_cast<double>(kRows)}, {}};
        options.batch_sizes = {1, 4};
        data::DenseOptions image;
        image.downsample = 1;
        return std::make_shared<const ServedModel>(
            ModelIdentity{source.name, source.version, "0123456789abcdef", 1, "echo",
                          Provenance::measured, "sbndwire", image},
            options, slots_, [](int) { return std::make_unique<EchoRunner>(); });
      }};
  InferenceService service_{models_, log_, {.limits = small_limits()}};
};

/// A finding: the fuzzer keeps the input.
[[noreturn]] inline void found(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::abort();
}

/// Nothing that a client is told may speak of the inside; what it sent may be said back to it.
inline void require_no_inside(std::string_view said, std::string_view sent) {
  for (const char* const inside :
       {"/proc/self/fd", "could not answer this", "std::", "bad_alloc"}) {
    if (said.find(inside) != std::string_view::npos &&
        sent.find(inside) == std::string_view::npos) {
      found("an answer speaks of the inside: " + std::string(said));
    }
  }
}

}  // namespace cosmic::serve
