// One plane: its canvas, its axes, and what pointers and keys do there. It knows nothing of the
// other planes; what a gesture means for them is decided by display.js.

import { linearTicks } from "./charge_scale.js";
import { planeDrawer } from "./plane_drawer.js";

// For ticks, in CSS pixels. Beside another plane, whose ticks are the same, less on the left;
// style.css knows the difference.
const MARGIN = { left: 46, right: 10, top: 6, bottom: 36 };
const BESIDE = 8;
const ZOOM_STEP = 1.25;
const PAN_STEP = 0.1; // of what is seen
const REACH = 5; // CSS pixels around the cursor in which a pixel is looked for
const TAP = 10; // CSS pixels that a finger may slip and still mean one place

export class Panel {
  /// `gestures` has seen(plane), which is { wires, time, all }, pan(plane, wires, ticks),
  /// zoom(plane, factor, at, axes), point(plane, at) and showAll().
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
    this.pixels.style.top = `${MARGIN.top}px`;
    this.canvas = planeDrawer(this.pixels);
    this.#listen();
  }
  #gestures;
  #caption;
  #held = new Map(); // the mouse or the fingers that are down: where each was last
  #tap = null; // where the only finger was put down, until it moves or another joins it
  #left = MARGIN.left;
  wires = [0, 1];
  time = [0, 1];

  setCaption(text) {
    this.#caption.textContent = text;
  }

  /// Gives the canvases as many pixels as the screen has there. `beside` another plane there are no
  /// ticks of time.
  resize({ beside }) {
    this.#left = beside ? BESIDE : MARGIN.left;
    this.pixels.style.left = `${this.#left}px`;
    const density = window.devicePixelRatio || 1;
    const { width, height } = this.plot.getBoundingClientRect();
    const inner = {
      width: Math.max(Math.floor(width) - this.#left - MARGIN.right, 1),
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
    // Where there is nothing to pan, a finger scrolls the page.
    this.plot.classList.toggle("moves", !this.#gestures.seen(this.number).all);
  }

  #x(wire) {
    return this.#left + ((wire - this.wires[0]) / (this.wires[1] - this.wires[0])) * this.inner.width;
  }
  #y(tick) {
    return MARGIN.top + (1 - (tick - this.time[0]) / (this.time[1] - this.time[0])) * this.inner.height;
  }

  #drawAxes(cursor) {
    // A few letters: the processor draws them faster than a card is told to.
    const context = this.axes.getContext("2d", { willReadFrequently: true });
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
      context.fillText(String(+tick.toFixed(2)), Math.min(x, this.#left + width - 8), bottom + 6);
    }
    context.fillText("wire", Math.round(this.#left + width / 2), bottom + 21);
    if (this.#left === MARGIN.left) {
      this.#drawTime(context, height);
    }
    if (cursor) {
      this.#drawCursor(context, cursor);
    }
  }

  #drawTime(context, height) {
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const tick of linearTicks(...this.time, Math.max(height / 60, 2))) {
      const y = Math.round(this.#y(tick));
      context.fillRect(this.#left - 4, y, 4, 1);
      context.fillText(String(+tick.toFixed(2)), this.#left - 7, Math.max(y, MARGIN.top + 5));
    }
    context.save();
    context.translate(8, MARGIN.top + height / 2);
    context.rotate(-Math.PI / 2);
    context.textAlign = "center";
    context.fillText("tick", 0, 0);
    context.restore();
  }

  /// The time of the cursor on every plane, and on its own plane the pixel.
  #drawCursor(context, cursor) {
    context.fillStyle = "rgb(255 255 255 / 0.45)";
    const y = Math.round(this.#y(cursor.tick + 0.5));
    if (y >= MARGIN.top && y <= MARGIN.top + this.inner.height) {
      context.fillRect(this.#left, y, this.inner.width, 1);
    }
    if (cursor.plane === this.number) {
      const x = Math.round(this.#x(cursor.wire + 0.5));
      context.fillRect(x, MARGIN.top, 1, this.inner.height);
    }
  }

  /// Wire and tick at a place of the window, with fractions; nothing outside the plot.
  #at({ x, y }) {
    const box = this.pixels.getBoundingClientRect();
    const right = (x - box.left) / box.width;
    const up = 1 - (y - box.top) / box.height;
    if (right < 0 || right > 1 || up < 0 || up > 1) {
      return null;
    }
    // What is seen from the next frame on: several moves may come before it.
    const { wires, time } = this.#gestures.seen(this.number);
    return {
      wire: wires[0] + right * (wires[1] - wires[0]),
      tick: time[0] + up * (time[1] - time[0]),
      reach: [REACH / box.width * (wires[1] - wires[0]), REACH / box.height * (time[1] - time[0])],
    };
  }

  /// The mouse or one finger pans, two fingers also zoom.
  #move(event) {
    const before = graspOf([...this.#held.values()]);
    this.#held.set(event.pointerId, { x: event.clientX, y: event.clientY });
    const now = graspOf([...this.#held.values()]);
    const { wires, time } = this.#gestures.seen(this.number);
    const right = (now.x - before.x) / this.inner.width;
    const down = (now.y - before.y) / this.inner.height;
    this.#gestures.pan(this.number, -right * (wires[1] - wires[0]), down * (time[1] - time[0]));
    const at = this.#at(now);
    if (at && before.spread > 0 && now.spread > 0) {
      this.#gestures.zoom(this.number, before.spread / now.spread, at);
    }
  }

  #listen() {
    const plot = this.plot;
    plot.addEventListener("pointerdown", (event) => {
      if (event.button === 0 && this.#at(event)) {
        this.#held.set(event.pointerId, { x: event.clientX, y: event.clientY });
        plot.setPointerCapture(event.pointerId);
        this.#tap = event.pointerType === "touch" && this.#held.size === 1 ? { x: event.clientX, y: event.clientY } : null;
      }
    });
    plot.addEventListener("pointermove", (event) => {
      if (this.#held.has(event.pointerId)) {
        this.#move(event);
      }
      if (event.pointerType !== "touch") {
        this.#gestures.point(this.number, this.#at(event));
      } else if (this.#tap && Math.hypot(event.clientX - this.#tap.x, event.clientY - this.#tap.y) > TAP) {
        this.#tap = null;
      }
    });
    // Not by the click: after a finger that pans, browsers take a tap for the end of that movement
    // and leave the click out.
    plot.addEventListener("pointerup", (event) => {
      if (this.#tap) {
        this.#gestures.point(this.number, this.#at(event));
      }
    });
    for (const kind of ["pointerup", "pointercancel"]) {
      plot.addEventListener(kind, (event) => {
        this.#held.delete(event.pointerId);
        this.#tap = null;
      });
    }
    // A finger that is lifted leaves too; what it pointed at stays to be read.
    plot.addEventListener("pointerleave", (event) => {
      if (event.pointerType !== "touch") {
        this.#gestures.point(this.number, null);
      }
    });
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

/// Where one or two pointers are together, and how far they are from each other.
function graspOf(points) {
  const [first, last] = [points[0], points.at(-1)];
  return {
    x: (first.x + last.x) / 2,
    y: (first.y + last.y) / 2,
    spread: Math.hypot(first.x - last.x, first.y - last.y),
  };
}
