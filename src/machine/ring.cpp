#include "machine/ring.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"

namespace cosmic::machine {
namespace {

/// 2 (n - 1) / n of the bytes, in 2 (n - 1) steps.
double ring_of(double members, double bytes, double bandwidth, double hop_seconds) {
  return 2 * (members - 1) * (bytes / members / bandwidth + hop_seconds);
}

/// Its present value, if it has a range.
double link_bandwidth(const Description& machine, const Link& link) {
  for (const Unknown& unknown : machine.unknowns) {
    if (unknown.figure.name == link.bandwidth.name) {
      return unknown.figure.value;
    }
  }
  return link.bandwidth.value;
}

/// Replicas that a link joins: it may not even join the machines of one.
double replicas_joined(const Link& link, const ExecutionOptions& options) {
  const double all = options.replicas;
  return link.joins ? std::min(all, std::max(1.0, std::floor(static_cast<double>(*link.joins) /
                                                             options.pipeline)))
                    : all;
}

}  // namespace

double ring_seconds(const Description& machine, double bytes, const ExecutionOptions& options,
                    double bandwidth) {
  double part = bytes / options.pipeline;  // that a machine holds
  if (machine.links.empty()) {
    return ring_of(options.replicas, part, bandwidth, 0);
  }
  COSMIC_REQUIRE(
      UserError, links_reach(machine, options),
      options.replicas * options.pipeline
          << " machines were asked for, and the links of " << machine.name << " join "
          << *machine.links.back().joins
          << " (there is no link for more); ask for fewer, or add a link to its description");
  double seconds = 0;
  double joined = 1;
  for (const Link& link : machine.links) {
    const double reach = replicas_joined(link, options);
    const double members = std::ceil(reach / joined);
    seconds += ring_of(members, part, link_bandwidth(machine, link), machine[link.hop_time]);
    part /= members;
    joined = reach;
  }
  return seconds;
}

double exchange_seconds(const Description& machine, const Exchanged& exchanged,
                        const ExecutionOptions& options, double bandwidth) {
  double seconds =
      ring_seconds(machine, exchanged.gradients, options, bandwidth) / options.accumulation;
  // The machines of a pipeline have layers of their own, and exchange side by side.
  for (const double bytes : exchanged.statistics) {
    seconds +=
        2 * ring_seconds(machine, bytes * options.pipeline, options, bandwidth) / options.pipeline;
  }
  return seconds;
}

bool links_reach(const Description& machine, const ExecutionOptions& options) {
  return machine.links.empty() || !machine.links.back().joins ||
         *machine.links.back().joins >= options.replicas * options.pipeline;
}

}  // namespace cosmic::machine
