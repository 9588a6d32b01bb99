// Tells the thread sanitizer what OpenMP orders. It sees a program's own locks and atomics but not
// how libgomp hands work to its threads and waits for them, because that library is not built for
// it; it would call everything a team does a race. Elsewhere this does nothing: one of two sources
// is compiled.
#pragma once

namespace cosmic {

/// One parallel region: what came before fork() comes before every part, and every part comes
/// before what follows join(). Between parts there is no order, so races among them are still
/// found.
class ForkJoinOrder {
 public:
  void fork();
  void begin_part();
  void end_part();
  void join();

 private:
  char forked_ = 0;  ///< their addresses are what the sanitizer knows the order by
  char joined_ = 0;
};

}  // namespace cosmic
