// <cosmictagger/cosmictagger.h>: the tagger for C. Every function that can throw is wrapped, so
// that nothing but a status and a text leaves it.
#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "api/shared_tagger.hpp"
#include "core/config.hpp"
#include "core/error.hpp"
#include "core/process_memory.hpp"
#include "cosmictagger/cosmictagger.h"

struct cosmictagger_tagger {
  explicit cosmictagger_tagger(const cosmic::api::SharedTaggerOptions& options) : tagger(options) {
    const cosmic::tagger::EventTagger& network = tagger.tagger();
    description = network.network().weights().string() + ", step " +
                  std::to_string(network.network().step()) + ": images of " +
                  std::to_string(network.grid().rows()) + " rows and " +
                  std::to_string(network.grid().columns()) + " columns, " +
                  std::to_string(network.events_at_a_time()) +
                  " at a time, threads: " + std::to_string(network.threads());
    for (const std::string& note : tagger.notes()) {
      description += "\n" + note;
    }
  }

  cosmic::api::SharedTagger tagger;
  std::string description;
};

namespace {

using cosmic::UserError;

/// As much of the text as the buffer holds.
void write_text(std::string_view text, char* error, std::size_t error_size) {
  if (error == nullptr || error_size == 0) {
    return;
  }
  const std::size_t length = std::min(text.size(), error_size - 1);
  std::memcpy(error, text.data(), length);
  error[length] = '\0';
}

template <class Work>
cosmictagger_status guarded(char* error, std::size_t error_size, const Work& work) noexcept {
  write_text("", error, error_size);
  try {
    work();
    return COSMICTAGGER_OK;
  } catch (const cosmic::HostMemoryError& thrown) {
    write_text(thrown.what(), error, error_size);
    return COSMICTAGGER_MEMORY_ERROR;
  } catch (const cosmic::Error& thrown) {
    write_text(thrown.what(), error, error_size);
    return static_cast<cosmictagger_status>(cosmic::exit_status(thrown));
  } catch (const std::bad_alloc&) {
    write_text(
        "there is not enough memory (the network and its images need more than this process "
        "gets); give fewer events_at_a_time, or smaller images",
        error, error_size);
    return COSMICTAGGER_MEMORY_ERROR;
  } catch (const std::exception& thrown) {
    write_text(thrown.what(), error, error_size);
    return COSMICTAGGER_INTERNAL_ERROR;
  } catch (...) {
    write_text("something was thrown that is no error (a bug in this library); please report it",
               error, error_size);
    return COSMICTAGGER_INTERNAL_ERROR;
  }
}

void require_pointer(const void* pointer, std::string_view name) {
  COSMIC_REQUIRE(UserError, pointer != nullptr,
                 name << " is NULL (the function cannot do without it); give its address");
}

cosmic::api::SharedTaggerOptions options_of(const cosmictagger_options* options) {
  require_pointer(options, "options");
  COSMIC_REQUIRE(UserError, options->size == sizeof(cosmictagger_options),
                 "options.size is " << options->size << " where " << sizeof(cosmictagger_options)
                                    << " is expected (the options were not filled, or are those "
                                       "of another version); call cosmictagger_default_options");
  cosmic::api::SharedTaggerOptions result;
  result.weights = options->weights == nullptr ? "" : options->weights;
  result.threads = options->threads;
  result.events_at_a_time = options->events_at_a_time;
  result.rows = options->rows;
  result.columns = options->columns;
  for (const char* const* setting = options->settings; setting != nullptr && *setting != nullptr;
       ++setting) {
    result.settings.emplace_back(*setting);
  }
  return result;
}

cosmic::api::GivenPixels given(const cosmictagger_pixels& pixels) {
  if (pixels.count == 0) {
    return {};
  }
  require_pointer(pixels.rows, "pixels.rows");
  require_pointer(pixels.columns, "pixels.columns");
  require_pointer(pixels.charges, "pixels.charges");
  return {
      {pixels.rows, pixels.count}, {pixels.columns, pixels.count}, {pixels.charges, pixels.count}};
}

/// Nothing where nobody wants it.
template <class Element>
std::span<Element> room(Element* elements, std::size_t count) {
  return {elements, elements == nullptr ? 0 : count};
}

}  // namespace

