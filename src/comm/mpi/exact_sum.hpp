// A sum over all processes whose bits do not depend on timing, on the algorithm that an MPI chooses
// for an all-reduce, or on how the processes are spread over hosts: each process adds up one part
// of the numbers, in the order of ranks, and hands it to all. As many bytes go over the wire as in
// a ring, 2 (n - 1) / n of the numbers out of each process. In a narrow format the numbers take
// half as many; they are widened before they are added up.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "core/number_format.hpp"
#include "core/threads.hpp"

namespace cosmic::comm::mpi {

/// One sum at a time; begin(), then test() until it is true.
class ExactSum {
 public:
  explicit ExactSum(MPI_Comm communicator);

  void begin(std::span<float> numbers, NumberFormat format);
  /// Is it there? Drives it on.
  bool test();

 private:
  /// Each process sends every other its share of what that one adds up; then each sends its sums.
  enum class Phase { shares, sums };

  bool is_narrow() const { return format_ != NumberFormat::f32; }
  Range own_part() const;
  void send_shares();
  void add_up();
  void add_two();
  /// What a process has of some numbers of the own part.
  void add_share(int process, const Range& some, float* sums) const;
  void send_sums();

  MPI_Comm communicator_;
  int rank_ = 0;
  int size_ = 1;
  std::span<float> numbers_;
  NumberFormat format_ = NumberFormat::f32;  ///< that numbers travel in
  std::vector<int> counts_;                  ///< of each process's part
  std::vector<int> begins_;                  ///< of each process's part
  // A process sends itself nothing: its own numbers stay where they are.
  std::vector<int> sent_counts_;   ///< to each process
  std::vector<int> share_counts_;  ///< of the own part, from each process
  std::vector<int> share_begins_;  ///< in shares_
  std::vector<float> shares_;      ///< of the own part, of the others, rank after rank
  // The same in a narrow format: all numbers, and the shares of the others.
  std::vector<std::uint16_t> narrow_numbers_;
  std::vector<std::uint16_t> narrow_shares_;
  Phase phase_ = Phase::shares;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// Throws TargetError that names the call, if MPI says that it failed.
void require(int code, const char* call);

}  // namespace cosmic::comm::mpi
