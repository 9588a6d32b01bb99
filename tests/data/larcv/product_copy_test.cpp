// What a copy of a file has of it, and what it does not: inputs that the HDF5 library makes, with
// things in them that larcv3 never writes.
#include <gmock/gmock.h>
#include <hdf5.h>

#include <fstream>

#include "core/error.hpp"
#include "data/larcv/event_file_writer.hpp"
#include "data/larcv/failing_disk.hpp"
#include "data/larcv/hdf5/file.hpp"
#include "data/larcv/read_everything.hpp"
#include "data/larcv/unpacked_file.hpp"
#include "data/larcv/written_content.hpp"
#include "scratch_folder.hpp"

namespace cosmic::data::larcv {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::int64_t kEvents = 3;

/// An identifier of the library, of any kind.
class Handle {
 public:
  explicit Handle(hid_t id) : id_(id) { COSMIC_REQUIRE(InternalError, id >= 0, "HDF5 refuses"); }
  ~Handle() { H5Idec_ref(id_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
};

std::string bytes_of(const std::filesystem::path& path) {
  return content_of(path);
}

class CopyOf : public testing::Test {
 protected:
  CopyOf() {
    EventFileWriter writer(input_);
    for (std::int64_t number = 0; number < kEvents; ++number) {
      write(writer, some_event(number));
    }
    writer.commit();
  }

  /// Changes the input with the library.
  template <class Change>
  void change(const Change& change) {
    const Handle file(H5Fopen(input_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT));
    change(file);
  }

  std::vector<LeftOut> copy() {
    std::filesystem::remove(output_);
    EventFileWriter writer(output_);
    std::vector<LeftOut> left_out = writer.copy_products(input_);
    writer.commit();
    return left_out;
  }

  std::vector<std::string> products() const {
    ReadWarnings warnings;
    const EventFile file(output_, warnings);
    std::vector<std::string> names;
    for (const ProductName& product : file.products()) {
      names.push_back(product.producer);
    }
    return names;
  }

  static auto names(const std::string& what, const std::string& why) {
    return AllOf(Field(&LeftOut::what, HasSubstr(what)), Field(&LeftOut::why, HasSubstr(why)));
  }

  ScratchFolder folder_{"product_copy"};
  std::filesystem::path input_ = folder_ / "input.h5";
  std::filesystem::path output_ = folder_ / "output.h5";
};

TEST_F(CopyOf, a_larcv3_file_has_all_of_it) {
  EXPECT_THAT(copy(), IsEmpty());
  EXPECT_EQ(products().size(), 5U);
  const LarcvSource before({.files = {input_}});
  const LarcvSource after({.files = {output_}});
  SparseEvent a;
  SparseEvent b;
  for (std::int64_t entry = 0; entry < kEvents; ++entry) {
    before.reader()->read(entry, a);
    after.reader()->read(entry, b);
    EXPECT_EQ(a.id, b.id);
    EXPECT_EQ(a.image[1].ids, b.image[1].ids);
    EXPECT_EQ(a.image[1].values, b.image[1].values);
    EXPECT_EQ(a.labels[2].values, b.labels[2].values);
  }
  ReadWarnings warnings;
  read_products(output_, warnings);
  EXPECT_EQ(warnings.total(), 0U);
}

TEST_F(CopyOf, a_copy_is_the_copy) {
  copy();
  const std::string once = bytes_of(output_);
  std::filesystem::rename(output_, folder_ / "first.h5");
  input_ = folder_ / "first.h5";
  copy();
  EXPECT_TRUE(bytes_of(output_) == once);
}

TEST_F(CopyOf, an_external_or_soft_link_is_left_out_by_name) {
  std::ofstream(folder_ / "secret.h5") << "not for everybody";
  change([&](hid_t file) {
    const Handle data(H5Gopen2(file, "Data", H5P_DEFAULT));
    H5Lcreate_external("secret.h5", "/Data/all", data, "sparse2d_elsewhere_group", H5P_DEFAULT,
                       H5P_DEFAULT);
    H5Lcreate_soft("/Data/sparse2d_sbndwire_group", data, "sparse2d_soft_group", H5P_DEFAULT,
                   H5P_DEFAULT);
  });
  EXPECT_THAT(copy(),
              testing::UnorderedElementsAre(names("sparse2d_elsewhere_group", "an external link"),
                                            names("sparse2d_soft_group", "a soft link")));
  EXPECT_EQ(products().size(), 5U);
  EXPECT_THAT(bytes_of(output_), Not(HasSubstr("secret.h5")));
}

TEST_F(CopyOf, a_link_deep_in_a_product_takes_the_product_with_it) {
  change([&](hid_t file) {
    const Handle group(H5Gopen2(file, "Data/particle_sbndneutrino_group", H5P_DEFAULT));
    const Handle nested(H5Gcreate2(group, "nested", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Lcreate_external("secret.h5", "/x", nested, "link", H5P_DEFAULT, H5P_DEFAULT);
  });
  EXPECT_THAT(copy(), ElementsAre(names("particle_sbndneutrino_group", "is a group")));
  EXPECT_THAT(products(), Not(Contains("sbndneutrino")));
  EXPECT_THAT(bytes_of(output_), Not(HasSubstr("secret.h5")));
}

TEST_F(CopyOf, external_storage_is_left_out_by_name) {
  change([&](hid_t file) {
    const Handle group(
        H5Gcreate2(file, "Data/tensor2d_outside_group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    const Handle properties(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_external(properties, "/etc/passwd", 0, 80);
    const hsize_t rows = 10;
    const Handle space(H5Screate_simple(1, &rows, nullptr));
    const Handle table(
        H5Dcreate2(group, "image", H5T_STD_U64LE, space, H5P_DEFAULT, properties, H5P_DEFAULT));
  });
  EXPECT_THAT(copy(), ElementsAre(names("tensor2d_outside_group", "in other files")));
  EXPECT_THAT(bytes_of(output_), Not(HasSubstr("/etc/passwd")));
}

TEST_F(CopyOf, what_our_reader_does_not_know_is_left_out_by_name) {
  change([&](hid_t file) {
    const auto product = [&](const char* name, hid_t type, int dimensions, hid_t properties) {
      const Handle group(H5Gcreate2(file, ("Data/tensor2d_" + std::string(name) + "_group").c_str(),
                                    H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
      const hsize_t extents[] = {4, 4};
      const Handle space(H5Screate_simple(dimensions, extents, nullptr));
      const Handle table(
          H5Dcreate2(group, "image", type, space, H5P_DEFAULT, properties, H5P_DEFAULT));
    };
    const Handle text(H5Tcopy(H5T_C_S1));
    H5Tset_size(text, H5T_VARIABLE);
    product("texts", text, 1, H5P_DEFAULT);
    product("plane", H5T_IEEE_F32LE, 2, H5P_DEFAULT);
    const Handle named(H5Tcopy(H5T_IEEE_F32LE));
    H5Tcommit2(file, "Data/type", named, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    product("named", named, 1, H5P_DEFAULT);
    const Handle packed(H5Pcreate(H5P_DATASET_CREATE));
    const hsize_t chunk = 2;
    H5Pset_chunk(packed, 1, &chunk);
    H5Pset_scaleoffset(packed, H5Z_SO_INT, 0);
    product("packed", H5T_STD_I32LE, 1, packed);
    const Handle group(H5Gopen2(file, "Data", H5P_DEFAULT));
    H5Lcreate_hard(group, "sparse2d_sbndwire_group", group, "sparse2d_twice_group", H5P_DEFAULT,
                   H5P_DEFAULT);
    const Handle more(H5Gcreate2(file, "Extra", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  });
  EXPECT_THAT(copy(),
              testing::UnorderedElementsAre(
                  names("texts", "variable-length"), names("plane", "2 dimensions"),
                  names("'/Data/type'", "is not a group"), names("named", "shares its type"),
                  names("packed", "scaleoffset"), names("twice", "another name"),
                  names("'/Extra'", "larcv3 has nothing of that name")));
  EXPECT_EQ(products().size(), 5U);
}

TEST_F(CopyOf, tables_of_other_types_and_layouts_have_the_same_values) {
  const std::vector<std::int16_t> values{1, -2, 3, -4, 5, -6, 7};
  change([&](hid_t file) {
    const Handle group(
        H5Gcreate2(file, "Data/tensor1d_waves_group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    const hsize_t rows = values.size();
    const Handle space(H5Screate_simple(1, &rows, nullptr));
    const auto table = [&](const char* name, hid_t type, hid_t properties) {
      const Handle one(H5Dcreate2(group, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT));
      H5Dwrite(one, H5T_NATIVE_INT16, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    };
    table("contiguous", H5T_STD_I16BE, H5P_DEFAULT);
    const Handle compact(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_layout(compact, H5D_COMPACT);
    table("compact", H5T_IEEE_F64BE, compact);
    const Handle packed(H5Pcreate(H5P_DATASET_CREATE));
    const hsize_t chunk = 3;
    H5Pset_chunk(packed, 1, &chunk);
    H5Pset_shuffle(packed);
    H5Pset_deflate(packed, 7);
    H5Pset_fletcher32(packed);
    table("packed", H5T_STD_I32LE, packed);
  });
  EXPECT_THAT(copy(), IsEmpty());
  const Handle file(H5Fopen(output_.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  for (const char* name : {"contiguous", "compact", "packed"}) {
    const Handle table(
        H5Dopen2(file, ("Data/tensor1d_waves_group/" + std::string(name)).c_str(), H5P_DEFAULT));
    std::vector<std::int16_t> read(values.size());
    ASSERT_GE(H5Dread(table, H5T_NATIVE_INT16, H5S_ALL, H5S_ALL, H5P_DEFAULT, read.data()), 0);
    EXPECT_EQ(read, values) << name;
  }
  const Handle table(H5Dopen2(file, "Data/tensor1d_waves_group/packed", H5P_DEFAULT));
  const Handle properties(H5Dget_create_plist(table));
  EXPECT_EQ(H5Pget_nfilters(properties), 3);
}

TEST_F(CopyOf, simple_attributes_are_kept_and_others_named) {
  const std::array<double, 3> numbers{1.5, -2.5, 1e300};
  change([&](hid_t file) {
    const Handle group(H5Gopen2(file, "Data/particle_sbndneutrino_group", H5P_DEFAULT));
    const Handle table(H5Dopen2(group, "particles", H5P_DEFAULT));
    const hsize_t extent = numbers.size();
    const Handle list(H5Screate_simple(1, &extent, nullptr));
    const Handle single(H5Screate(H5S_SCALAR));
    const Handle fixed(H5Tcopy(H5T_C_S1));
    H5Tset_size(fixed, 6);
    const Handle variable(H5Tcopy(H5T_C_S1));
    H5Tset_size(variable, H5T_VARIABLE);
    for (const hid_t object : {file, static_cast<hid_t>(group), static_cast<hid_t>(table)}) {
      const Handle a(H5Acreate2(object, "numbers", H5T_IEEE_F64LE, list, H5P_DEFAULT, H5P_DEFAULT));
      H5Awrite(a, H5T_NATIVE_DOUBLE, numbers.data());
      const Handle b(H5Acreate2(object, "text", fixed, single, H5P_DEFAULT, H5P_DEFAULT));
      H5Awrite(b, fixed, "larcv");
    }
    const Handle c(H5Acreate2(group, "note", variable, single, H5P_DEFAULT, H5P_DEFAULT));
    const char* const note = "anything";
    H5Awrite(c, variable, &note);
  });
  EXPECT_THAT(copy(), ElementsAre(names("attribute 'note'", "variable-length")));
  const Handle file(H5Fopen(output_.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  for (const char* path :
       {"/", "Data/particle_sbndneutrino_group", "Data/particle_sbndneutrino_group/particles"}) {
    const Handle a(H5Aopen_by_name(file, path, "numbers", H5P_DEFAULT, H5P_DEFAULT));
    std::array<double, 3> read{};
    ASSERT_GE(H5Aread(a, H5T_NATIVE_DOUBLE, read.data()), 0);
    EXPECT_EQ(read, numbers);
    const Handle b(H5Aopen_by_name(file, path, "text", H5P_DEFAULT, H5P_DEFAULT));
    const Handle type(H5Aget_type(b));
    std::string text(H5Tget_size(type), '\0');
    ASSERT_GE(H5Aread(b, type, text.data()), 0);
    EXPECT_STREQ(text.c_str(), "larcv");
  }
}

TEST_F(CopyOf, a_damaged_chunk_is_an_error_that_names_input_table_and_chunk) {
  const UnpackedFile damaged("deflate_stream_damaged_in_event_1.h5");
  EventFileWriter writer(output_);
  try {
    writer.copy_products(damaged.path());
    FAIL() << "no error";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("deflate_stream_damaged_in_event_1.h5: table "),
                                    HasSubstr("/voxels': chunk 2 is not a valid deflate stream")));
  }
}

// The HDF5 library opened these and crashed on some.
TEST_F(CopyOf, any_broken_file_is_one_that_can_be_read_or_a_data_error) {
  std::size_t copied = 0;
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kBrokenFolder)) {
    if (entry.path().extension() != ".gz") {
      continue;
    }
    const UnpackedFile file(entry.path().stem().string());
    std::filesystem::remove(output_);
    ++files;
    try {
      EventFileWriter writer(output_);
      writer.copy_products(file.path());
      writer.commit();
      ++copied;
    } catch (const DataError& error) {
      EXPECT_THAT(error.what(), HasSubstr(file.path().string()));
      EXPECT_FALSE(std::filesystem::exists(output_)) << file.path();
      continue;
    }
    ReadWarnings warnings;
    const EventFile output(output_, warnings);
    EXPECT_GE(output.size(), 0) << file.path();
  }
  EXPECT_GE(files, 150U);
  EXPECT_GE(copied, 50U);
}

// Headers that refer to each other would keep a reader busy for ever.
TEST_F(CopyOf, descriptions_many_times_as_large_as_the_file_are_refused) {
  const hdf5::File file(input_);
  const std::size_t piece = static_cast<std::size_t>(file.bytes());
  std::size_t read = 0;
  try {
    while (read < (std::size_t{1} << 30)) {
      read += file.read(0, piece, "a header").size();
    }
    FAIL() << "no error";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("refer to each other in circles"));
  }
  EXPECT_GE(read, 16 * piece);
}

// Every write, every change of the size and every sync of a whole copy with an added product fails
// once. The library crashed when it was told.
TEST_F(CopyOf, a_disk_that_fails_at_any_operation_is_a_data_error_and_leaves_nothing) {
  std::size_t operation = 0;
  for (bool failed = true; failed; ++operation) {
    FailingDisk disk(operation, operation % 2 == 0 ? ENOSPC : EIO);
    try {
      EventFileWriter writer(output_, {.files = disk});
      writer.copy_products(input_);
      for (std::int64_t number = 0; number < kEvents; ++number) {
        const WrittenEvent event = some_event(number);
        writer.begin_event(event.pixels.id);
        writer.write_sparse("cosmic_prediction", event.pixels.image);
      }
      writer.commit();
      EXPECT_FALSE(disk.failed()) << "operation " << operation;
    } catch (const DataError& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr("output.h5: cannot be written"),
                                      HasSubstr(operation % 2 == 0 ? "No space left on device"
                                                                   : "Input/output error")));
      EXPECT_THAT(folder_.names(), ElementsAre("input.h5")) << "operation " << operation;
    }
    failed = disk.failed();
  }
  EXPECT_GT(operation, 10U);
  ReadWarnings warnings;
  read_products(output_, warnings);
  EXPECT_EQ(warnings.total(), 0U);
}

}  // namespace
}  // namespace cosmic::data::larcv
