// One plane: its canvas, its axes, and what pointers and keys do there. It knows nothing of the
// other planes; what a gesture means for them is decided by display.js.

import { linearTicks } from "./charge_scale.js";
import { PlaneCanvas } from "./plane_canvas.js";

const MARGIN = { left: 46, right: 10, top: 6, bottom: 36 }; // for ticks, in CSS pixels
const ZOOM_STEP = 1.25;
const PAN_STEP = 0.1; // of what is seen
const REACH = 5; // CSS pixels around the cursor in which a pixel is looked for

export class Panel {
  /// `gestures` has pan(plane, wires, ticks), zoom(plane, factor, at, axes), point(plane, at).
  constructor(number, gestures) {
    this.number = number;
    this.#gestures = gestures;
    this.element = document.createElement("figure");
    this.element.className = "plane";
    this.element.innerHTML = `
      <figcaption id="plane-name-${number}"><b>Plane ${number}</b> <span></span></figcaption>
      <div class="plot" tabindex="0" role="application" aria-labelledby="plane-name-${number}"
           aria-description="Arrows pan, plus and minus zoom, 0 shows everything">
        <canvas class="pixels" aria-hidden="true"></canvas><canvas class="axes" aria-hidden="true"></canvas>
      </div>`;
    this.plot = this.element.querySelector(".plot");
    this.#caption = this.element.querySelector("figcaption span");
    this.pixels = this.element.querySelector(".pixels");
    this.axes = this.element.querySelector(".axes");
    Object.assign(this.pixels.style, { left: `${MARGIN.left}px`, top: `${MARGIN.top}px` });
    this.canvas = new PlaneCanvas(this.pixels);
    this.#listen();
  }
  #gestures;
  #caption;
  #dragged = null;
  wires = [0, 1];
  time = [0, 1];

  setCaption(text) {
    this.#caption.textContent = text;
  }

  /// Gives the canvases as many pixels as the screen has there.
  resize() {
    const density = window.devicePixelRatio || 1;
    const { width, height } = this.plot.getBoundingClientRect();
    const inner = {
      width: Math.max(Math.floor(width) - MARGIN.left - MARGIN.right, 1),
      height: Math.max(Math.floor(height) - MARGIN.top - MARGIN.bottom, 1),
    };
    for (const [canvas, size] of [[this.pixels, inner], [this.axes, { width, height }]]) {
      canvas.width = Math.round(size.width * density);
      canvas.height = Math.round(size.height * density);
      canvas.style.width = `${size.width}px`;
      canvas.style.height = `${size.height}px`;
    }
    this.inner = inner;
  }

  draw(wires, time, cursor) {
    this.wires = wires;
    this.time = time;
    this.canvas.draw(wires, time);
    this.#drawAxes(cursor);
  }

