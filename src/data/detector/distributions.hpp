// Random numbers of the shapes that particles need. Written out, because those of the standard
// library may differ between implementations, and the same seed must give the same event.
#pragma once

#include "core/random.hpp"
#include "data/detector/quantile_table.hpp"
#include "data/detector/vec3.hpp"

namespace cosmic::data::detector {

double exponential(RandomStream& random, double mean);

/// Sum of `shape` exponentials.
double gamma(RandomStream& random, int shape, double scale);

/// For means of up to some hundred: the time taken grows with the mean.
int poisson(RandomStream& random, double mean);

/// Moyal's closed form of Landau's distribution, with mean 0 and its width parameter 1: the energy
/// loss of a particle in a thin layer, mostly a little below the mean and sometimes far above.
double centred_moyal(RandomStream& random);

/// Share of a normal distribution that is above `threshold`.
double normal_tail(double mean, double width, double threshold);

/// Draws from that share alone.
QuantileTable normal_above(double mean, double width, double threshold);

/// Standard normal to within 1 % up to 2.5 widths and never beyond 3.5: cheap, for the noise under
/// pulses, where nobody looks at tails.
double nearly_normal(RandomStream& random);

double azimuth(RandomStream& random);
Vec3 isotropic(RandomStream& random);

}  // namespace cosmic::data::detector
