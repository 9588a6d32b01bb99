// The list of events: sorted, filtered, and drawn only where it is seen, so that ten thousand rows
// cost as much as twenty.

import { parseFilter } from "./filter.js";

const ROW_HEIGHT = 30;
const WAIT_MS = 400; // before the server is asked again about events it has not looked at
const SPARE = 6; // rows drawn above and below

const KINDS = { nue: "νe CC", numu: "νμ CC", nc: "NC", other: "other", cosmic: "–" };
const number = (value) => (value === null || value === undefined ? "–" : value.toLocaleString("en-GB"));
const fraction = (value) => (value === null || value === undefined ? "–" : value.toFixed(2));

const ENTRY = { column: "entry", name: "#", title: "Number of the event", text: (value) => String(value) };
const WITH_TRUTH = [
  ENTRY,
  { column: "interaction", name: "Kind", title: "True interaction", text: (value) => KINDS[value] ?? "–" },
  { column: "energy", name: "GeV", title: "Energy of the true neutrino", text: fraction },
  { column: "neutrino", name: "ν pix", title: "True neutrino pixels", text: number },
  { column: "iou", name: "IoU", title: "Intersection over union of true and tagged neutrino pixels", text: fraction },
  { column: "missed", name: "Missed", title: "Neutrino pixels that are not tagged as such", text: number },
];
const WITHOUT_TRUTH = [
  ENTRY,
  { column: "pixels", name: "Pixels", title: "Stored pixels of all planes", text: number },
  { column: "tagged", name: "ν tags", title: "Pixels that are tagged as neutrino", text: number },
];

const byId = (id) => document.getElementById(id);

export class EventList {
  /// `choose` is called with the number of an event, `changed` when sorting or filter have changed.
  /// `newest` asks for the scores of the last network instead of the first; `labelled` says whether
  /// there is a truth to list.
  constructor(source, state, { choose, changed, newest, labelled }) {
    this.#newest = newest;
    this.#known = labelled ? WITH_TRUTH : WITHOUT_TRUTH;
    this.#source = source;
    this.state = state;
    this.#choose = choose;
    this.#changed = changed;
    this.#element = byId("list");
    this.#element.classList.toggle("without-truth", !labelled);
    this.#body = byId("list-body");
    byId("filter").value = state.filter;
    byId("filter").addEventListener("input", ({ target }) => {
      this.state.filter = target.value;
      this.#arrange();
      this.#changed();
    });
    this.#element.addEventListener("scroll", () => this.#draw(), { passive: true });
    this.#element.addEventListener("keydown", (event) => this.#key(event));
    new ResizeObserver(() => this.#draw()).observe(this.#element);
  }
  #source;
  #choose;
  #changed;
  #newest;
  #known; // columns that there may be
  #element;
  #body;
  #columns = [];
  #rows = [];
  #total = 0;
  #order = []; // numbers of rows, as they are shown
  #selected = -1; // the entry

  /// Fetches rows until all are there. Ends with an error of the source.
  async fill() {
    let ready = 0;
    do {
      const page = await this.#source.index(ready);
      if (ready === 0) {
        this.#rows = []; // with another network, rows say something else
      }
      if (this.#columns.length !== page.columns.length) {
        this.#columns = page.columns;
        this.#drawHead();
      }
      this.#total = page.total;
      this.#rows.push(...page.rows);
      ready = this.#rows.length;
      if (page.rows.length > 0) {
        this.#arrange();
      } else {
        await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
      }
    } while (ready < this.#total);
  }

  get entries() {
    return this.#rows.map((row) => row[0]);
  }

  setState(state) {
    this.state = state;
    byId("filter").value = state.filter;
    this.#drawHead();
    this.#arrange();
  }

  select(entry) {
    this.#selected = entry;
    const at = this.#position();
    if (at >= 0) {
      const top = at * ROW_HEIGHT;
      const view = this.#element.clientHeight - ROW_HEIGHT; // below the head
      if (top < this.#element.scrollTop || top + ROW_HEIGHT > this.#element.scrollTop + view) {
        this.#element.scrollTop = top - view / 2;
      }
    }
    this.#draw();
  }

  /// The entry that is so many rows further down, as the list is sorted; its end is its end.
  neighbour(step) {
    if (this.#order.length === 0) {
      return null;
    }
    const at = this.#position();
    const to = at < 0 ? 0 : Math.min(Math.max(at + step, 0), this.#order.length - 1);
    return this.#rows[this.#order[to]][0];
  }

  #position() {
    return this.#order.findIndex((row) => this.#rows[row][0] === this.#selected);
  }

  #arrange() {
    const note = byId("filter-note");
    let keeps = () => true;
    note.classList.remove("wrong");
    try {
      keeps = parseFilter(this.state.filter, this.#columns);
    } catch (error) {
      note.textContent = error.message;
      note.classList.add("wrong");
    }
    this.#order = [...this.#rows.keys()].filter((row) => keeps(this.#rows[row]));
    const descending = this.state.sort.startsWith("-");
    const column = this.#columns.indexOf(this.state.sort.replace("-", ""));
    if (column >= 0) {
      this.#order.sort((a, b) => this.#compare(this.#rows[a][column], this.#rows[b][column], descending) || a - b);
    }
    if (!note.classList.contains("wrong")) {
      const all = this.#rows.length;
      note.textContent = `${this.#order.length.toLocaleString("en-GB")} of ${all.toLocaleString("en-GB")} events`;
    }
    const left = this.#total - this.#rows.length;
    byId("progress").textContent = left > 0 ? `${left.toLocaleString("en-GB")} events are still being read` : "\u00a0";
    this.#element.setAttribute("aria-rowcount", String(this.#order.length + 1));
    this.#body.style.height = `${this.#order.length * ROW_HEIGHT}px`;
    this.#draw();
  }

  /// What is not known comes last either way.
  #compare(a, b, descending) {
    const unknown = (value) => value === null || value === undefined;
    if (unknown(a) || unknown(b)) {
      return Number(unknown(a)) - Number(unknown(b));
    }
    const order = a < b ? -1 : a > b ? 1 : 0;
    return descending ? -order : order;
  }

  get #shown() {
    return this.#known.map((one) => ({ ...one, column: this.#ofNetwork(one.column) })).filter(({ column }) => this.#columns.includes(column));
  }

