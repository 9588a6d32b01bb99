#include "config/seeds.hpp"

#include "core/error.hpp"

namespace cosmic::config {
namespace {

void take_where_any(std::int64_t& seed, std::int64_t other) {
  seed = seed == 0 ? other : seed;
}

}  // namespace

void keep_seeds(Configuration& configuration, const Configuration& before) {
  take_where_any(configuration.run.seed, before.run.seed);
  take_where_any(configuration.data.seed, before.data.seed);
  take_where_any(configuration.framework.seed, before.framework.seed);
}

void settle_seeds(Configuration& configuration, std::int64_t fresh) {
  COSMIC_ASSERT(fresh > 0);
  take_where_any(configuration.run.seed, fresh);
  take_where_any(configuration.data.seed, configuration.run.seed);
  take_where_any(configuration.framework.seed, configuration.run.seed);
}

}  // namespace cosmic::config
