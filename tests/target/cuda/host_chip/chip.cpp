#include "target/cuda/host_chip/chip.hpp"

#include <ucontext.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

namespace cosmic::target::cuda::host_chip {
namespace {

constexpr int kWarp = 32;
constexpr std::size_t kStackBytes = 128 * 1024;

enum class Waits { for_turn, for_warp, for_block, no_more };

/// A stack and where it was left. Switching by the compiler's own setjmp: the library's swapcontext
/// asks the system for signals each time, which would take most of the time.
class Stack {
 public:
  /// Leaves this one, until somebody switches to it, for `other`.
  [[gnu::noinline]] void switch_to(Stack& other) {
#ifdef __SANITIZE_ADDRESS__
    void* shadow = nullptr;
    __sanitizer_start_switch_fiber(&shadow, other.bottom, other.bytes);
#endif
    if (__builtin_setjmp(left_at_) == 0) {
      jump(other);
    }
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(shadow, nullptr, nullptr);
#endif
  }
  /// Makes it one of its own, which begins with `function` when it is switched to, and never ends.
  void begin_with(void (*function)()) {
    memory_ = std::make_unique_for_overwrite<std::byte[]>(kStackBytes);
    bottom = memory_.get();
    bytes = kStackBytes;
    ucontext_t here;
    ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = memory_.get();
    context.uc_stack.ss_size = kStackBytes;
    context.uc_link = nullptr;
    beginning = {this, &here, function};
    makecontext(&context, begin, 0);
    swapcontext(&here, &context);
  }

  const void* bottom = nullptr;
  std::size_t bytes = 0;

 private:
  struct Beginning {
    Stack* stack;
    ucontext_t* back;
    void (*function)();
  };
  inline static Beginning beginning;

  /// Goes back as soon as it is known where the stack is left.
  [[gnu::noinline]] static void begin() {
    const Beginning of_this = beginning;
    if (__builtin_setjmp(of_this.stack->left_at_) == 0) {
      setcontext(of_this.back);
    }
    of_this.function();
  }
  [[gnu::noinline, noreturn]] static void jump(Stack& to) {
    __builtin_longjmp(to.left_at_, 1);
  }

  std::unique_ptr<std::byte[]> memory_;
  void* left_at_[5];
};

struct Copy {
  std::uint32_t to;
  const void* from;
};

struct Thread {
  Stack stack;
  Waits waits = Waits::no_more;
  Instruct instruct = nullptr;
  void* operands = nullptr;
  std::vector<Copy> copies;
};

class Chip;
Chip& the_chip();

class Chip {
 public:
  void run(Index blocks, int threads, std::size_t bytes, const std::function<void()>& thread) {
    COSMIC_ASSERT(!thread_);  // one launch at a time
    COSMIC_ASSERT(threads % kWarp == 0);
    thread_ = &thread;
    ++launches_;
    while (threads_.size() < static_cast<std::size_t>(threads)) {
      threads_.push_back(std::make_unique<Thread>());
      threads_.back()->stack.begin_with([] { the_chip().run_threads(); });
    }
    count_ = threads;
    block_extent = {static_cast<unsigned>(threads), 1, 1};
    for (block_index.z = 0; block_index.z < blocks.z; ++block_index.z) {
      for (block_index.y = 0; block_index.y < blocks.y; ++block_index.y) {
        for (block_index.x = 0; block_index.x < blocks.x; ++block_index.x) {
          run_block(bytes);
        }
      }
    }
    thread_ = nullptr;
  }

  std::byte* memory() { return memory_.data(); }
  std::byte* at(std::uint32_t address, std::size_t count) {
    require(address % count == 0, "an address of the chip's memory is not aligned");
    require(address + count <= memory_.size(), "an address is beyond the chip's memory");
    return memory_.data() + address;
  }

  void meet_block() { yield(Waits::for_block); }
  void meet_warp(Instruct instruct, void* operands) {
    running_->instruct = instruct;
    running_->operands = operands;
    yield(Waits::for_warp);
  }

  void begin_copy(const Copy& copy) {
    if (++copies_ % 2 == 0) {
      finish(copy);
    } else {
      running_->copies.push_back(copy);
    }
  }
  void finish_copies() {
    for (const Copy& copy : running_->copies) {
      finish(copy);
    }
    running_->copies.clear();
  }

  std::int64_t launches() const { return launches_; }