  /// Columns of further networks end with their number.
  #ofNetwork(column) {
    const ofLast = this.#columns.filter((one) => one.replace(/_\d+$/, "") === column).at(-1);
    return (this.#newest && ofLast) || column;
  }

  #drawHead() {
    const cells = this.#shown.map(({ column, name, title }) => {
      const cell = document.createElement("div");
      cell.role = "columnheader";
      const sorted = this.state.sort.replace("-", "") === column;
      const descending = this.state.sort.startsWith("-");
      cell.setAttribute("aria-sort", sorted ? (descending ? "descending" : "ascending") : "none");
      const button = document.createElement("button");
      button.type = "button";
      button.title = title;
      button.textContent = name + (sorted ? (descending ? " ↓" : " ↑") : "");
      button.addEventListener("click", () => {
        this.state.sort = sorted && !descending ? `-${column}` : column;
        this.#drawHead();
        this.#arrange();
        this.#changed();
        byId("list-head").querySelectorAll("button")[this.#shown.findIndex((one) => one.column === column)].focus();
      });
      cell.append(button);
      return cell;
    });
    byId("list-head").replaceChildren(...cells);
    this.#element.style.setProperty("--columns", cells.length);
  }

  #draw() {
    const first = Math.max(Math.floor(this.#element.scrollTop / ROW_HEIGHT) - SPARE, 0);
    const count = Math.ceil(this.#element.clientHeight / ROW_HEIGHT) + 2 * SPARE;
    const rows = this.#order.slice(first, first + count).map((row, i) => this.#drawRow(this.#rows[row], first + i));
    this.#body.replaceChildren(...rows);
    const selected = rows.some((row) => row.getAttribute("aria-selected") === "true");
    if (selected) {
      this.#element.setAttribute("aria-activedescendant", "selected-row");
    } else {
      this.#element.removeAttribute("aria-activedescendant");
    }
  }

  #drawRow(row, at) {
    const element = document.createElement("div");
    element.role = "row";
    element.className = "row";
    element.style.top = `${at * ROW_HEIGHT}px`;
    element.setAttribute("aria-rowindex", String(at + 2));
    const selected = row[0] === this.#selected;
    element.setAttribute("aria-selected", String(selected));
    if (selected) {
      element.id = "selected-row";
    }
    const broken = row.length < this.#columns.length;
    element.classList.toggle("broken", broken);
    for (const { column, text } of this.#shown) {
      const cell = document.createElement("div");
      cell.role = "gridcell";
      cell.textContent = broken && column !== "entry" ? "" : text(row[this.#columns.indexOf(column)]);
      element.append(cell);
    }
    if (broken) {
      element.title = row[1];
      element.children[1].textContent = "cannot be read";
    }
    element.addEventListener("click", () => this.#choose(row[0]));
    return element;
  }

  #key(event) {
    const page = Math.max(Math.floor(this.#element.clientHeight / ROW_HEIGHT) - 2, 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.key in steps && event.target === this.#element) {
      event.preventDefault();
      const entry = this.neighbour(steps[event.key]);
      if (entry !== null) {
        this.#choose(entry);
      }
    }
  }
}
