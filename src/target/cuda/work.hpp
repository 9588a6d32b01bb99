// Everything that can be put on a device's queue. A kernel that is not in this list does not exist:
// the CUDA sources launch exactly these, and the tests run exactly these on the host.
#pragma once

#include <variant>

#include "target/cuda/kernels/arrange_images.hpp"
#include "target/cuda/kernels/arrangement.hpp"
#include "target/cuda/kernels/joined.hpp"
#include "target/cuda/kernels/kernel_gradient_tile.hpp"
#include "target/cuda/kernels/linear.hpp"
#include "target/cuda/kernels/loss.hpp"
#include "target/cuda/kernels/loss_scale.hpp"
#include "target/cuda/kernels/normalization.hpp"
#include "target/cuda/kernels/optimizer.hpp"
#include "target/cuda/kernels/pixel_works.hpp"
#include "target/cuda/kernels/pointwise.hpp"

/// What is compiled together, each list in a file of its own: calls entry(a) for each work.
#define COSMIC_CUDA_TILE_WORKS(entry) \
  entry(ConvTile) entry(KernelGradientTile) entry(JoinKernelGradient) entry(SumPixels)

#define COSMIC_CUDA_REDUCTION_WORKS(entry)                                \
  entry(Reduction<ChannelSumBody>) entry(Reduction<EvenClassWeightsBody>) \
      entry(Reduction<SegmentationSumsBody>) entry(Reduction<NegativeLogLikelihoodBody>) \
          entry(Reduction<MatMulSumBody>)

#define COSMIC_CUDA_IMAGE_WORKS(entry)                                     \
  entry(PixelMap<EvaluateBody>) entry(PixelMap<MaxPoolGradientPixelsBody>) \
      entry(PixelMap<UpsampleGradientPixelsBody>) entry(Map<PackWeightsBody>)

#define COSMIC_CUDA_ARRANGE_WORKS(entry) \
  entry(Map<ArrangeBody>) entry(Map<SegmentationGradientBody>)

#define COSMIC_CUDA_NUMBER_WORKS(entry)                                                            \
  entry(Map<AddBody>) entry(Map<ScaleBody>) entry(Map<LeakyReluBody>)                              \
      entry(Map<LeakyReluGradientBody>) entry(Map<ChannelBiasBody>) entry(Map<ChannelAffineBody>)  \
          entry(Map<ChannelScaleBody>) entry(Map<RoundBody>) entry(Map<PoolStatisticsBody>) entry( \
              Map<IncrementBody>) entry(Map<ScaleFiltersBody>) entry(Map<NormCoefficientsBody>)    \
              entry(Map<NormStatisticsGradientBody>) entry(Map<NormParameterGradientBody>)         \
                  entry(Map<RunningUpdateBody>) entry(Map<MatMulBody>) entry(Map<SoftmaxBody>)     \
                      entry(Map<SoftmaxGradientBody>) entry(Map<FixedClassWeightsBody>)            \
                          entry(Map<WeightedMeanBody>) entry(Map<WeightedMeanGradientBody>)        \
                              entry(Map<SegmentationScoresBody>)                                   \
                                  entry(Map<NegativeLogLikelihoodGradientBody>)                    \
                                      entry(Map<MomentBody>) entry(Map<AdamStepBody>)              \
                                          entry(Map<RmspropStepBody>) entry(Map<SgdStepBody>)      \
                                              entry(Map<RestateStatisticsBody>)

#define COSMIC_CUDA_SCALING_WORKS(entry)                                                \
  entry(Reduction<AllFiniteBody>) entry(Map<UnscaleBody>) entry(Map<NextLossScaleBody>) \
      entry(Map<GoodStepsBody>)

#define COSMIC_CUDA_MOVING_WORKS_OF(entry, Element)                                        \
  entry(Map<CopyBody<Element>>) entry(Map<PutBody<Element>>) entry(Map<TakeBody<Element>>) \
      entry(Map<EmbedBody<Element>>) entry(Map<SwapAxesBody<Element>>)

#define COSMIC_CUDA_MOVING_WORKS(entry)                                 \
  COSMIC_CUDA_MOVING_WORKS_OF(entry, std::uint8_t)                      \
  COSMIC_CUDA_MOVING_WORKS_OF(entry, std::uint32_t)                     \
  COSMIC_CUDA_MOVING_WORKS_OF(entry, std::uint64_t)                     \
  entry(Map<SwapAxesBody<Words<4>>>)                                    \
  entry(Map<FillBody<float>>) entry(Map<FillBody<std::int64_t>>)        \
      entry(Map<FillBody<std::uint8_t>>) entry(Map<ScatterBody<float>>) \
          entry(Map<ScatterBody<std::int64_t>>) entry(Map<ScatterBody<std::uint8_t>>)

#define COSMIC_CUDA_ALL_WORKS(entry) \
  entry(Joined)                      \
  COSMIC_CUDA_TILE_WORKS(entry)      \
  COSMIC_CUDA_REDUCTION_WORKS(entry) \
  COSMIC_CUDA_IMAGE_WORKS(entry)     \
  COSMIC_CUDA_ARRANGE_WORKS(entry)   \
  COSMIC_CUDA_NUMBER_WORKS(entry)    \
  COSMIC_CUDA_SCALING_WORKS(entry)   \
  COSMIC_CUDA_MOVING_WORKS(entry)

namespace cosmic::target::cuda {

/// Stands before the list, each entry of which begins with a comma.
struct NoWork {};

template <class None, class... Works>
using WorkOf = std::variant<Works...>;

#define COSMIC_CUDA_NEXT(...) , __VA_ARGS__
using Work = WorkOf<NoWork COSMIC_CUDA_ALL_WORKS(COSMIC_CUDA_NEXT)>;
#undef COSMIC_CUDA_NEXT

}  // namespace cosmic::target::cuda
