#include "comm/mpi/exact_sum.hpp"

#include <algorithm>
#include <climits>
#include <string>

#include "core/error.hpp"
#include "core/threads.hpp"

namespace cosmic::comm::mpi {

void require(int code, const char* call) {
  if (code == MPI_SUCCESS) {
    return;
  }
  std::string text(MPI_MAX_ERROR_STRING, '\0');
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  text.resize(static_cast<std::size_t>(length));
  throw TargetError(std::string(call) + " failed: " + text +
                    " (the processes of this run cannot reach each other any more); look at the "
                    "messages of the other processes, and run the command again to go on");
}

ExactSum::ExactSum(MPI_Comm communicator) : communicator_(communicator) {
  require(MPI_Comm_rank(communicator, &rank_), "MPI_Comm_rank");
  require(MPI_Comm_size(communicator, &size_), "MPI_Comm_size");
  const auto processes = static_cast<std::size_t>(size_);
  counts_.resize(processes);
  begins_.resize(processes);
  share_counts_.resize(processes);
  share_begins_.resize(processes);
}

void ExactSum::begin(std::span<float> numbers, NumberFormat format) {
  COSMIC_ASSERT(numbers.size() <= INT_MAX);
  numbers_ = numbers;
  format_ = format;
  const auto count = static_cast<std::int64_t>(numbers.size());
  for (int process = 0; process < size_; ++process) {
    const Range part = slice_of(count, process, size_);
    const auto at = static_cast<std::size_t>(process);
    counts_[at] = static_cast<int>(part.size());
    begins_[at] = static_cast<int>(part.begin);
  }
  const int own = counts_[static_cast<std::size_t>(rank_)];
  std::fill(share_counts_.begin(), share_counts_.end(), own);
  for (std::size_t process = 0; process < share_begins_.size(); ++process) {
    share_begins_[process] = static_cast<int>(process) * own;
  }
  // Grow once and stay: a step exchanges the same buckets every time.
  const auto needed = static_cast<std::size_t>(own) * static_cast<std::size_t>(size_);
  shares_.resize(std::max(shares_.size(), needed));
  sums_.resize(std::max(sums_.size(), static_cast<std::size_t>(own)));
  phase_ = Phase::shares;
  send_shares();
}

void ExactSum::send_shares() {
  if (is_narrow()) {
    narrow_numbers_.resize(std::max(narrow_numbers_.size(), numbers_.size()));
    narrow_shares_.resize(std::max(narrow_shares_.size(), shares_.size()));
    narrow_sums_.resize(std::max(narrow_sums_.size(), sums_.size()));
    std::transform(numbers_.begin(), numbers_.end(), narrow_numbers_.begin(),
                   [this](float number) { return narrow(number, format_); });
    require(MPI_Ialltoallv(narrow_numbers_.data(), counts_.data(), begins_.data(), MPI_UINT16_T,
                           narrow_shares_.data(), share_counts_.data(), share_begins_.data(),
                           MPI_UINT16_T, communicator_, &request_),
            "MPI_Ialltoallv");
    return;
  }
  require(MPI_Ialltoallv(numbers_.data(), counts_.data(), begins_.data(), MPI_FLOAT, shares_.data(),
                         share_counts_.data(), share_begins_.data(), MPI_FLOAT, communicator_,
                         &request_),
          "MPI_Ialltoallv");
}

void ExactSum::add_up() {
  const auto own = static_cast<std::size_t>(counts_[static_cast<std::size_t>(rank_)]);
  std::fill_n(sums_.begin(), own, 0.0F);
  for (std::size_t process = 0; process < share_begins_.size(); ++process) {
    if (is_narrow()) {
      const std::uint16_t* const share = narrow_shares_.data() + share_begins_[process];
      for (std::size_t i = 0; i < own; ++i) {
        sums_[i] += widen(share[i], format_);
      }
      continue;
    }
    const float* const share = shares_.data() + share_begins_[process];
    for (std::size_t i = 0; i < own; ++i) {
      sums_[i] += share[i];
    }
  }
}

void ExactSum::send_sums() {
  const int own = counts_[static_cast<std::size_t>(rank_)];
  if (is_narrow()) {
    std::transform(sums_.begin(), sums_.begin() + own, narrow_sums_.begin(),
                   [this](float sum) { return narrow(sum, format_); });
    require(MPI_Iallgatherv(narrow_sums_.data(), own, MPI_UINT16_T, narrow_numbers_.data(),
                            counts_.data(), begins_.data(), MPI_UINT16_T, communicator_, &request_),
            "MPI_Iallgatherv");
    return;
  }
  require(MPI_Iallgatherv(sums_.data(), own, MPI_FLOAT, numbers_.data(), counts_.data(),
                          begins_.data(), MPI_FLOAT, communicator_, &request_),
          "MPI_Iallgatherv");
}

bool ExactSum::test() {
  int done = 0;
  require(MPI_Test(&request_, &done, MPI_STATUS_IGNORE), "MPI_Test");
  if (done == 0) {
    return false;
  }
  if (phase_ == Phase::shares) {
    add_up();
    phase_ = Phase::sums;
    send_sums();
    return false;
  }
  if (is_narrow()) {
    std::transform(narrow_numbers_.begin(),
                   narrow_numbers_.begin() + static_cast<std::ptrdiff_t>(numbers_.size()),
                   numbers_.begin(), [this](std::uint16_t bits) { return widen(bits, format_); });
  }
  return true;
}

}  // namespace cosmic::comm::mpi
