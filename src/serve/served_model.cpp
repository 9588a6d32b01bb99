#include "serve/served_model.hpp"

#include <utility>

#include "core/stopwatch.hpp"

namespace cosmic::serve {

ServedModel::ServedModel(ModelIdentity identity, const ServingOptions& options, ComputeSlots& slots,
                         const Scheduler::MakeRunner& make)
    : identity_(std::move(identity)),
      options_(options),
      shape_(data::dense_shape(options.grid, identity_.image_options.downsample)) {
  scheduler_ = std::make_unique<Scheduler>(
      SchedulerOptions{
          .replicas = options.replicas,
          .queue_events = options.queue_events,
          .delay = options.delay,
          .slots = &slots,
          .ran = [this](std::int64_t size, std::int64_t,
                        const BatchTimes& times) { statistics_.add_batch(size, times); }},
      make);
}

void ServedModel::tag(const std::shared_ptr<TaggingCall>& call,
                      const std::function<bool()>& cancelled) const {
  const Stopwatch watch;
  try {
    scheduler_->tag(call, cancelled);
    for (const EventWork& event : call->events) {
      if (event.refusal) {
        throw *event.refusal;
      }
    }
  } catch (const Refusal& refusal) {
    statistics_.add_failure(refusal.reason(), watch.seconds());
    throw;
  }
  statistics_.add_success(call->times, watch.seconds(), call->events.size());
}

}  // namespace cosmic::serve
