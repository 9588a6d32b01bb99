// The processes that work together on one run, as everyone else sees them: who they are, and the
// few things they do together. A transport (MPI, NCCL) implements it; a process that is alone has
// none, and whoever takes one takes null for that.
//
// Everything but begin_sum() returns when this process has its result. Every process makes the same
// calls in the same order, with as many numbers or bytes; one thread makes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/number_format.hpp"

namespace cosmic::comm {

class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;        ///< of this process, from 0
  virtual int size() const = 0;        ///< how many there are
  virtual int local_rank() const = 0;  ///< among those on the same host, from 0
  virtual int local_size() const = 0;  ///< how many are on this host
  /// The name of the host that a process runs on.
  virtual const std::string& host(int rank) const = 0;

  /// A sum that is on its way.
  using Ticket = std::uint64_t;
  /// Begins to add up `numbers` over all processes, each in its place: ((0 + rank 0) + rank 1) and
  /// so on, so that all have the same bits whatever the timing. The numbers are the transport's
  /// until wait() returns. Several sums may be on their way.
  ///
  /// In a narrow format every number is rounded to it before it is sent, to nearest; sums are made
  /// in float32 and rounded once, before they are handed to all.
  virtual Ticket begin_sum(std::span<float> numbers, NumberFormat format) = 0;
  virtual void wait(Ticket ticket) = 0;

  /// What every process gives, in the order of ranks. `all` holds size() times as much as `own`.
  virtual void gather(std::span<const std::byte> own, std::span<std::byte> all) = 0;
  /// What process `from` has goes to all.
  virtual void broadcast(std::span<std::byte> bytes, int from) = 0;

  /// How long this process has done nothing but wait for others, since it began.
  virtual double waiting_seconds() const = 0;
  /// How long sums have been on their way since then, one after the other, whether this process
  /// computed or waited meanwhile; 0 where nothing is sent.
  virtual double exchange_seconds() const = 0;

  /// After how long a wait for a process that is alive, but does not come, all are ended; 0 for
  /// never.
  virtual void set_longest_wait(double seconds) = 0;

  /// Ends all processes with this exit status, for one that cannot go on: the others would wait for
  /// it forever.
  [[noreturn]] virtual void abort(int status) = 0;
};

}  // namespace cosmic::comm
