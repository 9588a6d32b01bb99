// A thread for each connection, as many as there have been at once. An idle one sleeps in the
// kernel and costs a few kilobytes; no thread is waited for by another.
#pragma once

#include <httplib.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace cosmic::serve::http {

class ConnectionThreads final : public httplib::TaskQueue {
 public:
  /// Beyond `most`, connections are handled by `refuse` on the thread that accepts them.
  ConnectionThreads(std::int64_t most, std::function<void(const std::function<void()>&)> refuse)
      : most_(most), refuse_(std::move(refuse)) {}

  void enqueue(std::function<void()> connection) override {
    {
      const std::lock_guard lock(mutex_);
      if (busy_ < most_) {
        ++busy_;
        waiting_.push_back(std::move(connection));
        if (static_cast<std::int64_t>(threads_.size()) < busy_) {
          try {
            threads_.emplace_back([this] { work(); });
          } catch (const std::system_error&) {
            // The system has no more. If there are others, one of them takes it when it can.
            if (threads_.empty()) {
              connection = std::move(waiting_.back());
              waiting_.pop_back();
              --busy_;
            }
          }
        }
      }
    }
    if (connection) {
      refuse_(connection);
      return;
    }
    changed_.notify_one();
  }

  void shutdown() override {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) {
      thread.join();
    }
    threads_.clear();
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return !waiting_.empty() || ended_; });
      if (waiting_.empty()) {
        return;
      }
      const std::function<void()> connection = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      connection();
      lock.lock();
      --busy_;
    }
  }

  std::int64_t most_;
  std::function<void(const std::function<void()>&)> refuse_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  std::int64_t busy_ = 0;  ///< connections that are waiting or handled
  bool ended_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace cosmic::serve::http
