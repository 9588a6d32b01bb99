#include "view/scores_reader.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "core/error.hpp"
#include "data/larcv/predictions.hpp"
#include "data/larcv/record_types.hpp"

namespace cosmic::view {
namespace {

using data::larcv::kCosmicPrediction;
using data::larcv::kNeutrinoPrediction;
using data::larcv::kPixelCosmic;
using data::larcv::kPixelNeutrino;
using data::larcv::kPixelTag;
using data::larcv::kSparse2d;

bool has(const data::larcv::EventFile& file, const char* producer) {
  return file.has({std::string(kSparse2d), producer});
}

std::string id_text(const data::EventId& id) {
  return "run " + std::to_string(id.run) + ", subrun " + std::to_string(id.subrun) + ", event " +
         std::to_string(id.event);
}

/// How often the grid of an image was halved to give that of the scores; nothing if it was not.
std::optional<int> halvings(const data::ImageMeta& image, const data::ImageMeta& scores) {
  for (int times = 0; times < 16; ++times) {
    if (image.columns() >> times == scores.columns() && image.rows() >> times == scores.rows()) {
      return times;
    }
  }
  return std::nullopt;
}

/// Where the scores of each stored pixel are; nothing for one without scores.
class Places {
 public:
  Places(const data::SparsePlane& scores, int halved, std::uint64_t rows)
      : scores_(scores), halved_(halved), rows_(rows) {}

  std::optional<std::size_t> of(std::uint64_t pixel) const {
    const std::uint64_t block =
        (pixel / rows_ >> halved_) * scores_.meta.rows() + (pixel % rows_ >> halved_);
    const auto found = std::lower_bound(scores_.ids.begin(), scores_.ids.end(), block);
    if (found == scores_.ids.end() || *found != block) {
      return std::nullopt;
    }
    return static_cast<std::size_t>(found - scores_.ids.begin());
  }

 private:
  const data::SparsePlane& scores_;
  int halved_;
  std::uint64_t rows_;
};

}  // namespace

ScoreFiles::Kind ScoreFiles::kind_of(const data::larcv::EventFile& file) {
  if (has(file, kPixelTag) && has(file, kPixelCosmic) && has(file, kPixelNeutrino)) {
    return Kind::stored_pixels;
  }
  return has(file, kCosmicPrediction) && has(file, kNeutrinoPrediction) ? Kind::network_pixels
                                                                        : Kind::none;
}

ScoreFiles::ScoreFiles(const std::vector<std::filesystem::path>& files) {
  std::int64_t end = 0;
  for (const std::filesystem::path& path : files) {
    files_.push_back(std::make_unique<data::larcv::EventFile>(path, warnings_));
    end += files_.back()->size();
    ends_.push_back(end);
    const Kind kind = kind_of(*files_.back());
    if (files_.size() == 1) {
      kind_ = kind;
    }
    COSMIC_REQUIRE(DataError, kind == kind_,
                   path.string() << ": does not have the predictions that "
                                 << files.front().string()
                                 << " has (scores of some events would be taken for those of all); "
                                    "view them separately, or tag them alike");
  }
}

struct ScoresReader::Open {
  Open(const ScoreFiles& files, const data::larcv::EventFile& file, ScoreFiles::Kind kind)
      : ids(file.event_ids(), workspace),
        cosmic(file, kind == ScoreFiles::Kind::stored_pixels ? kPixelCosmic : kCosmicPrediction,
               data::larcv::PixelMeaning::any, files.warnings_),
        neutrino(file,
                 kind == ScoreFiles::Kind::stored_pixels ? kPixelNeutrino : kNeutrinoPrediction,
                 data::larcv::PixelMeaning::any, files.warnings_) {
    if (kind == ScoreFiles::Kind::stored_pixels) {
      tag.emplace(file, kPixelTag, data::larcv::PixelMeaning::label, files.warnings_);
    }
  }

