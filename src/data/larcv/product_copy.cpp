#include "data/larcv/product_copy.hpp"

#include <algorithm>
#include <string>

#include "data/larcv/hdf5_record_type.hpp"

namespace cosmic::data::larcv {
namespace {

std::string path_in(std::string group, const std::string& name) {
  return group.append("/").append(name);
}

std::vector<std::string> names_in(const Hdf5Group& group, const std::string& where) {
  std::vector<std::string> names;
  const auto take = [](hid_t, const char* name, const H5L_info_t* link, void* to) -> herr_t {
    const std::string entry = link->type == H5L_TYPE_HARD ? name : "";
    static_cast<std::vector<std::string>*>(to)->push_back(entry);
    return 0;
  };
  hsize_t position = 0;
  require_hdf5(H5Literate(group.get(), H5_INDEX_NAME, H5_ITER_INC, &position, take, &names) >= 0,
               "list " + where);
  COSMIC_REQUIRE(DataError, std::find(names.begin(), names.end(), "") == names.end(),
                 where << ": holds a link to elsewhere (it could bring in any file of this "
                          "machine); copy what it points to into the file");
  return names;
}

void copy_object(const Hdf5Group& from, const std::string& name, const Hdf5Group& to,
                 const std::string& where) {
  require_hdf5(
      H5Ocopy(from.get(), name.c_str(), to.get(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT) >= 0,
      "copy " + where);
}

std::vector<EventIdRow> read_event_ids(const Hdf5Group& events, const std::string& where) {
  const std::string doing = "read " + where;
  const Hdf5Dataset table(H5Dopen2(events.get(), std::string(kEventIdTable).c_str(), H5P_DEFAULT),
                          doing);
  const Hdf5Space space(H5Dget_space(table.get()), doing);
  hsize_t rows = 0;
  require_hdf5(H5Sget_simple_extent_ndims(space.get()) == 1 &&
                   H5Sget_simple_extent_dims(space.get(), &rows, nullptr) >= 0,
               doing);
  std::vector<EventIdRow> ids(rows);
  require_hdf5(H5Dread(table.get(), hdf5_record_type<EventIdRow>().get(), H5S_ALL, H5S_ALL,
                       H5P_DEFAULT, ids.data()) >= 0,
               doing);
  return ids;
}

}  // namespace

std::vector<EventIdRow> copy_stored_products(const std::filesystem::path& input,
                                             const OutputGroups& output,
                                             std::span<const ProductName> except) {
  const std::string events_path = input.string() + ": /" + std::string(kEventsGroup);
  const std::string data_path = input.string() + ": /" + std::string(kDataGroup);
  const Hdf5File file(H5Fopen(input.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT),
                      "open " + input.string());
  names_in(Hdf5Group(H5Gopen2(file.get(), "/", H5P_DEFAULT), "open " + input.string()),
           input.string());
  const Hdf5Group events(H5Gopen2(file.get(), std::string(kEventsGroup).c_str(), H5P_DEFAULT),
                         "open " + events_path);
  const Hdf5Group data(H5Gopen2(file.get(), std::string(kDataGroup).c_str(), H5P_DEFAULT),
                       "open " + data_path);
  names_in(events, events_path);
  for (const std::string& name : names_in(data, data_path)) {
    const std::string where = path_in(data_path, name);
    const std::optional<ProductName> product = parse_group_name(name);
    if (product && std::find(except.begin(), except.end(), *product) != except.end()) {
      continue;
    }
    names_in(Hdf5Group(H5Gopen2(data.get(), name.c_str(), H5P_DEFAULT), "open " + where), where);
    copy_object(data, name, output.data, where);
  }
  const std::string ids_path = path_in(events_path, std::string(kEventIdTable));
  copy_object(events, std::string(kEventIdTable), output.events, ids_path);
  return read_event_ids(events, ids_path);
}

}  // namespace cosmic::data::larcv
