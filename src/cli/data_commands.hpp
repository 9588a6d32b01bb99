// The verbs of `cosmictagger data`, one file each.
#pragma once

namespace cosmic::cli {

class Command;

void add_data_list(Command& data);
void add_data_check(Command& data);
void add_data_merge(Command& data);
void add_data_show(Command& data);

}  // namespace cosmic::cli
