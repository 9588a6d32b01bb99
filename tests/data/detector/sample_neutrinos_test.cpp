// The real sample says which particles its neutrinos made. The same particles, followed by this
// simulation, must look like the sample's: this tests physics and readout apart from the choice of
// interactions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "data/detector/detector.hpp"
#include "data/detector/quantile.hpp"
#include "data/detector/species.hpp"
#include "data/detector/transport.hpp"
#include "data/larcv/larcv_source.hpp"
#include "data/larcv/particle_reader.hpp"

namespace cosmic::data::detector {
namespace {

const std::filesystem::path kSample = "../shared/data/cosmic_tagging_light.h5";
/// Every final state is followed this often, because showers differ a lot.
constexpr int kRepeats = 20;

std::vector<float> neutrino_values(const SparsePlane& image, const SparsePlane& labels) {
  std::vector<float> values;
  for (std::size_t i = 0; i < image.values.size(); ++i) {
    if (labels.values[i] == static_cast<float>(Label::neutrino)) {
      values.push_back(image.values[i]);
    }
  }
  return values;
}

/// Follows what came out of a neutrino of the sample.
void follow(const std::vector<Particle>& particles, RandomStream& random, Ionization& ionization) {
  ionization.clear();
  for (std::size_t i = 1; i < particles.size(); ++i) {
    const Particle& particle = particles[i];
    const Vec3 momentum{particle.momentum[0], particle.momentum[1], particle.momentum[2]};
    constexpr std::int32_t kNuclear = 1'000'000'000;  // GENIE's bookkeeping of the nucleus
    if (particle.pdg >= kNuclear || norm(momentum) == 0) {
      continue;
    }
    constexpr double kMeV = 1e3;  // of a GeV
    ionization.begin_trail(Label::neutrino, 0);
    Transport(random, ionization)
        .run({particle.pdg,
              {particle.vertex.x, particle.vertex.y, particle.vertex.z},
              normalized(momentum),
              particle.initial_energy * kMeV - pdg::mass_of(particle.pdg)});
  }
}

/// Medians of the values, of each plane, over many ways that the particles may take.
std::array<double, kPlanes> simulated_medians(const std::vector<Particle>& particles,
                                              const Readout& readout) {
  std::array<std::vector<float>, kPlanes> values;
  Readout::Workspace workspace;
  Ionization ionization;
  SparsePlane image;
  SparsePlane labels;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    RandomStream random(1, "sample " + std::to_string(repeat));
    follow(particles, random, ionization);
    for (std::size_t plane = 0; plane < kPlanes; ++plane) {
      readout.read_out(ionization, plane, random, workspace, image, labels);
      const std::vector<float> more = neutrino_values(image, labels);
      values[plane].insert(values[plane].end(), more.begin(), more.end());
    }
  }
  return {quantile(values[0], 0.5), quantile(values[1], 0.5), quantile(values[2], 0.5)};
}

TEST(SampleNeutrinos, followed_again_are_as_bright_as_in_the_sample) {
  if (!std::filesystem::exists(kSample)) {
    GTEST_SKIP() << "needs " << kSample.string();
  }
  const larcv::LarcvSource source({.files = {kSample}});
  larcv::ReadWarnings warnings;
  const larcv::EventFile file(kSample, warnings);
  larcv::ParticleReader reader(file, "sbndneutrino", warnings);
  const Detector detector;
  std::vector<float> ratios;
  for (std::int64_t entry = 0; entry < source.size(); ++entry) {
    SparseEvent real;
    source.reader()->read(entry, real);
    std::vector<Particle> particles;
    reader.read(entry, particles);
    const auto simulated = simulated_medians(particles, detector.readout());
    for (std::size_t plane = 0; plane < kPlanes; ++plane) {
      std::vector<float> values = neutrino_values(real.image[plane], real.labels[plane]);
      ratios.push_back(static_cast<float>(simulated[plane] / quantile(values, 0.5)));
    }
  }
  // Not each of them: one event is much dimmer than ours, perhaps by a proton that broke up early.
  EXPECT_NEAR(quantile(ratios, 0.5), 1, 0.1);
  EXPECT_GT(quantile(ratios, 0), 0.85);
}

}  // namespace
}  // namespace cosmic::data::detector
