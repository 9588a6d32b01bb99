// The open inference protocol v2 over HTTP, and on the management port load, unload and metrics.
#pragma once

#include "serve/http/message.hpp"
#include "serve/inference_service.hpp"
#include "serve/metrics_text.hpp"

namespace cosmic::serve::http {

/// For everybody: health, metadata, config, inference, statistics, the list of models.
class InferenceRoutes final : public Routes {
 public:
  explicit InferenceRoutes(InferenceService& service) : service_(service) {}

  std::optional<Answer> refuse(const Head& head) const override;
  Answer answer(const Head& head, std::string_view body,
                const std::function<bool()>& cancelled) override;
  Answer broken(int status) const override;
  void note_refused(const Head& head, const Answer& answer) override;

 private:
  Answer answer_model(const Head& head, const std::vector<std::string>& words,
                      std::string_view body, const std::function<bool()>& cancelled,
                      AccessRecord& record);
  Answer infer(const Head& head, const std::string& model, const std::string& version,
               std::string_view body, const std::function<bool()>& cancelled, AccessRecord& record);

  InferenceService& service_;
};

enum class ModelControl { none, explicit_requests };

/// For whoever runs the server: metrics, and, if allowed, load and unload.
class ManagementRoutes final : public Routes {
 public:
  ManagementRoutes(InferenceService& service, ModelControl control,
                   std::function<ServerGauges()> gauges)
      : service_(service), control_(control), gauges_(std::move(gauges)) {}

  std::optional<Answer> refuse(const Head& head) const override;
  Answer answer(const Head& head, std::string_view body,
                const std::function<bool()>& cancelled) override;
  Answer broken(int status) const override;
  void note_refused(const Head& head, const Answer& answer) override;

 private:
  Answer answer_checked(const Head& head);

  InferenceService& service_;
  ModelControl control_;
  std::function<ServerGauges()> gauges_;
};

}  // namespace cosmic::serve::http
