// The verbs of `cosmictagger data`, one file each.
#pragma once

namespace CLI {
class App;
}

namespace cosmic::cli {

void add_data_list(CLI::App& data);
void add_data_check(CLI::App& data);
void add_data_show(CLI::App& data);

}  // namespace cosmic::cli
