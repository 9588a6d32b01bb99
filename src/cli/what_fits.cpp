#include "cli/what_fits.hpp"

#include "cli/run_command.hpp"
#include "cli/standard_streams.hpp"
#include "run/fitting_batch.hpp"

namespace cosmic::cli {

void run_or_say_what_fits(const config::Configuration& configuration, TrainingPrograms programs,
                          const std::function<void()>& command) {
  try {
    command();
  } catch (const session::CapacityError& error) {
    tell("It does not fit; looking for settings that would ...\n");
    throw DoesNotFit(run::what_fits(configuration, programs, error));
  } catch (const HostMemoryError& error) {
    tell("It does not fit; looking for the largest batch that does ...\n");
    throw DoesNotFit(
        run::fitting_batch(configuration, programs, error, image_shape(configuration, {})));
  } catch (const session::DeviceMemoryError& error) {
    tell("It does not fit; looking for the largest batch that does ...\n");
    throw DoesNotFit(
        run::fitting_batch(configuration, programs, error,
                           monitor::Nvml().other_processes(error.plan().room.device.bus_id)));
  }
}

}  // namespace cosmic::cli
