#include "data/larcv/larcv_source.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/open_files.hpp"
#include "data/larcv/event_file.hpp"
#include "data/larcv/fingerprint.hpp"
#include "data/larcv/label_match.hpp"
#include "data/larcv/read_place.hpp"
#include "data/larcv/sparse2d_reader.hpp"

namespace cosmic::data::larcv {
namespace {

// A reader keeps the unpacked chunks of this many files; shuffling over more costs it allocations.
constexpr std::size_t kWarmFiles = 16;

/// "a.h5", or "a.h5 and 2 more"
std::string description_of(const std::vector<std::filesystem::path>& files) {
  const std::string first = files.front().string();
  return files.size() == 1 ? first : first + " and " + std::to_string(files.size() - 1) + " more";
}

std::string pixels_text(const ImageMeta& meta) {
  return std::to_string(meta.columns()) + "x" + std::to_string(meta.rows());
}

/// One thread's readers of one file.
class FileReader {
 public:
  FileReader(const EventFile& file, const LarcvOptions& options, bool labelled,
             ReadWarnings& warnings)
      : warnings_(warnings),
        ids_(file.event_ids(), workspace_),
        ids_place_{.file = file.name()},
        image_(file, options.image_producer, PixelMeaning::charge, warnings),
        labels_place_{.file = file.name(),
                      .product = std::string(kSparse2d) + "_" + options.label_producer} {
    if (labelled) {
      labels_ = std::make_unique<Sparse2dReader>(file, options.label_producer, PixelMeaning::label,
                                                 warnings);
    }
  }

  ~FileReader() = default;
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;

  ImageMeta first_meta() { return image_.first_meta(); }

  void read(std::int64_t entry, SparseEvent& event) {
    ids_place_.event = entry;
    at_place(ids_place_, [&] {
      const EventIdRow& id = ids_.row(static_cast<std::uint64_t>(entry));
      event.id = {id.run, id.subrun, id.event};
    });
    image_.read(entry, event.image);
    event.labelled = labels_ != nullptr;
    event.unlabelled_pixels = 0;
    if (!event.labelled) {
      for (SparsePlane& plane : event.labels) {
        plane.clear();
      }
      return;
    }
    labels_->read(entry, event.labels);
    for (std::size_t plane = 0; plane < event.image.size(); ++plane) {
      labels_place_.event = entry;
      labels_place_.plane = static_cast<std::int64_t>(plane);
      event.unlabelled_pixels +=
          match_labels(event.image[plane], labels_place_, event.labels[plane], warnings_);
    }
  }

 private:
  ReadWarnings& warnings_;
  ChunkWorkspace workspace_;
  TableReader<EventIdRow> ids_;
  ReadPlace ids_place_;
  Sparse2dReader image_;
  ReadPlace labels_place_;
  std::unique_ptr<Sparse2dReader> labels_;
};

/// Puts planes that were not stored on the source's grid, and accepts no other.
void require_grid(const ImageMeta& meta, const EventFile& file, std::int64_t entry,
                  SparseImage& image) {
  for (std::size_t plane = 0; plane < image.size(); ++plane) {
    ImageMeta& own = image[plane].meta;
    if (own.pixels == ImageMeta{}.pixels) {
      own = meta;
      own.projection = plane;
    }
    COSMIC_REQUIRE(DataError, own.pixels == meta.pixels,
                   file.name() << ": event " << entry << ", plane " << plane << ": has a grid of "
                               << pixels_text(own) << " pixels (others have " << pixels_text(meta)
                               << ", and a network takes one size); read them separately");
  }
}

}  // namespace

struct LarcvSource::State {
  LarcvOptions options;
  ReadWarnings warnings;
  std::vector<std::unique_ptr<EventFile>> files;
  std::vector<std::int64_t> ends;  ///< of each file: the entry after its last
  ImageMeta meta;
  bool labelled = false;