  #x(wire) {
    return MARGIN.left + ((wire - this.wires[0]) / (this.wires[1] - this.wires[0])) * this.inner.width;
  }
  #y(tick) {
    return MARGIN.top + (1 - (tick - this.time[0]) / (this.time[1] - this.time[0])) * this.inner.height;
  }

  #drawAxes(cursor) {
    const context = this.axes.getContext("2d");
    const density = window.devicePixelRatio || 1;
    const style = getComputedStyle(this.plot);
    const { width, height } = this.inner;
    const bottom = MARGIN.top + height;
    context.setTransform(density, 0, 0, density, 0, 0);
    context.clearRect(0, 0, this.axes.width, this.axes.height);
    context.font = `12px ${style.fontFamily}`;
    context.fillStyle = style.color;
    context.textAlign = "center";
    context.textBaseline = "top";
    for (const tick of linearTicks(...this.wires, Math.max(width / 90, 2))) {
      const x = Math.round(this.#x(tick));
      context.fillRect(x, bottom, 1, 4);
      context.fillText(String(+tick.toFixed(2)), Math.min(x, MARGIN.left + width - 8), bottom + 6);
    }
    context.fillText("wire", MARGIN.left + width / 2, bottom + 21);
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const tick of linearTicks(...this.time, Math.max(height / 60, 2))) {
      const y = Math.round(this.#y(tick));
      context.fillRect(MARGIN.left - 4, y, 4, 1);
      context.fillText(String(+tick.toFixed(2)), MARGIN.left - 7, Math.max(y, MARGIN.top + 5));
    }
    context.save();
    context.translate(8, MARGIN.top + height / 2);
    context.rotate(-Math.PI / 2);
    context.textAlign = "center";
    context.fillText("tick", 0, 0);
    context.restore();
    if (cursor) {
      this.#drawCursor(context, cursor);
    }
  }

  /// The time of the cursor on every plane, and on its own plane the pixel.
  #drawCursor(context, cursor) {
    context.fillStyle = "rgb(255 255 255 / 0.45)";
    const y = Math.round(this.#y(cursor.tick + 0.5));
    if (y >= MARGIN.top && y <= MARGIN.top + this.inner.height) {
      context.fillRect(MARGIN.left, y, this.inner.width, 1);
    }
    if (cursor.plane === this.number) {
      const x = Math.round(this.#x(cursor.wire + 0.5));
      context.fillRect(x, MARGIN.top, 1, this.inner.height);
    }
  }

  /// Wire and tick at a place of the window, with fractions; nothing outside the plot.
  #at(event) {
    const box = this.pixels.getBoundingClientRect();
    const right = (event.clientX - box.left) / box.width;
    const up = 1 - (event.clientY - box.top) / box.height;
    if (right < 0 || right > 1 || up < 0 || up > 1) {
      return null;
    }
    return {
      wire: this.wires[0] + right * (this.wires[1] - this.wires[0]),
      tick: this.time[0] + up * (this.time[1] - this.time[0]),
      reach: [REACH / box.width * (this.wires[1] - this.wires[0]), REACH / box.height * (this.time[1] - this.time[0])],
    };
  }

  #listen() {
    const plot = this.plot;
    plot.addEventListener("pointerdown", (event) => {
      if (event.button === 0 && event.pointerType !== "touch" && this.#at(event)) {
        this.#dragged = { x: event.clientX, y: event.clientY };
        plot.setPointerCapture(event.pointerId);
      }
    });
    plot.addEventListener("pointermove", (event) => {
      if (this.#dragged) {
        const perWire = this.inner.width / (this.wires[1] - this.wires[0]);
        const perTick = this.inner.height / (this.time[1] - this.time[0]);
        const right = event.clientX - this.#dragged.x;
        const down = event.clientY - this.#dragged.y;
        this.#dragged = { x: event.clientX, y: event.clientY };
        this.#gestures.pan(this.number, -right / perWire, down / perTick);
      }
      this.#gestures.point(this.number, this.#at(event));
    });
    for (const kind of ["pointerup", "pointercancel"]) {
      plot.addEventListener(kind, () => (this.#dragged = null));
    }
    plot.addEventListener("pointerleave", () => this.#gestures.point(this.number, null));
    plot.addEventListener("click", (event) => this.#gestures.point(this.number, this.#at(event)));
    plot.addEventListener("dblclick", () => this.#gestures.showAll());
    plot.addEventListener(
      "wheel",
      (event) => {
        const at = this.#at(event);
        if (at) {
          event.preventDefault();
          // Shift turns a wheel sideways on some systems.
          const turn = event.deltaY || event.deltaX;
          const axes = { wires: !event.altKey, time: !event.shiftKey };
          this.#gestures.zoom(this.number, ZOOM_STEP ** Math.sign(turn), at, axes);
        }
      },
      { passive: false },
    );
    plot.addEventListener("keydown", (event) => this.#key(event));
  }

  #key(event) {
    const wires = (this.wires[1] - this.wires[0]) * PAN_STEP;
    const ticks = (this.time[1] - this.time[0]) * PAN_STEP;
    const moves = {
      ArrowLeft: [-wires, 0],
      ArrowRight: [wires, 0],
      ArrowUp: [0, ticks],
      ArrowDown: [0, -ticks],
    };
    if (moves[event.key]) {
      event.preventDefault();
      this.#gestures.pan(this.number, ...moves[event.key]);
    }
  }
}
