// Tags events of a liquid-argon detector in memory: every pixel with charge becomes background,
// cosmic or neutrino, with the probabilities of the last two.
//
//   cosmictagger::Tagger tagger({.weights = "weights.safetensors"});
//   const cosmictagger::EventTags tags = tagger.tag(event);
//
// Needs nothing but this header and the library; docs/library.md has a whole program.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace cosmictagger {

inline constexpr std::size_t kPlanes = 3;

/// The numbers of PlaneTags::tag.
enum Tag : std::uint8_t { background = 0, cosmic = 1, neutrino = 2 };

/// The pixels of one wire plane that have charge, in any order, each place once. Rows run over
/// drift time, columns over wires.
struct PlanePixels {
  std::vector<std::uint32_t> rows;
  std::vector<std::uint32_t> columns;
  std::vector<float> charges;
};
using Event = std::array<PlanePixels, kPlanes>;

/// What was found at the pixels of one plane, in the order in which they were given.
struct PlaneTags {
  std::vector<std::uint8_t> tag;  ///< a Tag
  std::vector<float> cosmic;      ///< its probability
  std::vector<float> neutrino;
};
using EventTags = std::array<PlaneTags, kPlanes>;

/// Whose mistake it was. The numbers are the exit statuses of the program, and the statuses of the
/// C interface.
enum class Fault {
  user = 2,       ///< an option or a setting
  data = 3,       ///< a file or an event
  shape = 4,      ///< the network does not fit the image
  target = 5,     ///< the machine that computes
  internal = 70,  ///< a mistake of the library
  memory = 71,    ///< there was not enough
};

/// The text says what is wrong, why that matters and what to do.
class Error : public std::runtime_error {
 public:
  Error(Fault fault, const std::string& text) : std::runtime_error(text), fault_(fault) {}
  Fault fault() const { return fault_; }

 private:
  Fault fault_;
};

struct TaggerOptions {
  /// A checkpoint, a folder of them, a .safetensors file, or a .ckpt of the reference; "fast" or
  /// "best" for a network that comes with the library, of which empty is the best. Whatever belongs
  /// to weights (network, downsampling, transform) comes from them.
  std::string weights = {};
  /// That compute, in all. 1: whoever calls computes, and no thread is made. More: they belong to
  /// the tagger, sleep between calls and end with it. 0: what OMP_NUM_THREADS, the batch system or
  /// the cores of this process allow.
  int threads = 1;
  /// Of events: memory grows with it, and so does speed on machines that have much to do at once.
  int events_at_a_time = 1;
  /// The size of images as they are stored, before any downsampling.
  std::uint32_t rows = 1280;
  std::uint32_t columns = 2048;
  /// Further settings as on the command line, such as "run.compute_mode=GPU".
  std::vector<std::string> settings = {};
};

/// Threads may share one: its calls follow one another. Different ones share nothing.
class Tagger {
 public:
  /// Loads and compiles, so that tagging needs no more than time: everything that can be wrong with
  /// weights, settings or machine is thrown here, as Error. So is every error of the others.
  explicit Tagger(const TaggerOptions& options);
  ~Tagger();
  Tagger(Tagger&&) noexcept;
  Tagger& operator=(Tagger&&) noexcept;

  EventTags tag(const Event& event);
  /// The same for several, so many at a time as the options say.
  std::vector<EventTags> tag(std::span<const Event> events);
  /// Of dense images: `charges` is [events, 3, rows, columns], where 0 is no charge; the others are
  /// of the same shape and may be empty if nobody wants them. Pixels without charge are background
  /// with probabilities 0.
  void tag(std::span<const float> charges, std::span<std::uint8_t> tags, std::span<float> cosmic,
           std::span<float> neutrino);

  int threads() const;
  /// What it holds from now on: programs, weights, images and scores. Events, and what is said
  /// about them, come on top.
  std::int64_t memory_bytes() const;
  std::uint32_t rows() const;
  std::uint32_t columns() const;
  /// The file of the weights, and how many updates are behind them.
  std::string weights() const;
  std::int64_t step() const;
  /// What a user should know about weights and settings, a line each; often none.
  const std::vector<std::string>& notes() const;
  /// In what the events tagged so far (the latest thousand) do not look like those that the network
  /// was trained on, a line each with the figures of both: charge in other units, another detector,
  /// images of another size. Their tags may be wrong then. None where all is well, and of weights
  /// that do not say what they know.
  std::vector<std::string> oddities() const;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// "0.1.0 (779a3a9c7884)"
std::string version();

}  // namespace cosmictagger
