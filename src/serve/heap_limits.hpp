// What a server keeps of the memory that requests gave back.
#pragma once

namespace cosmic::serve {

/// The C library gives threads heaps of their own, eight for each processor, and each of them keeps
/// what its busiest request needed. A server has a thread for each connection, all of which come by
/// every heap sooner or later: of 24 MB, 3 were in use. From now on there are few heaps, and what
/// is large is given back at once. To be called before there are other threads.
void limit_heaps();

}  // namespace cosmic::serve
