// Operations by kind and one by one, sorted by time, by bytes and by arithmetic. The page has no
// scripts: each order is a table of its own, and a choice above shows one of them.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>

#include "report/page/layer_text.hpp"
#include "report/page/markup.hpp"
#include "report/page/quantity_text.hpp"
#include "report/prediction/marked.hpp"
#include "report/prediction/page_sections.hpp"

namespace cosmic::report::prediction {
namespace {

using machine::ModelledBytes;
using machine::ModelledTime;
using machine::OpTime;
using machine::Prediction;

constexpr std::size_t kShownOps = 20;
constexpr std::size_t kShownKinds = 11;  // with a hue of their own; others share the last
const std::string kNone = "\xe2\x80\x93";

/// Ops of one kind, or one op.
struct Row {
  std::string layer;
  std::string op;
  std::string bound;
  std::size_t ops = 1;
  double seconds = 0;
  double flops = 0;
  double moved = 0;
  double result = 0;

  void add(const Row& other) {
    ops += other.ops;
    seconds += other.seconds;
    flops += other.flops;
    moved += other.moved;
    result += other.result;
  }
};

struct Order {
  const char* id;
  const char* name;
  double Row::*key;
};

constexpr std::array kOrders{Order{"by-time", "by time", &Row::seconds},
                             Order{"by-memory", "by memory", &Row::result},
                             Order{"by-traffic", "by bytes moved", &Row::moved},
                             Order{"by-flops", "by arithmetic", &Row::flops}};

Row row_of(const OpTime& op) {
  return {op.layer,
          op.op,
          machine::to_string(op.bound),
          1,
          op.time.modelled_seconds(),
          op.flops,
          op.moved.modelled_bytes(),
          op.result.modelled_bytes()};
}

std::vector<Row> rows_by_kind(const Prediction& prediction) {
  std::map<std::string, Row> kinds;
  for (const OpTime& op : prediction.ops) {
    const Row one = row_of(op);
    const auto [at, is_new] = kinds.try_emplace(op.op, one);
    if (!is_new) {
      at->second.add(one);
    }
  }
  std::vector<Row> rows;
  for (const auto& [name, row] : kinds) {
    rows.push_back(row);
  }
  return rows;
}

void sort_by(std::vector<Row>& rows, double Row::*key) {
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const Row& a, const Row& b) { return a.*key > b.*key; });
}

/// What readers recompute has no bytes of its own.
std::string bytes_text(double bytes) {
  return bytes > 0 ? modelled(ModelledBytes(bytes)) : kNone;
}

/// A cell with a bar as long as its share of the largest; the bar of the sorted column is darker.
std::string cell(const std::string& text, double value, double most, bool sorted) {
  return fmt::format("<td class=\"bar{}\">{}<i style=\"width:{:.1f}%\"></i></td>",
                     sorted ? " sorted" : "", text, most > 0 ? 100 * value / most : 0);
}

class OpTable {
 public:
  OpTable(const std::vector<Row>& rows, double Row::*sorted, double whole_seconds)
      : sorted_(sorted), whole_seconds_(whole_seconds) {
    for (const Row& row : rows) {
      most_.seconds = std::max(most_.seconds, row.seconds);
      most_.flops = std::max(most_.flops, row.flops);
      most_.moved = std::max(most_.moved, row.moved);
      most_.result = std::max(most_.result, row.result);
    }
  }

  std::string figures(const Row& row) const {
    return cell(modelled(ModelledTime(row.seconds)), row.seconds, most_.seconds,
                sorted_ == &Row::seconds) +
           "<td>" + modelled_share(row.seconds / whole_seconds_, 1) + "</td>" +
           cell(bytes_text(row.result), row.result, most_.result, sorted_ == &Row::result) +
           cell(bytes_text(row.moved), row.moved, most_.moved, sorted_ == &Row::moved) +
           cell(row.flops > 0 ? given(page::quantity_text(row.flops, "FLOP")) : kNone, row.flops,
                most_.flops, sorted_ == &Row::flops);
  }

  static std::string head(const std::string& first) {
    return "<div tabindex=\"0\" class=\"scroll figures\"><table><thead><tr>" + first +
           "<th scope=\"col\">time</th><th scope=\"col\">of all ops</th><th "
           "scope=\"col\">result</th><th scope=\"col\">moved</th><th "
           "scope=\"col\">arithmetic</th></tr></thead><tbody>";
  }

 private:
  double Row::*sorted_;
  double whole_seconds_;
  Row most_;
};

