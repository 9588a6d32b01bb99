#include "serve/inference_service.hpp"

#include <new>

#include "core/stopwatch.hpp"

namespace cosmic::serve {

void InferenceService::require_token(std::string_view authorization_header) const {
  require(!options_.token || options_.token->is_in(authorization_header), Reason::unauthenticated,
          "this server needs a token; send the header Authorization: Bearer TOKEN");
}

ServiceAnswer InferenceService::infer(const std::string& name, const std::string& version,
                                      const std::function<InferRequest()>& decode,
                                      const std::function<bool()>& cancelled) {
  require(ready(), Reason::unavailable, "the server is ending; ask another one");
  ServiceAnswer answer;
  answer.model = models_.find(name, version);
  const Stopwatch watch;
  PreparedCall prepared;
  try {
    InferRequest request = decode();
    if (request.timeout_microseconds == 0) {
      request.timeout_microseconds = options_.timeout_microseconds;
    }
    prepared = prepare(request, *answer.model, options_.limits);
    answer.id = request.id;
  } catch (const Refusal& refusal) {
    answer.model->count_refused(refusal.reason(), watch.seconds());
    throw;
  } catch (const std::bad_alloc&) {
    answer.model->count_refused(Reason::overloaded, watch.seconds());
    throw Refusal(Reason::overloaded, "there is no memory for the request; try again later");
  }
  answer.model->tag(prepared.call, cancelled);
  answer.events = static_cast<std::int64_t>(prepared.call->events.size());
  answer.times = prepared.call->times;
  answer.outputs = answer_of(prepared, *answer.model);
  return answer;
}

}  // namespace cosmic::serve
