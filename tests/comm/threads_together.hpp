// Threads of one process in place of processes: for tests of what processes compute together,
// without a launcher. A sum is made when it is awaited and not before, as late as a transport may
// be, so whoever reads too early reads what is not added up yet.
#pragma once

#include <algorithm>
#include <barrier>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "comm/communicator.hpp"

namespace cosmic::comm {

class ThreadsTogether {
 public:
  /// Each on a host of its own by name, or all on one.
  explicit ThreadsTogether(int size, const std::string& host = "")
      : meeting_(size), members_(static_cast<std::size_t>(size)) {
    for (int rank = 0; rank < size; ++rank) {
      members_[static_cast<std::size_t>(rank)] = std::make_unique<Member>(
          *this, rank, host.empty() ? "host" + std::to_string(rank) : host);
    }
  }

  /// Calls work(communicator) in one thread for each; throws what the first of them threw. All must
  /// throw, or none.
  void run(const std::function<void(Communicator&)>& work) {
    std::vector<std::exception_ptr> errors(members_.size());
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      threads.emplace_back([&, i] {
        try {
          work(*members_[i]);
        } catch (...) {
          errors[i] = std::current_exception();
        }
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    for (const std::exception_ptr& error : errors) {
      if (error != nullptr) {
        std::rethrow_exception(error);
      }
    }
  }

 private:
  struct Begun {
    std::span<float> numbers;
    NumberFormat format;
  };

  class Member final : public Communicator {
   public:
    Member(ThreadsTogether& all, int rank, std::string host)
        : all_(all), rank_(rank), host_(std::move(host)) {}

    int rank() const override { return rank_; }
    int size() const override { return static_cast<int>(all_.members_.size()); }
    int local_rank() const override { return rank_; }
    int local_size() const override { return size(); }
    const std::string& host(int rank) const override {
      return all_.members_[static_cast<std::size_t>(rank)]->host_;
    }
    Ticket begin_sum(std::span<float> numbers, NumberFormat format) override {
      begun_.push_back({numbers, format});
      return begun_.size();
    }
    void wait(Ticket ticket) override {
      while (done_ < ticket) {
        meet([&] { add_up(begun_[done_]); });
        ++done_;
      }
    }
    void gather(std::span<const std::byte> own, std::span<std::byte> all) override {
      given_ = own;
      meet([&] {
        for (std::size_t i = 0; i < all_.members_.size(); ++i) {
          std::memcpy(all.data() + i * own.size(), all_.members_[i]->given_.data(), own.size());
        }
      });
    }
    void broadcast(std::span<std::byte> bytes, int from) override {
      given_ = bytes;
      meet([&] {
        if (rank_ != from) {
          std::memcpy(bytes.data(), all_.members_[static_cast<std::size_t>(from)]->given_.data(),
                      bytes.size());
        }
      });
    }
    double waiting_seconds() const override { return 0; }
    double exchange_seconds() const override { return 0; }
    void set_longest_wait(double) override {}
    void abort(int status) override {
      throw std::runtime_error("aborted with " + std::to_string(status));
    }

   private:
    /// Everyone reads what all have brought, and nobody goes before all have.
    void meet(const std::function<void()>& work) {
      all_.meeting_.arrive_and_wait();
      work();
      all_.meeting_.arrive_and_wait();
    }

    void add_up(const Begun& begun) {
      sum_.assign(begun.numbers.size(), 0.0F);
      for (const auto& member : all_.members_) {
        for (std::size_t i = 0; i < sum_.size(); ++i) {
          sum_[i] += rounded(member->begun_[done_].numbers[i], begun.format);
        }
      }
      all_.meeting_.arrive_and_wait();
      std::transform(sum_.begin(), sum_.end(), begun.numbers.begin(),
                     [&](float sum) { return rounded(sum, begun.format); });
    }

    ThreadsTogether& all_;
    int rank_;
    std::string host_;
    std::span<const std::byte> given_;
    std::deque<Begun> begun_;
    std::size_t done_ = 0;
    std::vector<float> sum_;
  };

  std::barrier<> meeting_;
  std::vector<std::unique_ptr<Member>> members_;
};

}  // namespace cosmic::comm
