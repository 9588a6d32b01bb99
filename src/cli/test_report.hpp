// What `cosmictagger test` prints.
#pragma once

#include <string>

#include "run/target_test.hpp"

namespace cosmic::cli {

enum class TestRows { by_layer, by_value, json };

/// A table and a summary under the title, or every value as JSON. Throws ExitStatus with status 1
/// if a value is wrong.
void report_test(const run::TargetTest& test, const std::string& title, TestRows rows);

}  // namespace cosmic::cli
