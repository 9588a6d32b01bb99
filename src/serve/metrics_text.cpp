#include "serve/metrics_text.hpp"

#include <functional>
#include <sstream>

namespace cosmic::serve {
namespace {

struct OfModel {
  std::string labels;  ///< model="sbnd",version="1"
  ModelStatistics statistics;
  std::int64_t waiting;
};

class Page {
 public:
  Page() {
    // Of the six digits that streams write, a sum of days would not show what a minute added.
    constexpr int kDigits = 15;
    text_.precision(kDigits);
  }
  void family(const char* name, const char* type, const char* meaning) {
    text_ << "# HELP " << name << ' ' << meaning << "\n# TYPE " << name << ' ' << type << '\n';
  }
  template <class Number>
  void value(const std::string& name, const std::string& labels, Number number) {
    text_ << name;
    if (!labels.empty()) {
      text_ << '{' << labels << '}';
    }
    text_ << ' ' << number << '\n';
  }
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
};

constexpr std::uint64_t kNanosecondsPerMicrosecond = 1000;
constexpr double kNanosecondsPerSecond = 1e9;

}  // namespace

std::string metrics_text(const ModelRepository& models, const ServerGauges& gauges) {
  std::vector<OfModel> all;
  for (const auto& model : models.all()) {
    all.push_back(
        {"model=\"" + model->name() + "\",version=\"" + std::to_string(model->version()) + "\"",
         model->statistics(), model->waiting()});
  }
  Page page;
  const auto counter = [&](const char* name, const char* meaning,
                           const std::function<std::uint64_t(const ModelStatistics&)>& of) {
    page.family(name, "counter", meaning);
    for (const OfModel& model : all) {
      page.value(name, model.labels, of(model.statistics));
    }
  };
  const auto microseconds = [](const CountedTime& time) {
    return time.nanoseconds / kNanosecondsPerMicrosecond;
  };
  counter("nv_inference_request_success", "Number of successful inference requests",
          [](const ModelStatistics& s) { return s.success.count; });
  page.family("nv_inference_request_failure", "counter", "Number of failed inference requests");
  for (const OfModel& model : all) {
    for (const Reason reason :
         {Reason::invalid, Reason::too_large, Reason::overloaded, Reason::unavailable,
          Reason::deadline, Reason::cancelled, Reason::internal}) {
      const auto failed = model.statistics.failures.find(reason);
      page.value("nv_inference_request_failure",
                 model.labels + ",reason=\"" + std::string(to_string(reason)) + "\"",
                 failed == model.statistics.failures.end() ? 0 : failed->second.count);
    }
  }
  counter("nv_inference_count", "Number of events tagged",
          [](const ModelStatistics& s) { return s.inferences; });
  counter("nv_inference_exec_count", "Number of batches computed",
          [](const ModelStatistics& s) { return s.executions; });
  counter("nv_inference_request_duration_us", "Cumulative time of requests, in microseconds",
          [&](const ModelStatistics& s) { return microseconds(s.success); });
  counter("nv_inference_queue_duration_us", "Cumulative time in the queue, in microseconds",
          [&](const ModelStatistics& s) { return microseconds(s.queue); });
  counter("nv_inference_compute_input_duration_us", "Cumulative time to make images, microseconds",
          [&](const ModelStatistics& s) { return microseconds(s.input); });
  counter("nv_inference_compute_infer_duration_us", "Cumulative time of the network, microseconds",
          [&](const ModelStatistics& s) { return microseconds(s.infer); });
  counter("nv_inference_compute_output_duration_us", "Cumulative time to make scores, microseconds",
          [&](const ModelStatistics& s) { return microseconds(s.output); });
  page.family("nv_inference_pending_request_count", "gauge", "Events that wait in the queue");
  for (const OfModel& model : all) {
    page.value("nv_inference_pending_request_count", model.labels, model.waiting);
  }
  page.family("cosmic_request_duration_seconds", "histogram", "Time of successful requests");
  for (const OfModel& model : all) {
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < kDurationBuckets.size(); ++i) {
      below += model.statistics.durations[i];
      std::ostringstream bound;
      bound << kDurationBuckets[i];
      page.value("cosmic_request_duration_seconds_bucket",
                 model.labels + ",le=\"" + bound.str() + "\"", below);
    }
    below += model.statistics.durations.back();
    page.value("cosmic_request_duration_seconds_bucket", model.labels + ",le=\"+Inf\"", below);
    page.value("cosmic_request_duration_seconds_sum", model.labels,
               static_cast<double>(model.statistics.success.nanoseconds) / kNanosecondsPerSecond);
    page.value("cosmic_request_duration_seconds_count", model.labels, below);
  }
  page.family("cosmic_batches_total", "counter", "Batches computed, by their size");
  for (const OfModel& model : all) {
    for (const auto& [size, batch] : model.statistics.batches) {
      page.value("cosmic_batches_total", model.labels + ",size=\"" + std::to_string(size) + "\"",
                 batch.infer.count);
    }
  }
  page.family("cosmic_connections", "gauge", "Open connections");
  page.value("cosmic_connections", "", gauges.connections);
  page.family("cosmic_connections_refused_total", "counter", "Connections beyond the limit");
  page.value("cosmic_connections_refused_total", "", gauges.connections_refused);
  page.family("cosmic_request_body_bytes", "gauge", "Memory of requests that are being read");
  page.value("cosmic_request_body_bytes", "", gauges.body_bytes);
  page.family("cosmic_access_log_lines_lost_total", "counter", "Lines that could not be written");
  page.value("cosmic_access_log_lines_lost_total", "", gauges.log_lines_lost);
  return page.text();
}

}  // namespace cosmic::serve
