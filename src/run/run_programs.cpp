#include "run/run_programs.hpp"

#include "run/run_choices.hpp"

namespace cosmic::run {

RunPrograms::RunPrograms(const config::Configuration& configuration, const std::string& target,
                         const data::DenseShape& shape,
                         const std::function<void(double done, const std::string& what)>& progress)
    : network_(configuration.network), loss_(loss_of(configuration.mode.optimizer)) {
  const session::BatchTypes types = batch_types(configuration, shape);
  // A run looks for its programs in a file; here they are made.
  config::Configuration compiled_here = configuration;
  compiled_here.run.executable.clear();
  if (configuration.mode.name == config::Mode::train) {
    session::Options options = training_options(compiled_here, target);
    options.progress = progress;
    training_.emplace(network_, loss_, optimizer_of(configuration.mode.optimizer), options);
    add_compiled(*training_, types);
    validation_.emplace(network_, loss_, validation_options(compiled_here, target),
                        training_->state());
    add_compiled(*validation_, types);
  } else {
    session::Options options = inference_options(compiled_here, target);
    options.progress = progress;
    inference_.emplace(network_, options);
    add_compiled(*inference_, types.image);
  }
}

template <class Model, class Types>
void RunPrograms::add_compiled(Model& model, const Types& types) {
  const session::CompileReport& report = model.compile(types);
  seconds_ += report.seconds;
  provenance_ = report.provenance;
  memory_bytes_ += report.memory_bytes;
  const std::vector<const compile::Plan*> plans = model.plans();
  plans_.insert(plans_.end(), plans.begin(), plans.end());
}

}  // namespace cosmic::run
