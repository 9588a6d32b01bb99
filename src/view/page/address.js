// What is seen as the part of the address after '#', so that an address can be sent to a colleague.
// Values that are the default are left out.

export const defaults = Object.freeze({
  tab: null, // "events" or "training"; null: the training, where there is one
  event: 0,
  layer: "", // the tags where there are some, otherwise the charge
  network: 0, // the number; -1: always the newest
  threshold: null, // null: the most likely label
  strength: 1,
  hidden: "", // classes that are not drawn, by number: "01"
  time: null, // [first, last] tick; null: all
  wires: [null, null, null], // the same of each plane
  sort: "entry",
  filter: "",
  list: "shown", // or "hidden"
});

const rangeText = ([low, high]) => `${round(low)}~${round(high)}`;
const round = (value) => Math.round(value * 100) / 100;

function readRange(text) {
  const [low, high] = text.split("~").map(Number);
  return high > low ? [low, high] : null;
}

function readNumber(text, low, high, otherwise) {
  const value = text === "" ? NaN : Number(text);
  return value >= low && value <= high ? value : otherwise;
}

export function toHash(state) {
  const words = new URLSearchParams();
  for (const name of ["tab", "event", "layer", "network", "threshold", "strength", "hidden", "sort", "filter", "list"]) {
    if (state[name] !== defaults[name]) {
      words.set(name, state[name]);
    }
  }
  if (state.time) {
    words.set("time", rangeText(state.time));
  }
  state.wires.forEach((wires, plane) => wires && words.set(`wires${plane}`, rangeText(wires)));
  return "#" + words.toString();
}

/// Whatever was typed: what makes no sense becomes the default.
export function fromHash(hash) {
  const words = new URLSearchParams(hash.replace(/^#/, ""));
  const text = (name) => words.get(name) ?? String(defaults[name] ?? "");
  return {
    tab: ["events", "training"].includes(words.get("tab")) ? words.get("tab") : null,
    event: Math.trunc(readNumber(text("event"), 0, Number.MAX_SAFE_INTEGER, 0)),
    layer: text("layer"),
    network: Math.trunc(readNumber(text("network"), -1, 99, 0)),
    threshold: words.has("threshold") ? readNumber(text("threshold"), 0, 1, null) : null,
    strength: readNumber(text("strength"), 0, 1, 1),
    hidden: text("hidden").replace(/[^0-9]/g, ""),
    time: readRange(text("time")),
    wires: [0, 1, 2].map((plane) => readRange(words.get(`wires${plane}`) ?? "")),
    sort: text("sort"),
    filter: text("filter"),
    list: words.get("list") === "hidden" ? "hidden" : "shown",
  };
}