  data::larcv::ChunkWorkspace workspace;
  data::larcv::TableReader<data::larcv::EventIdRow> ids;
  data::larcv::Sparse2dReader cosmic;
  data::larcv::Sparse2dReader neutrino;
  std::optional<data::larcv::Sparse2dReader> tag;  // without it, the most likely label
};

void ScoresReader::open(std::size_t file) {
  if (!open_ || current_ != file) {
    open_ = std::make_shared<Open>(files_, *files_.files_[file], files_.kind_);
    current_ = file;
  }
}

void ScoresReader::read(std::int64_t entry, const data::SparseEvent& pixels, EventScores& scores) {
  COSMIC_REQUIRE(DataError, entry < files_.size(),
                 files_.files_.front()->name()
                     << ": has no event " << entry << " (it has " << files_.size()
                     << ", fewer than the events that are viewed); tag all of them");
  const auto end = std::upper_bound(files_.ends_.begin(), files_.ends_.end(), entry);
  const auto file = static_cast<std::size_t>(end - files_.ends_.begin());
  const std::int64_t in_file = file == 0 ? entry : entry - files_.ends_[file - 1];
  open(file);
  const std::string where = files_.files_[file]->name() + ": event " + std::to_string(in_file);
  const data::larcv::EventIdRow& row = open_->ids.row(static_cast<std::uint64_t>(in_file));
  const data::EventId id{row.run, row.subrun, row.event};
  COSMIC_REQUIRE(DataError, id == pixels.id,
                 where << " is " << id_text(id) << ", and the event that is viewed is "
                       << id_text(pixels.id)
                       << " (predictions of another event would be shown); are the files in the "
                          "same order?");
  open_->cosmic.read(in_file, cosmic_);
  open_->neutrino.read(in_file, neutrino_);
  if (open_->tag) {
    open_->tag->read(in_file, tag_);
  } else {
    for (std::size_t plane = 0; plane < cosmic_.size(); ++plane) {
      COSMIC_REQUIRE(DataError, cosmic_[plane].ids == neutrino_[plane].ids,
                     where << ", plane " << plane
                           << ": the cosmic and the neutrino scores are not of the same pixels "
                              "(inference writes both for each); run the inference again");
    }
    tag_ = data::larcv::tags_of(cosmic_, neutrino_);
  }
  for (std::size_t plane = 0; plane < scores.size(); ++plane) {
    const data::SparsePlane& stored = pixels.image[plane];
    PlaneScores& to = scores[plane];
    const std::size_t count = stored.ids.size();
    to.tag.assign(count, kNoTag);
    to.cosmic.assign(count, std::numeric_limits<float>::quiet_NaN());
    to.neutrino = to.cosmic;
    if (cosmic_[plane].ids.empty()) {
      continue;
    }
    COSMIC_REQUIRE(
        DataError,
        cosmic_[plane].ids == neutrino_[plane].ids && cosmic_[plane].ids == tag_[plane].ids,
        where << ", plane " << plane
              << ": tags and scores are not of the same pixels (inference writes all "
                 "for each); run the inference again");
    const std::optional<int> halved = halvings(stored.meta, cosmic_[plane].meta);
    COSMIC_REQUIRE(DataError, halved,
                   where << ", plane " << plane << ": has predictions on "
                         << cosmic_[plane].meta.columns() << " x " << cosmic_[plane].meta.rows()
                         << " pixels, and the image has " << stored.meta.columns() << " x "
                         << stored.meta.rows()
                         << " (they are not of this image, however often it is halved); are these "
                            "the files that belong together?");
    const Places places(cosmic_[plane], *halved, stored.meta.rows());
    for (std::size_t i = 0; i < count; ++i) {
      if (const std::optional<std::size_t> at = places.of(stored.ids[i])) {
        to.tag[i] = static_cast<std::uint8_t>(tag_[plane].values[*at]);
        to.cosmic[i] = cosmic_[plane].values[*at];
        to.neutrino[i] = neutrino_[plane].values[*at];
      }
    }
  }
}

}  // namespace cosmic::view