std::string single_ops(std::vector<Row> rows, const Order& order, double whole_seconds) {
  sort_by(rows, order.key);
  const OpTable table(rows, order.key, whole_seconds);
  rows.resize(std::min(rows.size(), kShownOps));
  std::string html = OpTable::head(
      "<th scope=\"col\">layer</th><th scope=\"col\" class=\"words\">op</th><th scope=\"col\" "
      "class=\"words\">bound by</th>");
  for (const Row& row : rows) {
    html += fmt::format(
        "<tr><th scope=\"row\">{}</th><td class=\"words\">{}</td><td class=\"words\">{}</td>{}"
        "</tr>",
        page::layer_text(row.layer), page::escaped(row.op), row.bound, table.figures(row));
  }
  return html + "</tbody></table></div>";
}

/// Radio buttons and the style sheet do what a script would.
std::string choice_of_orders(const std::vector<Row>& rows, double whole_seconds) {
  std::string html = "<div class=\"orders\">";
  for (const Order& order : kOrders) {
    html += fmt::format(
        "<input type=\"radio\" name=\"order\" id=\"{}\"{}/><label for=\"{}\">{}"
        "</label>",
        order.id, &order == kOrders.data() ? " checked=\"checked\"" : "", order.id, order.name);
  }
  for (const Order& order : kOrders) {
    html += fmt::format("<div class=\"order {}\">{}</div>", order.id,
                        single_ops(rows, order, whole_seconds));
  }
  return html + "</div>";
}

/// The rest of a long list as one row.
void fold_others(std::vector<Row>& kinds) {
  if (kinds.size() <= kShownKinds + 1) {
    return;
  }
  Row others;
  others.op = fmt::format("{} other kinds", kinds.size() - kShownKinds);
  others.ops = 0;
  for (std::size_t i = kShownKinds; i < kinds.size(); ++i) {
    others.add(kinds[i]);
  }
  kinds.resize(kShownKinds);
  kinds.push_back(others);
}

std::string kinds_table(std::vector<Row> kinds, double whole_seconds) {
  sort_by(kinds, &Row::seconds);
  fold_others(kinds);
  const OpTable table(kinds, &Row::seconds, whole_seconds);
  std::string bar = "<div class=\"parts\" role=\"img\" aria-label=\"Kinds of ops by time\">";
  std::string html = OpTable::head("<th scope=\"col\">kind</th><th scope=\"col\">ops</th>");
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    bar += fmt::format("<span class=\"hue{}\" style=\"width:{:.3f}%\"></span>", i,
                       100 * kinds[i].seconds / whole_seconds);
    html += fmt::format(
        "<tr><th scope=\"row\"><span class=\"dot hue{}\"></span>{}</th><td>{}</td>{}</tr>", i,
        page::escaped(kinds[i].op), page::count_text(static_cast<std::int64_t>(kinds[i].ops)),
        table.figures(kinds[i]));
  }
  return bar + "</div>" + html + "</tbody></table></div>";
}

std::string sum_of_ops(const Prediction& p, double whole_seconds) {
  const double step = p.step.best.modelled_seconds();
  const std::string ops = modelled(ModelledTime(whole_seconds));
  if (p.pipeline) {
    return fmt::format(
        "<p>All ops of one micro-batch take {}, spread over {} machines; a step takes {} with the "
        "ramps of the pipeline and the host.</p>",
        ops, p.pipeline->machines, modelled(p.step.best));
  }
  return fmt::format(
      "<p>All ops take {}. The other {} of the step are outside any op: the host, links, and "
      "launches of the program.</p>",
      ops, modelled(ModelledTime(std::max(0.0, step - whole_seconds))));
}

}  // namespace

std::string ops_section(const PredictionReport& report) {
  const Prediction& p = report.prediction;
  if (p.ops.empty()) {
    return "";
  }
  std::vector<Row> rows;
  double whole_seconds = 0;
  for (const OpTime& op : p.ops) {
    rows.push_back(row_of(op));
    whole_seconds += op.time.modelled_seconds();
  }
  return sum_of_ops(p, whole_seconds) + kinds_table(rows_by_kind(p), whole_seconds) +
         fmt::format(
             "<h3>Single ops</h3><p>The first {} of {} in the order chosen. Arithmetic is "
             "the op\xe2\x80\x99s own count; all are in the JSON file.</p>",
             std::min(kShownOps, rows.size()), rows.size()) +
         choice_of_orders(rows, whole_seconds);
}

}  // namespace cosmic::report::prediction
