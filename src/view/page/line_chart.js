// Curves over the steps of a training on a canvas. Runs lie on top of each other; where there are
// more points than pixels, what is drawn is their extent.

import { linearTicks } from "./charge_scale.js";

const MARGIN = { left: 56, right: 12, top: 8, bottom: 38 };

const tickText = (value) =>
  value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e5) ? value.toExponential(1).replace(".0e", "e") : String(+value.toPrecision(4));

/// A running mean that forgets: 0 is the curve itself, 0.99 the mean of about a hundred points.
export function smoothed(values, amount) {
  let mean = 0;
  let weight = 0;
  return values.map((value) => {
    if (value === null) {
      return null;
    }
    mean = amount * mean + (1 - amount) * value;
    weight = amount * weight + (1 - amount);
    return mean / weight;
  });
}

export class LineChart {
  /// `options.logarithmic` is for what falls by orders of magnitude; `options.zero` keeps 0 in view.
  constructor(title, options = {}) {
    this.title = title;
    this.#options = options;
    this.element = document.createElement("figure");
    this.element.className = "chart";
    this.element.innerHTML = `<figcaption><b></b> <span></span></figcaption><canvas role="img"></canvas>`;
    this.element.querySelector("b").textContent = title;
    this.#note = this.element.querySelector("span");
    this.#canvas = this.element.querySelector("canvas");
    this.#canvas.addEventListener("pointermove", (event) => this.#point(event));
    this.#canvas.addEventListener("pointerleave", () => this.#point(null));
    new ResizeObserver(() => this.draw()).observe(this.#canvas);
  }
  #options;
  #note;
  #canvas;
  #series = [];
  #pointed = null; // the step under the cursor

  /// Each has name, color, steps, values (null for what is not known), and dots or faint.
  setSeries(series) {
    this.#series = series.filter((one) => one.values.some((value) => value !== null));
    this.element.hidden = this.#series.length === 0;
    const latest = this.#series.filter((one) => !one.faint).map((one) => `${one.name} ${tickText(one.values.findLast((value) => value !== null))}`);
    this.#canvas.setAttribute("aria-label", `${this.title}, latest: ${latest.join(", ")}`);
    this.draw();
  }

  #ends() {
    const values = [];
    let last = 1;
    for (const one of this.#series) {
      one.values.forEach((value) => value !== null && (!this.#options.logarithmic || value > 0) && values.push(value));
      last = Math.max(last, one.steps.at(-1) ?? 1);
    }
    // A few outliers must not flatten everything else.
    values.sort((a, b) => a - b);
    let low = this.#options.zero ? Math.min(0, values[0]) : values[0];
    let high = values[Math.floor(0.995 * (values.length - 1))];
    if (!(high > low)) {
      [low, high] = [low - Math.abs(low || 1) * 0.1, low + Math.abs(low || 1) * 0.1];
    }
    return { low, high, last };
  }

  draw() {
    const { width, height } = this.#canvas.getBoundingClientRect();
    if (width === 0 || this.#series.length === 0) {
      return;
    }
    const density = window.devicePixelRatio || 1;
    this.#canvas.width = Math.round(width * density);
    this.#canvas.height = Math.round(height * density);
    // Drawn by the processor, which takes a millisecond or two for long curves; handed to the card
    // they take as long, and seconds where software stands in for one.
    const context = this.#canvas.getContext("2d", { willReadFrequently: true });
    const style = getComputedStyle(this.#canvas);
    const color = (name) => style.getPropertyValue(name);
    context.scale(density, density);
    const inner = { width: width - MARGIN.left - MARGIN.right, height: height - MARGIN.top - MARGIN.bottom };
    const { low, high, last } = this.#ends();
    const scale = this.#options.logarithmic ? Math.log : (value) => value;
    const x = (step) => MARGIN.left + (step / last) * inner.width;
    const y = (value) => MARGIN.top + (1 - (scale(value) - scale(low)) / (scale(high) - scale(low))) * inner.height;
    context.font = `12px ${style.fontFamily}`;
    context.fillStyle = color("--soft");
    context.strokeStyle = color("--grid");
    context.lineWidth = 1;
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const tick of this.#ticks(low, high)) {
      const at = Math.round(y(tick)) + 0.5;
      context.beginPath();
      context.moveTo(MARGIN.left, at);
      context.lineTo(MARGIN.left + inner.width, at);
      context.stroke();
      context.fillText(tickText(tick), MARGIN.left - 6, at);
    }
    context.textAlign = "center";
    context.textBaseline = "top";
    for (const tick of linearTicks(0, last, Math.max(width / 110, 2))) {
      context.fillText(tickText(tick), x(tick), MARGIN.top + inner.height + 6);
    }
    context.fillText("step", MARGIN.left + inner.width / 2, MARGIN.top + inner.height + 21);
    context.save();
    context.beginPath();
    context.rect(MARGIN.left, 0, inner.width + 4, MARGIN.top + inner.height + 3);
    context.clip();
    for (const one of this.#series) {
      this.#drawSeries(context, one, x, y);
    }
    context.restore();
    if (this.#pointed !== null) {
      context.fillStyle = color("--soft");
      context.fillRect(Math.round(x(this.#pointed)), MARGIN.top, 1, inner.height);
    }
    this.#across = { last, width: inner.width };
  }
  #across = { last: 1, width: 1 };

  #ticks(low, high) {
    if (!this.#options.logarithmic || high / low < 5) {
      return linearTicks(low, high, 5);
    }
    const ticks = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); ++power) {
      [1, 2, 5].map((factor) => factor * 10 ** power).filter((tick) => tick >= low && tick <= high).forEach((tick) => ticks.push(tick));
    }
    return ticks;
  }

  #drawSeries(context, one, x, y) {
    context.strokeStyle = context.fillStyle = one.color;
    context.globalAlpha = one.faint ? 0.3 : 1;
    context.lineWidth = one.faint ? 1 : 2;
    if (one.dots) {
      one.steps.forEach((step, i) => {
        if (one.values[i] !== null) {
          context.beginPath();
          context.arc(x(step), y(one.values[i]), 3.2, 0, 2 * Math.PI);
          context.fill();
        }
      });
      context.lineWidth = 1;
      context.globalAlpha = 0.4;
    }
    context.beginPath();
    let column = null; // of the screen, with the extent of what falls into it
    const flush = () => {
      if (column) {
        context.lineTo(column.x, column.first);
        context.lineTo(column.x, column.low);
        context.lineTo(column.x, column.high);
        context.lineTo(column.x, column.last);
      }
    };
    one.steps.forEach((step, i) => {
      const value = one.values[i];
      if (value === null || (this.#options.logarithmic && value <= 0)) {
        return;
      }
      const at = Math.round(x(step));
      const height = y(value);
      if (column?.x !== at) {
        flush();
        column = { x: at, first: height, low: height, high: height, last: height };
      }
      column.low = Math.min(column.low, height);
      column.high = Math.max(column.high, height);
      column.last = height;
    });
    flush();
    context.stroke();
    context.globalAlpha = 1;
  }

  #point(event) {
    if (!event) {
      this.#pointed = null;
      this.#note.textContent = "";
    } else {
      const box = this.#canvas.getBoundingClientRect();
      const share = Math.min(Math.max((event.clientX - box.left - MARGIN.left) / this.#across.width, 0), 1);
      this.#pointed = Math.round(share * this.#across.last);
      const texts = this.#series
        .filter((one) => !one.faint)
        .map((one) => {
          let nearest = 0;
          one.steps.forEach((step, i) => {
            if (Math.abs(step - this.#pointed) < Math.abs(one.steps[nearest] - this.#pointed)) {
              nearest = i;
            }
          });
          const value = one.values[nearest];
          return value === null ? "" : `${one.name} ${tickText(value)}`;
        });
      this.#note.textContent = `step ${this.#pointed}: ${texts.filter((text) => text).join(", ")}`;
    }
    this.draw();
  }
}