 private:
  void run_block(std::size_t bytes) {
    // New bytes each time, so that an address sanitizer knows where they end.
    memory_ = std::vector<std::byte>(bytes, std::byte{0xff});  // NaN in every format
    for (int i = 0; i < count_; ++i) {
      threads_[static_cast<std::size_t>(i)]->waits = Waits::for_turn;
    }
    while (true) {
      // From one barrier to the next, the warps in an order of their own.
      const int warps = count_ / kWarp;
      const int first = static_cast<int>(rounds_++ % static_cast<std::uint64_t>(warps));
      for (int i = 0; i < warps; ++i) {
        const int forwards = (first + i) % warps;
        run_warp(rounds_ % 2 == 0 ? forwards : warps - 1 - forwards);
      }
      bool is_over = true;
      for (int i = 0; i < count_; ++i) {
        Thread& thread = *threads_[static_cast<std::size_t>(i)];
        if (thread.waits == Waits::for_block) {
          thread.waits = Waits::for_turn;
          is_over = false;
        }
      }
      if (is_over) {
        return;
      }
    }
  }

  /// Until all its threads have ended or wait for the block.
  void run_warp(int warp) {
    while (true) {
      int here = 0;
      int elsewhere = 0;
      for (int lane = 0; lane < kWarp; ++lane) {
        const int number = warp * kWarp + lane;
        Thread& thread = *threads_[static_cast<std::size_t>(number)];
        if (thread.waits == Waits::for_turn) {
          resume(thread, number);
        }
        ++(thread.waits == Waits::for_warp ? here : elsewhere);
      }
      if (here == 0) {
        return;
      }
      require(elsewhere == 0, "threads of a warp are elsewhere at an instruction of all of it");
      void* operands[kWarp];
      const Instruct instruct = threads_[static_cast<std::size_t>(warp * kWarp)]->instruct;
      for (int lane = 0; lane < kWarp; ++lane) {
        Thread& thread = *threads_[static_cast<std::size_t>(warp * kWarp + lane)];
        require(thread.instruct == instruct, "threads of a warp are at different instructions");
        operands[lane] = thread.operands;
        thread.waits = Waits::for_turn;
      }
      instruct(operands);
    }
  }

  void finish(const Copy& copy) {
    std::byte* const to = at(copy.to, 16);
    if (copy.from != nullptr) {
      std::memcpy(to, copy.from, 16);
    } else {
      std::memset(to, 0, 16);
    }
  }

  void resume(Thread& thread, int number) {
    running_ = &thread;
    thread_index = {static_cast<unsigned>(number), 0, 0};
    scheduler_.switch_to(thread.stack);
  }

  void yield(Waits waits) {
    Thread& thread = *running_;
    thread.waits = waits;
    thread.stack.switch_to(scheduler_);
  }

  /// Of one block after the other.
  [[noreturn]] void run_threads() {
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(nullptr, &scheduler_.bottom, &scheduler_.bytes);
#endif
    while (true) {
      (*thread_)();
      finish_copies();
      yield(Waits::no_more);
    }
  }

  /// Not an exception: it would have to pass a stack that it knows nothing of.
  void require(bool holds, const std::string& else_what) const {
    if (!holds) {
      std::fprintf(stderr, "kernel on the host's chip, block (%u, %u, %u), thread %u: %s\n",
                   block_index.x, block_index.y, block_index.z, thread_index.x, else_what.c_str());
      std::abort();
    }
  }

  std::vector<std::unique_ptr<Thread>> threads_;
  int count_ = 0;
  std::vector<std::byte> memory_;
  const std::function<void()>* thread_ = nullptr;
  Thread* running_ = nullptr;
  Stack scheduler_;
  std::uint64_t rounds_ = 0;
  std::uint64_t copies_ = 0;
  std::int64_t launches_ = 0;
};

Chip& the_chip() {
  static Chip chip;
  return chip;
}

}  // namespace

void run(Index blocks, int threads, std::size_t bytes, const std::function<void()>& thread) {
  the_chip().run(blocks, threads, bytes, thread);
}
std::byte* memory() {
  return the_chip().memory();
}
std::byte* at(std::uint32_t address, std::size_t count) {
  return the_chip().at(address, count);
}
void meet_block() {
  the_chip().meet_block();
}
void meet_warp(Instruct instruct, void* operands) {
  the_chip().meet_warp(instruct, operands);
}
void begin_copy(std::uint32_t to, const void* from) {
  the_chip().begin_copy({to, from});
}
void finish_copies() {
  the_chip().finish_copies();
}
std::int64_t launches() {
  return the_chip().launches();
}

}  // namespace cosmic::target::cuda::host_chip
