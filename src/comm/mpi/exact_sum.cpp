#include "comm/mpi/exact_sum.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <string>

#include "core/error.hpp"

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
  sent_counts_.resize(processes);
  share_counts_.resize(processes);
  share_begins_.resize(processes);
}

Range ExactSum::own_part() const {
  return slice_of(static_cast<std::int64_t>(numbers_.size()), rank_, size_);
}

void ExactSum::begin(std::span<float> numbers, NumberFormat format) {
  COSMIC_ASSERT(numbers.size() <= INT_MAX);
  numbers_ = numbers;
  format_ = format;
  const int own = static_cast<int>(own_part().size());
  int received = 0;
  for (int process = 0; process < size_; ++process) {
    const Range part = slice_of(static_cast<std::int64_t>(numbers.size()), process, size_);
    const auto at = static_cast<std::size_t>(process);
    counts_[at] = static_cast<int>(part.size());
    begins_[at] = static_cast<int>(part.begin);
    sent_counts_[at] = process == rank_ ? 0 : counts_[at];
    share_counts_[at] = process == rank_ ? 0 : own;
    share_begins_[at] = received;
    received += share_counts_[at];
  }
  // Grow once and stay: a step exchanges the same buckets every time.
  const auto needed = static_cast<std::size_t>(received);
  if (is_narrow()) {
    narrow_numbers_.resize(std::max(narrow_numbers_.size(), numbers.size()));
    narrow_shares_.resize(std::max(narrow_shares_.size(), needed));
    std::transform(numbers.begin(), numbers.end(), narrow_numbers_.begin(),
                   [this](float number) { return narrow(number, format_); });
  } else {
    shares_.resize(std::max(shares_.size(), needed));
  }
  phase_ = Phase::shares;
  send_shares();
}

void ExactSum::send_shares() {
  const auto send = [this](const auto* numbers, auto* shares, MPI_Datatype type) {
    require(
        MPI_Ialltoallv(numbers, sent_counts_.data(), begins_.data(), type, shares,
                       share_counts_.data(), share_begins_.data(), type, communicator_, &request_),
        "MPI_Ialltoallv");
  };
  if (is_narrow()) {
    send(narrow_numbers_.data(), narrow_shares_.data(), MPI_UINT16_T);
  } else {
    send(numbers_.data(), shares_.data(), MPI_FLOAT);
  }
}

// Of two processes, in one go. The 0 decides the sign of a sum of zeros, as it does for more.
void ExactSum::add_two() {
  const Range part = own_part();
  float* const own = numbers_.data() + part.begin;
  const float* const other = shares_.data();
  if (rank_ == 0) {
    std::transform(own, own + part.size(), other, own,
                   [](float first, float second) { return (0.0F + first) + second; });
  } else {
    std::transform(own, own + part.size(), other, own,
                   [](float second, float first) { return (0.0F + first) + second; });
  }
}

// A few at a time: they stay in the cache until all shares of them are added.
void ExactSum::add_up() {
  if (size_ == 2 && !is_narrow()) {
    return add_two();
  }
  constexpr std::int64_t kTogether = 1024;
  std::array<float, kTogether> sums;
  const Range part = own_part();
  for (std::int64_t first = 0; first < part.size(); first += kTogether) {
    const Range some{first, std::min(first + kTogether, part.size())};
    std::fill_n(sums.begin(), some.size(), 0.0F);
    for (int process = 0; process < size_; ++process) {
      add_share(process, some, sums.data());
    }
    const std::int64_t at = part.begin + first;
    if (is_narrow()) {
      std::transform(sums.begin(), sums.begin() + some.size(), narrow_numbers_.begin() + at,
                     [this](float sum) { return narrow(sum, format_); });
    } else {
      std::copy_n(sums.begin(), some.size(), numbers_.begin() + at);
    }
  }
}

void ExactSum::add_share(int process, const Range& some, float* sums) const {
  const bool own = process == rank_;
  const std::int64_t at =
      some.begin + (own ? own_part().begin : share_begins_[static_cast<std::size_t>(process)]);
  if (is_narrow()) {
    const std::uint16_t* const share = (own ? narrow_numbers_ : narrow_shares_).data() + at;
    for (std::int64_t i = 0; i < some.size(); ++i) {
      sums[i] += widen(share[i], format_);
    }
    return;
  }
  const float* const share = (own ? numbers_.data() : shares_.data()) + at;
  for (std::int64_t i = 0; i < some.size(); ++i) {
    sums[i] += share[i];
  }
}

void ExactSum::send_sums() {
  const auto send = [this](auto* numbers, MPI_Datatype type) {
    require(MPI_Iallgatherv(MPI_IN_PLACE, 0, type, numbers, counts_.data(), begins_.data(), type,
                            communicator_, &request_),
            "MPI_Iallgatherv");
  };
  if (is_narrow()) {
    send(narrow_numbers_.data(), MPI_UINT16_T);
  } else {
    send(numbers_.data(), MPI_FLOAT);
  }
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
