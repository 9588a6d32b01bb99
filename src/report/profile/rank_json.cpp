#include <nlohmann/json.hpp>

#include "core/config.hpp"
#include "report/profile/rank_profile.hpp"

namespace cosmic::report::profile {
namespace {

using Json = nlohmann::ordered_json;

// Raised when a reader of the old files would misread the new ones.
constexpr int kRankFormatVersion = 1;

Json json_of(const std::vector<UpdateSpread>& updates) {
  Json list = Json::array();
  for (const UpdateSpread& update : updates) {
    list.push_back({{"step", update.step},
                    {"slowest_rank", update.slowest_rank},
                    {"fastest_seconds", update.fastest},
                    {"median_seconds", update.median},
                    {"slowest_seconds", update.slowest}});
  }
  return list;
}

}  // namespace

std::string to_json(const RankProfile& profile) {
  Json json;
  json["format"] = "cosmictagger ranks";
  json["format_version"] = kRankFormatVersion;
  json["program"] = "cosmictagger " + std::string(version);
  json["revision"] = revision;
  json["date"] = profile.facts.date;
  json["run"] = profile.facts.run_id;
  json["network"] = profile.facts.network;
  json["data"] = profile.facts.data;
  json["provenance"] = profile.provenance == Provenance::measured ? to_string(profile.provenance)
                                                                  : std::string(kHostClockMark);
  json["threads_per_rank"] = profile.threads;
  json["updates"] = profile.updates;
  json["slowest_rank"] = profile.slowest();
  json["slowest_over_median"] = profile.slowest_factor();
  json["ranks"] = Json::array();
  for (std::size_t rank = 0; rank < profile.ranks.size(); ++rank) {
    const RankTimes& times = profile.ranks[rank];
    json["ranks"].push_back({{"rank", rank},
                             {"host", times.host},
                             {"profile", times.page},
                             {"seconds", times.all()},
                             {"computing_seconds", times.computing},
                             {"waiting_for_data_seconds", times.data},
                             {"writing_seconds", times.writing},
                             {"exchange_seconds", times.exchange},
                             {"waiting_for_others_seconds", times.waiting},
                             {"starting_seconds", times.starting}});
  }
  json["widest_updates"] = json_of(profile.widest);
  json["latest_updates"] = json_of(profile.latest);
  json["configuration"] = profile.facts.configuration;
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace cosmic::report::profile
