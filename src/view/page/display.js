// The three planes of an event with their controls: one time axis for all, wires of each its own.

import { ChargeScale } from "./charge_scale.js";
import { classes, cssColor, divergingColor, heatColors, panel as panelColor } from "./colors.js";
import { Panel } from "./panel.js";
import { comparedWith, countClasses, layersFor, paint, tagOf } from "./pixel_painter.js";
import { find, lowerBound } from "./sorted_ids.js";

const PLANES = [0, 1, 2];
const ZOOM_STEP = 1.5;
const LEAST_SEEN = 8; // wires or ticks; nearer is nothing to see
const KINDS = { nue: "νe CC", numu: "νμ CC", nc: "NC", other: "other neutrino", cosmic: "no neutrino known" };
const LABELS = ["background", "cosmic", "neutrino"];

const byId = (id) => document.getElementById(id);
const grouped = (number) => number.toLocaleString("en-GB");
const shareText = (value) => (Number.isNaN(value) ? "–" : value.toFixed(3));

export class Display {
  /// `changed` is called when the user has changed the state, which belongs to the caller.
  constructor(session, state, changed) {
    this.#session = session;
    this.#changed = changed;
    this.state = state;
    this.#heat = heatColors(session.heat);
    this.panels = PLANES.map((number) => new Panel(number, this));
    byId("planes").append(...this.panels.map((panel) => panel.element));
    this.resize();
    new ResizeObserver(() => this.resize()).observe(byId("planes"));
    for (const panel of this.panels) {
      panel.pixels.addEventListener("restored", () => this.schedule());
    }
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.restyle());
    this.#fillControls();
  }
  #session;
  #changed;
  #heat;
  #scale = new ChargeScale([1, 10]);
  #cursor = null;
  #scheduled = false;
  event = null;
  /// Milliseconds that drawing took, newest last; tests and the curious read it.
  frames = [];

  /// Where the networks of the events have changed.
  setSession(session) {
    this.#session = session;
    this.#fillOptions();
    this.#showControls();
  }

  /// What the painter is told: the number of a network that there is.
  get #painted() {
    const last = this.#session.networks.length - 1;
    const { network } = this.state;
    return { ...this.state, layer: this.layer.id, network: network < 0 || network > last ? Math.max(last, 0) : network };
  }

  get #layers() {
    return layersFor(this.#session);
  }

  /// The one that is asked for; without a wish, or where there is no such thing, what says most.
  get layer() {
    const wanted = (id) => this.#layers.find((one) => one.id === id);
    return wanted(this.state.layer) ?? wanted("tags") ?? wanted("charge");
  }

  // ---- What is shown.

  setEvent(event) {
    this.event = event;
    this.#scale = new ChargeScale(event.scale);
    this.#cursor = null;
    this.panels.forEach((panel, number) => panel.canvas.setPixels(event.planes[number]));
    this.repaint();
    this.#tellEvent();
    this.#tellPixel(null);
  }

  setState(state) {
    this.state = state;
    this.#showControls();
    if (this.event) {
      this.repaint();
    }
  }

  /// Colours have changed.
  repaint() {
    this.panels.forEach((panel, number) => {
      const plane = this.event.planes[number];
      panel.canvas.setColors(paint(plane, this.#painted, this.#scale, this.#heat));
      panel.setCaption(`${grouped(plane.pixels)} pixels`);
    });
    this.#showLegend();
    this.#drawBar();
    this.schedule();
  }

  resize() {
    const [first, ...others] = this.panels;
    const beside = others.every((panel) => panel.element.offsetTop === first.element.offsetTop);
    first.resize({ beside: false });
    others.forEach((panel) => panel.resize({ beside }));
    this.restyle();
  }

  /// The theme has changed, or the room there is.
  restyle() {
    if (this.event) {
      this.#drawBar();
    }
    this.schedule();
  }

  /// Draws with the next frame, once however often it is asked for.
  schedule() {
    if (!this.#scheduled && this.event) {
      this.#scheduled = true;
      requestAnimationFrame(() => {
        this.#scheduled = false;
        this.draw();
      });
    }
  }

  draw() {
    const began = performance.now();
    const time = this.#time();
    this.panels.forEach((panel, number) => panel.draw(this.#wires(number), time, this.#cursor));
    this.frames.push(performance.now() - began);
    if (this.frames.length > 1000) {
      this.frames.splice(0, 500);
    }
  }

  #time() {
    return this.state.time ?? [0, this.event.planes[0].rows];
  }
  #wires(plane) {
    return this.state.wires[plane] ?? [0, this.event.planes[plane].columns];
  }

  // ---- Gestures of the panels.

  /// What a plane shows, and whether that is everything.
  seen(plane) {
    const all = this.state.wires[plane] === null && this.state.time === null;
    return { wires: this.event ? this.#wires(plane) : [0, 1], time: this.event ? this.#time() : [0, 1], all };
  }

  pan(plane, wires, ticks) {
    if (!this.event) {
      return;
    }
    const { columns, rows } = this.event.planes[plane];
    this.#setRanges(plane, shifted(this.#wires(plane), wires, columns), shifted(this.#time(), ticks, rows));
  }

  /// A factor above 1 shows more.
  zoom(plane, factor, at, axes = { wires: true, time: true }) {
    if (!this.event) {
      return;
    }
    const { columns, rows } = this.event.planes[plane];
    const wires = this.#wires(plane);
    const time = this.#time();
    this.#setRanges(
      plane,
      axes.wires ? scaled(wires, factor, at?.wire, columns) : wires,
      axes.time ? scaled(time, factor, at?.tick, rows) : time,
    );
  }

  showAll() {
    this.state.time = null;
    this.state.wires = [null, null, null];
    this.#moved();
  }

  /// Where the neutrino is: the true one, or without labels what is tagged as one.
  showNeutrino() {
    const boxes = PLANES.map((plane) => this.#neutrinoBox(plane));
    const found = boxes.filter((box) => box);
    if (found.length === 0) {
      this.#say("This event has no neutrino pixels.");
      return;
    }
    const first = Math.min(...found.map((box) => box.time[0]));
    const last = Math.max(...found.map((box) => box.time[1]));
    this.state.time = rounded(widened([first, last], this.event.planes[0].rows));
    this.state.wires = boxes.map((box, plane) => box && rounded(widened(box.wires, this.event.planes[plane].columns)));
    this.#moved();
  }

  #neutrinoBox(number) {
    const plane = this.event.planes[number];
    const network = plane.networks[this.#painted.network];
    let box = null;
    for (let i = 0; i < plane.pixels; ++i) {
      const is = plane.label ? plane.label[i] === 2 : network && tagOf(network, i, this.state.threshold) === 2;
      if (is) {
        const wire = Math.floor(plane.ids[i] / plane.rows);
        const tick = plane.ids[i] % plane.rows;
        box ??= { wires: [wire, wire], time: [tick, tick] };
        box.wires = [Math.min(box.wires[0], wire), Math.max(box.wires[1], wire + 1)];
        box.time = [Math.min(box.time[0], tick), Math.max(box.time[1], tick + 1)];
      }
    }
    return box;
  }

  #setRanges(plane, wires, time) {
    const { columns, rows } = this.event.planes[plane];
    this.state.wires[plane] = wires[0] <= 0 && wires[1] >= columns ? null : rounded(wires);
    this.state.time = time[0] <= 0 && time[1] >= rows ? null : rounded(time);
    this.#moved();
  }

  #moved() {
    this.schedule();
    this.#changed();
  }

  // ---- The pixel under the cursor.

  point(plane, at) {
    if (!this.event) {
      return;
    }
    const place = at && this.#nearest(plane, at);
    this.#cursor = at && { plane, wire: Math.floor(at.wire), tick: Math.floor(at.tick) };
    if (place) {
      Object.assign(this.#cursor, place);
    }
    this.#tellPixel(at && this.#cursor);
    this.schedule();
  }

  /// The stored pixel at the cursor, or the one with the most charge within its reach.
  #nearest(number, { wire, tick, reach }) {
    const plane = this.event.planes[number];
    const exact = find(plane.ids, Math.floor(wire) * plane.rows + Math.floor(tick));
    if (exact >= 0) {
      return { index: exact };
    }
    let best = -1;
    const [wires, ticks] = reach;
    const last = Math.min(Math.floor(wire + wires), plane.columns - 1);
    for (let column = Math.max(Math.floor(wire - wires), 0); column <= last; ++column) {
      const low = column * plane.rows + Math.max(Math.floor(tick - ticks), 0);
      const high = column * plane.rows + Math.min(Math.floor(tick + ticks), plane.rows - 1);
      for (let i = lowerBound(plane.ids, low); i < plane.pixels && plane.ids[i] <= high; ++i) {
        if (best < 0 || plane.charge[i] > plane.charge[best]) {
          best = i;
        }
      }
    }
    return best < 0
      ? null
      : { index: best, wire: Math.floor(plane.ids[best] / plane.rows), tick: plane.ids[best] % plane.rows };
  }

  #tellPixel(cursor) {
    const rows = [
      ["plane", cursor ? cursor.plane : "–"],
      ["wire", cursor ? cursor.wire : "–"],
      ["tick", cursor ? cursor.tick : "–"],
    ];
    const plane = cursor && this.event.planes[cursor.plane];
    const at = cursor?.index;
    rows.push(["charge", at === undefined || !plane ? "–" : +plane.charge[at].toFixed(2)]);
    if (this.#session.labelled) {
      rows.push(["label", at === undefined || !plane ? "–" : LABELS[plane.label[at]]]);
    }
    // Two fit; of many checkpoints the one that is looked at is enough.
    const { networks } = this.#session;
    const told = networks.length > 2 ? [this.#painted.network] : [...networks.keys()];
    told.forEach((number) => {
      const network = plane?.networks[number];
      const suffix = networks.length > 1 ? ` ${number + 1}` : "";
      const known = at !== undefined && network;
      rows.push(["tag" + suffix, known ? (LABELS[tagOf(network, at, this.state.threshold)] ?? "none") : "–"]);
      rows.push(["cosmic" + suffix, known ? shareText(network.cosmic[at]) : "–"]);
      rows.push(["neutrino" + suffix, known ? shareText(network.neutrino[at]) : "–"]);
    });
    byId("readout").classList.toggle("told", Boolean(cursor));
    byId("readout").classList.toggle("unlabelled", !this.#session.labelled);
    byId("readout").replaceChildren(
      ...rows.map(([name, value]) => {
        const pair = document.createElement("div");
        pair.className = `of-${name.replace(/ \d+$/, "")}`; // where it goes
        const term = document.createElement("dt");
        const answer = document.createElement("dd");
        term.textContent = name;
        answer.textContent = value;
        pair.append(term, answer);
        return pair;
      }),
    );
  }

  // ---- What is said about the event.

  #tellEvent() {
    const event = this.event;
    const [run, subrun, number] = event.id;
    byId("event-name").textContent = `Event ${event.entry}`;
    const facts = event.energy === null ? [] : [`${KINDS[event.interaction]}, ${event.energy.toFixed(2)} GeV`];
    if (Math.max(run, subrun, number) >= 0) {
      facts.push(`run ${run}, subrun ${subrun}, event ${number}`); // a file without numbers has -1
    }
    facts.push(event.file.split("/").pop());
    byId("event-facts").textContent = facts.join(" · ");
    document.title = `Event ${event.entry} – CosmicTagger`;
    const pixels = event.planes.reduce((sum, plane) => sum + plane.pixels, 0);
    this.#say(`Event ${event.entry}, ${grouped(pixels)} pixels`);
  }

  #say(text) {
    byId("live").textContent = text;
  }

  // ---- Controls.

  #fillOptions() {
    byId("layer").replaceChildren(...this.#layers.map((layer) => new Option(layer.name, layer.id)));
    byId("network").replaceChildren(
      ...(this.#session.runs.length > 0 ? [new Option("newest", -1)] : []),
      ...this.#session.networks.map((name, number) => new Option(`${number + 1}: ${name}`, number)),
    );
    byId("network-field").hidden = this.#session.networks.length < 2 && this.#session.runs.length === 0;
    // What can do nothing with these events is not there.
    byId("layer-field").hidden = this.#layers.length < 2;
    byId("strength-field").hidden = this.#layers.length < 2;
    byId("threshold-field").hidden = !this.#layers.some((layer) => layer.threshold);
  }

  #fillControls() {
    this.#fillOptions();
    if (this.#session.runs.length > 0 && this.state.network === 0) {
      this.state.network = -1; // who watches a run looks at its newest checkpoint
    }
    const set = (name, value) => {
      this.state[name] = value;
      this.setState(this.state);
      this.#changed();
    };
    byId("layer").addEventListener("change", ({ target }) => this.setLayer(target.value));
    byId("network").addEventListener("change", ({ target }) => set("network", Number(target.value)));
    // The left end stands for "no threshold".
    byId("threshold").addEventListener("input", ({ target }) =>
      set("threshold", target.valueAsNumber > 0 ? target.valueAsNumber : null),
    );
    byId("strength").addEventListener("input", ({ target }) => set("strength", target.valueAsNumber));
    const middle = () => this.panels.find((panel) => panel.plot === document.activeElement)?.number ?? null;
    const zoom = (factor) =>
      (middle() === null ? PLANES : [middle()]).forEach((plane, i) =>
        this.zoom(plane, factor, null, { wires: true, time: i === 0 }),
      );
    byId("zoom-in").addEventListener("click", () => zoom(1 / ZOOM_STEP));
    byId("zoom-out").addEventListener("click", () => zoom(ZOOM_STEP));
    byId("zoom-all").addEventListener("click", () => this.showAll());
    byId("zoom-neutrino").addEventListener("click", () => this.showNeutrino());
    this.#showControls();
  }

  /// By its name; hidden classes are those of the layer before.
  setLayer(id) {
    this.state.layer = id;
    this.state.hidden = "";
    this.setState(this.state);
    this.#changed();
  }

  setLayerNumber(number) {
    const layer = this.#layers[number];
    if (layer) {
      this.setLayer(layer.id);
    }
  }

  #showControls() {
    const { layer } = this;
    byId("layer").value = layer.id;
    byId("network").value = this.state.network;
    byId("threshold").value = this.state.threshold ?? 0;
    byId("threshold-text").value = this.state.threshold === null ? "off" : this.state.threshold.toFixed(2);
    byId("strength").value = this.state.strength;
    byId("threshold").disabled = !layer.threshold;
    byId("strength").disabled = layer.id === "charge";
    byId("network").disabled = layer.needs.length === 0 || layer.id === "truth";
  }

  #showLegend() {
    const ofLayer = this.#namedClasses();
    const counts = countClasses(this.event, this.#painted);
    const chips = ofLayer.map((one, number) => {
      const chip = document.createElement("button");
      const hidden = this.state.hidden.includes(number);
      chip.type = "button";
      chip.className = "chip";
      chip.setAttribute("aria-pressed", String(!hidden));
      chip.innerHTML = `<span class="swatch"></span> <span></span>`;
      chip.firstChild.style.background = cssColor(one.color);
      chip.lastChild.textContent = `${one.name} ${grouped(counts[number])}`;
      chip.addEventListener("click", () => {
        this.state.hidden = hidden ? this.state.hidden.replace(number, "") : this.state.hidden + number;
        this.setState(this.state);
        this.#changed();
        byId("legend").children[number]?.focus();
      });
      return chip;
    });
    if (["tags", "errors", "neutrino"].includes(this.layer.id) && this.#session.labelled) {
      const [, found, wrong, missed] = countClasses(this.event, { ...this.#painted, layer: "errors" });
      const note = document.createElement("span");
      const together = found + wrong + missed;
      note.className = "iou";
      note.textContent = `neutrino IoU ${together === 0 ? "1" : (found / together).toFixed(3)}`;
      chips.push(note);
    }
    byId("legend").replaceChildren(...chips);
  }

  /// The classes of the layer; those of a difference say which network they mean.
  #namedClasses() {
    const ofLayer = classes[this.layer.id] ?? [];
    if (this.layer.id !== "difference") {
      return ofLayer;
    }
    const { network } = this.#painted;
    const names = { first: this.#session.networks[network], second: this.#session.networks[comparedWith(network)] };
    return ofLayer.map((one) => (one.only ? { ...one, name: `only ${names[one.only]}` } : one));
  }

  /// The colour bar, of charge or of a score; layers of classes have their legend instead.
  #drawBar() {
    const bar = byId("color-bar");
    const { layer } = this;
    const scaled = layer.id === "charge" || layer.scale;
    bar.hidden = !scaled;
    if (scaled) {
      drawBar(bar, this.#barOf(layer));
    }
  }

  #barOf(layer) {
    const heat = (share) => [...this.#heat.subarray(3 * Math.round(255 * share), 3 * Math.round(255 * share) + 3)];
    if (layer.id === "charge") {
      const scale = this.#scale;
      return { name: "charge (logarithmic)", color: heat, ticks: scale.ticks().map((tick) => [scale.share(tick), String(+tick.toPrecision(3))]) };
    }
    const [low, high] = layer.scale;
    const ticks = [0, 0.25, 0.5, 0.75, 1].map((share) => [share, String(low + share * (high - low))]);
    return { name: layer.name.toLowerCase(), color: low < 0 ? (share) => divergingColor(2 * share - 1) : heat, ticks };
  }
}

function drawBar(canvas, { name, color, ticks }) {
  const density = window.devicePixelRatio || 1;
  const { width, height } = canvas.getBoundingClientRect();
  canvas.width = Math.round(width * density);
  canvas.height = Math.round(height * density);
  const context = canvas.getContext("2d");
  const style = getComputedStyle(canvas);
  const inset = 14; // half of the text of a tick at the end
  const length = width - 2 * inset;
  const [top, thick] = [17, 12];
  context.scale(density, density);
  context.font = `12px ${style.fontFamily}`;
  context.textBaseline = "top";
  context.fillStyle = style.color;
  context.fillText(name, inset, 1);
  context.fillStyle = panelColor;
  context.fillRect(inset, top, length, thick);
  for (let x = 0; x < length; ++x) {
    context.fillStyle = cssColor(color(x / (length - 1)));
    context.fillRect(inset + x, top, 1.5, thick);
  }
  // The dark end would be lost on a dark page.
  context.strokeStyle = context.fillStyle = style.color;
  context.strokeRect(inset - 0.5, top - 0.5, length + 1, thick + 1);
  context.textAlign = "center";
  for (const [share, text] of ticks) {
    context.fillRect(inset + share * length, top + thick, 1, 4);
    context.fillText(text, inset + share * length, top + thick + 6);
  }
  canvas.setAttribute("aria-label", `Colour scale of the ${name}, from ${ticks[0]?.[1]} to ${ticks.at(-1)?.[1]}`);
}

// ---- Ranges of an axis that has `size` pixels.

const within = ([low, high], size) => {
  const length = Math.min(high - low, size);
  const first = Math.min(Math.max(low, 0), size - length);
  return [first, first + length];
};
/// As an address has it, so that the same address shows the same.
const rounded = (range) => range.map((value) => Math.round(value * 100) / 100);
const shifted = ([low, high], by, size) => within([low + by, high + by], size);

function scaled([low, high], factor, at, size) {
  const middle = at ?? (low + high) / 2;
  const length = Math.min(Math.max((high - low) * factor, Math.min(LEAST_SEEN, size)), size);
  const share = (middle - low) / (high - low);
  return within([middle - share * length, middle + (1 - share) * length], size);
}

function widened([low, high], size) {
  const extra = Math.max(0.12 * (high - low), 10);
  return within([low - extra, high + extra], size);
}
