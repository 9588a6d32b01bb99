#include "machine/exchange_time.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "core/error.hpp"

namespace cosmic::machine {
namespace {

/// 2 (n - 1) / n of the bytes, in 2 (n - 1) steps.
double ring_of(double members, double bytes, double bandwidth, double hop_seconds) {
  return 2 * (members - 1) * (bytes / members / bandwidth + hop_seconds);
}

/// One bucket, of which each member adds up a part: all parts go to the members that add them up,
/// all at once, and then their sums to all. A long message is announced and answered before it
/// comes.
double direct_of(const Link& link, double members, double bytes, double bandwidth,
                 double hop_seconds) {
  const double message = bytes / members;
  const bool announced = link.announced_above && message > link.announced_above->value;
  const double hops = announced ? 3 : 1;
  return members > 1 ? 2 * ((members - 1) * message / bandwidth + hops * hop_seconds) : 0;
}

// The loss of all processes, by which they know whether to update.
constexpr double kLossBytes = 4;

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

/// A ring takes all bytes together; buckets go one by one over a direct link.
double all_reduce_once(const Description& machine, double bytes, std::span<const double> buckets,
                       const ExecutionOptions& options, double bandwidth) {
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
    const double rate = link_bandwidth(machine, link);
    const double hop = machine[link.hop_time];
    if (link.exchange == Exchange::ring) {
      seconds += ring_of(members, part, rate, hop);
    } else {
      for (const double bucket : buckets) {
        seconds += direct_of(link, members, bucket * (part / bytes), rate, hop);
      }
    }
    part /= members;
    joined = reach;
  }
  return seconds;
}

}  // namespace

double exchange_seconds(const Description& machine, const Exchanged& exchanged,
                        const ExecutionOptions& options, double bandwidth) {
  std::vector<double> buckets{kLossBytes};
  buckets.insert(buckets.end(), exchanged.buckets.begin(), exchanged.buckets.end());
  double seconds = exchanged.gradients > 0 ? all_reduce_once(machine, exchanged.gradients, buckets,
                                                             options, bandwidth) /
                                                 options.accumulation
                                           : 0;
  // The machines of a pipeline have layers of their own, and exchange side by side.
  for (const double bytes : exchanged.statistics) {
    const double of_all = bytes * options.pipeline;
    seconds += 2 * all_reduce_once(machine, of_all, std::span(&of_all, 1), options, bandwidth) /
               options.pipeline;
  }
  return seconds;
}

bool links_reach(const Description& machine, const ExecutionOptions& options) {
  return machine.links.empty() || !machine.links.back().joins ||
         *machine.links.back().joins >= options.replicas * options.pipeline;
}

}  // namespace cosmic::machine
