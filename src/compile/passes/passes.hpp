// All general passes. Each is one file; compile/pipeline.cpp puts them in order and says why.
#pragma once

#include "compile/optimizer.hpp"
#include "compile/pass.hpp"
#include "compile/precision.hpp"
#include "compile/target_info.hpp"
#include "graph/builder.hpp"

namespace cosmic::compile {

inline constexpr const char* kLossOutput = "loss";
/// Of a program that exchanges gradients: the sum of the losses of all processes, which says to all
/// of them whether the step counts.
inline constexpr const char* kLossOfAllOutput = "loss_of_all";
/// The name of what belongs to no layer but to the exchange.
inline constexpr const char* kExchangeScope = "exchange";
inline constexpr const char* kLearningRateInput = "learning_rate";
/// OptimizerConstants, where they are inputs.
inline constexpr const char* kOptimizerInput = "optimizer_constants";
/// AverageConstants, of a program that keeps moving averages of the weights.
inline constexpr const char* kAverageInput = "average_constants";
inline constexpr const char* kStepState = "optimizer/step";
/// What the loss is multiplied by, and how many good steps it has been so (LossScaling).
inline constexpr const char* kLossScaleState = "optimizer/loss_scale";
inline constexpr const char* kGoodStepsState = "optimizer/good_steps";
/// Of a program that updates with a scaled loss: the scale of the next step, and a number that is
/// not finite where the step was not made (Graph::gradient_guard).
inline constexpr const char* kLossScaleOutput = "loss_scale";
inline constexpr const char* kFiniteGradientsOutput = "finite_gradients";
/// Counts runs of a program that rounds stochastically.
inline constexpr const char* kRunsState = "optimizer/rounded_runs";

/// The name of the output that carries a parameter's gradient.
std::string gradient_name(const std::string& parameter);
/// The name of the state that adds up a parameter's gradient over several batches.
std::string accumulator_name(const std::string& parameter);
/// The name of the state that adds up those sums over several replicas.
std::string replica_sum_name(const std::string& parameter);
/// The name of an optimizer state of a parameter, such as "exp_avg".
std::string moment_name(const std::string& parameter, const std::string& moment);
/// The name of the state that keeps the moving average of a parameter or a buffer.
std::string average_name(const std::string& weight);
/// The weight that a state of this name is the average of; empty for other states.
std::string averaged_weight(const std::string& name);
/// Whether a state of this name is such a sum; between updates it is zero.
bool is_accumulator(const std::string& name);
/// Whether a state of this name belongs to the optimizer (a moment, a sum, a counter, the loss
/// scale, an average), not to the network.
bool is_optimizer_state(const std::string& name);

// --- rewrites of the network as it was written ---

/// A normalisation with fixed statistics after a convolution moves into its kernel and bias.
Pass fold_normalization();
/// A 1x1 convolution after an upsampling moves before it: a quarter of the work, the same result.
Pass commute_upsample_with_conv();
/// A 1x1 convolution of a concatenation becomes a sum of convolutions: no concatenated copy.
Pass split_conv_of_concat();

// --- from a network to a training step ---

/// Adds the gradient of the output `loss` with respect to every parameter, as outputs. With loss
/// scaling they are the scale times as large.
Pass differentiate(const LossScaling& scaling = {});
/// A bias in front of a normalisation with batch statistics has no effect on the loss: its gradient
/// is zero, and the sum over all pixels that would find that out is dropped.
Pass cancel_bias_before_normalization();
/// Statistics that are to be over all processes (graph::Over) are exchanged, forwards and
/// backwards; running statistics count the elements of all.
Pass synchronize_statistics(std::int64_t processes);
/// Is it such a statistic, not exchanged yet?
bool is_synchronized(const graph::Node& node);
/// Bytes of the buckets in which tensors of so many bytes would be exchanged, in their order.
std::vector<std::int64_t> bucket_bytes(std::span<const std::int64_t> tensors);
/// Adds up the gradient outputs over all processes, `factor` times each, in buckets, as numbers of
/// this format.
Pass exchange_gradients(double factor, NumberFormat format = NumberFormat::f32);
/// The same for any tensors of a program; in their place come the sums. In a program of a process
/// that is alone they are the tensors as they would have travelled.
std::vector<graph::ValueId> exchanged(graph::Builder& g, std::vector<graph::ValueId> tensors,
                                      const graph::AllReduce& how);
enum class Keep { nothing, gradients };
/// Turns the gradient outputs into updates of the parameters. `keep` also leaves them as outputs.
/// With loss scaling gradients are divided by the scale, updates wait until it is known that all of
/// them are finite, and the scale is updated too. Moving averages, where the rule has them, take
/// the weights as this update leaves them.
Pass apply_optimizer(const UpdateRule& rule, Keep keep, const LossScaling& scaling = {});
/// Turns the gradient outputs into updates of accumulators: sum += factor * gradient, as it would
/// travel: replicas of one process exchange nothing, but round as processes do. With loss scaling
/// the sums are of scaled gradients; what `keep` leaves is not scaled.
Pass accumulate_gradients(const graph::AllReduce& how, Keep keep, const LossScaling& scaling = {});
/// A program of its own: updates the parameters from the accumulators and clears them. `like` is
/// the differentiated graph that declares the parameters.
/// With Sums::of_all_processes the sums of all processes are added up first. `exchange` is the
/// format in which they travel, or would.
enum class Sums { own, of_all_processes };
/// Where its sums are: added up by each batch, or by each replica (replica_sum).
enum class AddedUpBy { batch, replica };
graph::Graph accumulated_update(const graph::Graph& like, const UpdateRule& rule,
                                const LossScaling& scaling = {}, Sums sums = Sums::own,
                                AddedUpBy added_up_by = AddedUpBy::batch,
                                NumberFormat exchange = NumberFormat::f32);
/// A program of its own: adds what the batches of a replica have added up to the sums of replicas,
/// and clears it. So replicas of one process add up gradients in the order in which processes do.
graph::Graph replica_sum(const graph::Graph& like, NumberFormat exchange = NumberFormat::f32);

// --- from a step to a plan ---

/// An addition to a convolution's result becomes the addend of that convolution.
Pass move_add_into_conv();
/// Drops what no output and no update depends on.
Pass drop_dead_nodes();
/// Gives values the formats they are written in, and layers rounded copies of their weights.
Pass assign_formats(const Precision& precision);
/// Puts the gradient of a convolution's kernel right after the gradient of its image, on which it
/// can then ride.
Pass pair_gradients();
/// Puts an exchange before the first convolution or product that follows what it takes, so that it
/// is on its way while the rest of the backward pass runs.
Pass start_exchanges_early();
/// Puts the update of a linear layer's weights right after their gradient, which is then still in
/// the cache, and whose room is free for others afterwards.
Pass update_weights_early();
/// Gives images the layout that the target wants, and puts a reorder where a plain value meets an
/// op that wants an image, or the other way round. In a U-ResNet that is once, at the logits, if
/// anyone asks.
Pass assign_layouts(const TargetInfo& target);
/// Decides which values get memory and which are recomputed, row by row, where they are read.
Pass choose_stored_values(const TargetInfo& target);
/// Keeps the results of these blocks for the backward pass; what else it needs of the forward pass
/// is computed again from them. Less memory, the same numbers.
Pass recompute_between_checkpoints(const std::vector<std::string>& blocks);

}  // namespace cosmic::compile
