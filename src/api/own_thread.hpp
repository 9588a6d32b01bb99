// A thread that does what others ask it to, one thing after the other. A team of threads belongs to
// the thread that computes (core/team_workers.hpp); with one of its own, a tagger has the same few
// threads whoever calls it, and they end with it.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace cosmic::api {

class OwnThread {
 public:
  OwnThread();
  ~OwnThread();
  OwnThread(const OwnThread&) = delete;
  OwnThread& operator=(const OwnThread&) = delete;

  /// Returns when `work` has, and throws what it threw. One caller at a time.
  void run(const std::function<void()>& work);

 private:
  void serve();

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* work_ = nullptr;  ///< of the caller, who waits
  std::exception_ptr thrown_;
  bool ending_ = false;
  std::thread thread_;  ///< last: it uses the others
};

}  // namespace cosmic::api