  std::int64_t size() const { return ends.back(); }
  void open_files();
  std::vector<const EventFile*> files_with_events() const;
  void find_labels();
  void agree_on_grid();
};

void LarcvSource::State::open_files() {
  COSMIC_REQUIRE(
      UserError, !options.files.empty(),
      "no input files are given (events have to come from somewhere); name at least one");
  // Every file stays open, with a descriptor of its own. If that is not allowed, the file that
  // cannot be opened says why.
  constexpr std::size_t kOthers = 256;
  allow_open_files(options.files.size() + kOthers);
  std::int64_t end = 0;
  for (const auto& path : options.files) {
    files.push_back(std::make_unique<EventFile>(path, warnings));
    COSMIC_REQUIRE(DataError, !__builtin_add_overflow(end, files.back()->size(), &end),
                   path.string() << ": has " << files.back()->size()
                                 << " events (more than can be counted); is it damaged?");
    ends.push_back(end);
  }
  COSMIC_REQUIRE(DataError, end > 0,
                 description_of(options.files) << ": no events (every table is empty); "
                                               << "is this the right file?");
}

/// A file without events may lack anything: nothing will be read of it.
std::vector<const EventFile*> LarcvSource::State::files_with_events() const {
  std::vector<const EventFile*> result;
  for (const auto& file : files) {
    if (file->size() > 0) {
      result.push_back(file.get());
    }
  }
  return result;
}

void LarcvSource::State::find_labels() {
  const ProductName labels{std::string(kSparse2d), options.label_producer};
  labelled = options.labels == LabelUse::required ||
             (options.labels == LabelUse::if_present && files_with_events().front()->has(labels));
  for (const EventFile* file : files_with_events()) {
    COSMIC_REQUIRE(
        DataError, options.labels != LabelUse::if_present || file->has(labels) == labelled,
        file->name() << ": has " << (labelled ? "no labels '" : "labels '") << labels.type << "_"
                     << labels.producer << "', unlike the files before it (scores of some events "
                     << "would be taken for those of all); read them separately");
  }
}

void LarcvSource::State::agree_on_grid() {
  ReadWarnings looked_at_twice;  // they are counted when the events are read
  for (const EventFile* file : files_with_events()) {
    // Also makes sure that every file has what will be read of it, before hours of training.
    const ImageMeta first = FileReader(*file, options, labelled, looked_at_twice).first_meta();
    if (meta.pixels == ImageMeta{}.pixels) {
      meta = first;
    }
    COSMIC_REQUIRE(DataError, first.pixels == ImageMeta{}.pixels || first.pixels == meta.pixels,
                   file->name() << ": has images of " << pixels_text(first)
                                << " pixels (the files before it have " << pixels_text(meta)
                                << ", and a network takes one size); read them separately");
  }
  COSMIC_REQUIRE(DataError, meta.pixels != ImageMeta{}.pixels,
                 description_of(options.files)
                     << ": no event has an image of '" << options.image_producer
                     << "' (their size is not known then); is the name of the producer right?");
}

/// Keeps the readers of the files it used last.
class LarcvSource::Reader final : public EventReader {
 public:
  explicit Reader(State& source) : source_(source) {}

  void read(std::int64_t entry, SparseEvent& event) override {
    COSMIC_REQUIRE(UserError, entry >= 0 && entry < source_.size(),
                   "there is no event " << entry << " (the files have " << source_.size()
                                        << ", counted from 0); choose another");
    const auto end = std::upper_bound(source_.ends.begin(), source_.ends.end(), entry);
    const auto file = static_cast<std::size_t>(end - source_.ends.begin());
    const std::int64_t entry_in_file = file == 0 ? entry : entry - source_.ends[file - 1];
    reader_of(file).read(entry_in_file, event);
    require_grid(source_.meta, *source_.files[file], entry_in_file, event.image);
    if (event.labelled) {
      require_grid(source_.meta, *source_.files[file], entry_in_file, event.labels);
    }
  }

 private:
  struct Warm {
    std::size_t file = 0;
    FileReader reader;
  };

  FileReader& reader_of(std::size_t file) {
    const auto found = std::find_if(warm_.begin(), warm_.end(),
                                    [&](const auto& warm) { return warm->file == file; });
    if (found == warm_.end()) {
      if (warm_.size() == kWarmFiles) {
        warm_.pop_back();
      }
      warm_.push_back(
          std::unique_ptr<Warm>(new Warm{file, FileReader(*source_.files[file], source_.options,
                                                          source_.labelled, source_.warnings)}));
      std::rotate(warm_.begin(), warm_.end() - 1, warm_.end());
    } else {
      std::rotate(warm_.begin(), found, found + 1);
    }
    return warm_.front()->reader;
  }

  State& source_;
  std::vector<std::unique_ptr<Warm>> warm_;  // the last used comes first
};

LarcvSource::LarcvSource(LarcvOptions options) : state_(std::make_unique<State>()) {
  state_->options = std::move(options);
  state_->open_files();
  state_->find_labels();
  state_->agree_on_grid();
}

LarcvSource::~LarcvSource() = default;

std::int64_t LarcvSource::size() const {
  return state_->size();
}

ImageMeta LarcvSource::meta() const {
  return state_->meta;
}

bool LarcvSource::labelled() const {
  return state_->labelled;
}

std::string LarcvSource::description() const {
  return description_of(state_->options.files);
}

std::vector<SourcePart> LarcvSource::parts() const {
  std::vector<SourcePart> parts;
  for (std::size_t file = 0; file < state_->files.size(); ++file) {
    parts.push_back(
        {state_->files[file]->name(), file == 0 ? 0 : state_->ends[file - 1], state_->ends[file]});
  }
  return parts;
}

std::unique_ptr<EventReader> LarcvSource::reader() const {
  return std::make_unique<Reader>(*state_);
}

std::string LarcvSource::fingerprint() const {
  std::vector<ProductName> products{{std::string(kSparse2d), state_->options.image_producer}};
  if (state_->labelled) {
    products.push_back({std::string(kSparse2d), state_->options.label_producer});
  }
  return fingerprint_of(state_->files, products);
}

std::vector<ReadNote> LarcvSource::notes() const {
  return notes_of(state_->warnings);
}

std::uint64_t LarcvSource::note_count() const {
  return state_->warnings.total();
}

const ReadWarnings& LarcvSource::warnings() const {
  return state_->warnings;
}

}  // namespace cosmic::data::larcv