int cosmictagger_abi(void) {
  return COSMICTAGGER_ABI;
}

const char* cosmictagger_version(void) {
  static const std::string text =
      std::string(cosmic::version) + " (" + std::string(cosmic::revision) + ")";
  return text.c_str();
}

void cosmictagger_default_options(cosmictagger_options* options, size_t size) {
  const cosmictagger_options defaults{
      sizeof(cosmictagger_options), nullptr, 1, 1, 1280, 2048, nullptr};
  std::memcpy(options, &defaults, std::min(size, sizeof defaults));
}

cosmictagger_status cosmictagger_load(const cosmictagger_options* options,
                                      cosmictagger_tagger** tagger, char* error,
                                      size_t error_size) {
  return guarded(error, error_size, [&] {
    require_pointer(tagger, "tagger");
    *tagger = nullptr;
    *tagger = new cosmictagger_tagger(options_of(options));
  });
}

void cosmictagger_free(cosmictagger_tagger* tagger) {
  delete tagger;
}

int cosmictagger_threads(const cosmictagger_tagger* tagger) {
  return tagger->tagger.tagger().threads();
}

int64_t cosmictagger_memory_bytes(const cosmictagger_tagger* tagger) {
  return tagger->tagger.tagger().memory_bytes();
}

const char* cosmictagger_description(const cosmictagger_tagger* tagger) {
  return tagger->description.c_str();
}

cosmictagger_status cosmictagger_tag_events(cosmictagger_tagger* tagger,
                                            const cosmictagger_pixels* pixels,
                                            const cosmictagger_tags* tags, size_t events,
                                            char* error, size_t error_size) {
  return guarded(error, error_size, [&] {
    require_pointer(tagger, "tagger");
    if (events == 0) {
      return;
    }
    require_pointer(pixels, "pixels");
    require_pointer(tags, "tags");
    std::vector<cosmic::api::GivenPixels> planes;
    std::vector<cosmic::api::WantedTags> wanted;
    for (std::size_t i = 0; i < events * COSMICTAGGER_PLANES; ++i) {
      planes.push_back(given(pixels[i]));
      wanted.push_back({room(tags[i].tag, pixels[i].count), room(tags[i].cosmic, pixels[i].count),
                        room(tags[i].neutrino, pixels[i].count)});
    }
    tagger->tagger.tag(planes, wanted);
  });
}

cosmictagger_status cosmictagger_tag_images(cosmictagger_tagger* tagger, const float* charges,
                                            size_t events, uint8_t* tags, float* cosmic,
                                            float* neutrino, char* error, size_t error_size) {
  return guarded(error, error_size, [&] {
    require_pointer(tagger, "tagger");
    if (events == 0) {
      return;
    }
    require_pointer(charges, "charges");
    const auto& grid = tagger->tagger.tagger().grid();
    const std::size_t count = events * COSMICTAGGER_PLANES * grid.rows() * grid.columns();
    tagger->tagger.tag(std::span(charges, count),
                       {room(tags, count), room(cosmic, count), room(neutrino, count)});
  });
}

cosmictagger_status cosmictagger_oddities(cosmictagger_tagger* tagger, char* text, size_t text_size,
                                          char* error, size_t error_size) {
  write_text("", text, text_size);
  return guarded(error, error_size, [&] {
    require_pointer(tagger, "tagger");
    std::string lines;
    for (const std::string& oddity : tagger->tagger.oddities()) {
      lines += (lines.empty() ? "" : "\n") + oddity;
    }
    write_text(lines, text, text_size);
  });
}
