// Starting work on a stream of CUDA. Compiled once for every kind of work, in the *_works.cu files.
#pragma once

#include "target/cuda/work.hpp"

struct CUstream_st;

namespace cosmic::target::cuda {

/// CUDA's own name for a stream and its errors, without its headers.
using Stream = CUstream_st*;
using CudaError = int;

/// Queues it. An error of an earlier work may show here.
template <class Kind>
CudaError launch(const Kind& work, Stream stream);

/// Brings the kernel's code to the current device, which CUDA otherwise does at the first launch.
template <class Kind>
CudaError load(const Kind& work);

#define COSMIC_CUDA_DECLARE(...)                                            \
  extern template CudaError launch(const __VA_ARGS__& work, Stream stream); \
  extern template CudaError load(const __VA_ARGS__& work);
COSMIC_CUDA_ALL_WORKS(COSMIC_CUDA_DECLARE)
#undef COSMIC_CUDA_DECLARE

}  // namespace cosmic::target::cuda
