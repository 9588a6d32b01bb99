#include "api/own_thread.hpp"

#include <utility>

namespace cosmic::api {

OwnThread::OwnThread() : thread_([this] { serve(); }) {}

OwnThread::~OwnThread() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void OwnThread::run(const std::function<void()>& work) {
  std::unique_lock lock(mutex_);
  work_ = &work;
  changed_.notify_all();
  changed_.wait(lock, [this] { return work_ == nullptr; });
  if (thrown_) {
    std::rethrow_exception(std::exchange(thrown_, nullptr));
  }
}

void OwnThread::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return work_ != nullptr || ending_; });
    if (work_ == nullptr) {
      return;
    }
    const std::function<void()>& work = *work_;
    lock.unlock();
    std::exception_ptr thrown;
    try {
      work();
    } catch (...) {
      thrown = std::current_exception();
    }
    lock.lock();
    thrown_ = std::move(thrown);
    work_ = nullptr;
    changed_.notify_all();
  }
}

}  // namespace cosmic::api
