#include "core/yaml/yaml_tree.hpp"

#include <fmt/core.h>
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <sstream>

#include "core/error.hpp"
#include "core/printable.hpp"

namespace cosmic {
namespace {

constexpr std::size_t kDeepest = 8;       // settings have four levels
constexpr std::size_t kMostNodes = 4096;  // and a full recipe some two hundred values

constexpr std::size_t kMostBytes = 1 << 20;

[[noreturn]] void fail(const std::string& name, const YAML::Mark& mark,
                       const std::string& message) {
  throw UserError(fmt::format("{}:{}: {}", name, mark.line + 1, message));
}

/// Builds the tree as yaml-cpp reads. Its own trees resolve aliases, and its reader of all
/// documents never ends on some short texts.
class TreeBuilder final : public YAML::EventHandler {
 public:
  explicit TreeBuilder(const std::string& name) : name_(name) {}

  YamlNode take_root() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
    add(mark, {.kind = YamlNode::Kind::nothing});
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                const std::string& value) override {
    require_no_tag(mark, tag);
    add(mark, {.kind = YamlNode::Kind::word, .text = value});
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    fail(name_, mark,
         "this is a reference to another part of the file (aliases are not supported); write the "
         "value itself");
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    begin(mark, tag, YamlNode::Kind::list);
  }
  void OnSequenceEnd() override { end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    begin(mark, tag, YamlNode::Kind::map);
  }
  void OnMapEnd() override { end(); }

 private:
  void begin(const YAML::Mark& mark, const std::string& tag, YamlNode::Kind kind) {
    require_no_tag(mark, tag);
    if (open_.size() == kDeepest) {
      fail(name_, mark, "this is nested too deeply for settings");
    }
    count(mark);
    open_.push_back({.kind = kind, .line = mark.line + 1});
  }

  void end() {
    YamlNode node = std::move(open_.back());
    open_.pop_back();
    place(std::move(node));
  }

  void add(const YAML::Mark& mark, YamlNode node) {
    count(mark);
    node.line = mark.line + 1;
    place(std::move(node));
  }

  void place(YamlNode node) {
    (open_.empty() ? root_ : open_.back().items.emplace_back()) = std::move(node);
  }

  void count(const YAML::Mark& mark) {
    if (++nodes_ > kMostNodes) {
      fail(name_, mark, "this file is too large for settings; is it the right one?");
    }
  }

  void require_no_tag(const YAML::Mark& mark, const std::string& tag) const {
    const bool none = tag.empty() || tag == "?" || tag == "!";  // yaml-cpp's for plain and quoted
    if (!none) {
      fail(name_, mark,
           "this has the tag " + printable(tag) +
               " (values are plain text here); write only the value");
    }
  }

  const std::string& name_;
  YamlNode root_;
  std::vector<YamlNode> open_;  ///< lists and maps that are not complete, the innermost last
  std::size_t nodes_ = 0;
};

}  // namespace

YamlNode parse_yaml(std::string_view text, const std::string& name) {
  COSMIC_REQUIRE(UserError, text.size() <= kMostBytes,
                 name << " has " << text.size() << " bytes (settings have at most " << kMostBytes
                      << "); is it the right file?");
  // yaml-cpp takes a quote that is never closed for closed by the last line break, and all lines in
  // between for its text; without that line break it notices.
  std::istringstream stream(std::string(text.substr(0, text.find_last_not_of(" \r\n") + 1)));
  try {
    YAML::Parser parser(stream);
    TreeBuilder first(name);
    parser.HandleNextDocument(first);
    TreeBuilder second(name);
    COSMIC_REQUIRE(UserError, !parser.HandleNextDocument(second),
                   name << ": the file continues after the end of the settings (they are one YAML "
                        << "document); remove what follows, and any line '---'");
    return first.take_root();
  } catch (const YAML::DeepRecursion& error) {
    fail(name, error.mark, "this is nested too deeply for settings");
  } catch (const YAML::Exception& error) {
    fail(name, error.mark, "this is not YAML: " + printable(error.msg));
  }
}

}  // namespace cosmic
