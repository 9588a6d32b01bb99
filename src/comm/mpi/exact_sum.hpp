// A sum over all processes whose bits do not depend on timing, on the algorithm that an MPI chooses
// for an all-reduce, or on how the processes are spread over hosts: each process adds up one part
// of the numbers, in the order of ranks, and hands it to all. As many bytes go over the wire as in
// a ring, 2 (n - 1) / n of the numbers out of each process.
#pragma once

#include <mpi.h>

#include <span>
#include <vector>

namespace cosmic::comm::mpi {

/// One sum at a time; begin(), then test() until it is true.
class ExactSum {
 public:
  explicit ExactSum(MPI_Comm communicator);

  void begin(std::span<float> numbers);
  /// Is it there? Drives it on.
  bool test();

 private:
  /// Each process sends every other its share of what that one adds up; then each sends its sums.
  enum class Phase { shares, sums };

  void add_up();

  MPI_Comm communicator_;
  int rank_ = 0;
  int size_ = 1;
  std::span<float> numbers_;
  std::vector<int> counts_;        ///< of each process's part
  std::vector<int> begins_;        ///< of each process's part
  std::vector<int> share_counts_;  ///< of the own part, from each process
  std::vector<int> share_begins_;  ///< in shares_
  std::vector<float> shares_;      ///< of the own part, rank after rank
  std::vector<float> sums_;        ///< of the own part
  Phase phase_ = Phase::shares;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// Throws TargetError that names the call, if MPI says that it failed.
void require(int code, const char* call);

}  // namespace cosmic::comm::mpi
