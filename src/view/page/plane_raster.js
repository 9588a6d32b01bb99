// The pixels of one plane on a canvas, drawn by the processor. Where a browser has no graphics card,
// it does WebGL in software, which takes a hundred milliseconds for a frame; a loop over the stored
// pixels takes one. What is drawn is what plane_canvas.js draws, pixel by pixel.

const BACKGROUND = 0xff1a1211; // panel of colors.js, as memory has it: alpha, blue, green, red
const OPAQUE = 0xff000000;
const DEPTHS = 256;
const EDGE = 0.002; // of a pixel of the screen, as in the shader

/// Where each wire or tick from `first` to `last` begins and ends on `size` pixels of the screen:
/// two numbers for each, within the canvas, and nothing for what is outside.
function places([low, high], size, first, last) {
  const scale = size / (high - low);
  const ends = new Int32Array(2 * Math.max(last - first, 0));
  for (let i = 0; i < ends.length; i += 2) {
    const from = Math.floor((first + i / 2 - low) * scale + EDGE);
    const to = Math.max(Math.floor((first + i / 2 + 1 - low) * scale + EDGE), from + 1);
    ends[i] = Math.max(from, 0);
    ends[i + 1] = Math.min(to, size);
  }
  return ends;
}

/// The places of all pixels that have a depth, the least depth first: what is drawn later is on top.
function byDepth(colors) {
  const starts = new Uint32Array(DEPTHS + 1);
  for (let i = 3; i < colors.length; i += 4) {
    ++starts[colors[i] + 1];
  }
  const hidden = starts[1];
  starts[1] = 0;
  for (let depth = 1; depth <= DEPTHS; ++depth) {
    starts[depth] += starts[depth - 1];
  }
  const order = new Uint32Array(colors.length / 4 - hidden);
  for (let i = 0; 4 * i < colors.length; ++i) {
    const depth = colors[4 * i + 3];
    if (depth > 0) {
      order[starts[depth]++] = i;
    }
  }
  return order;
}

export class PlaneRaster {
  #canvas;
  #context;
  #plane = null;
  #wires = new Uint16Array(); // of the pixels in the order in which they are drawn
  #ticks = new Uint16Array();
  #colors = new Uint32Array();
  #picture = null; // as large as the canvas

  constructor(canvas) {
    this.#canvas = canvas;
    this.#context = canvas.getContext("2d", { alpha: false, willReadFrequently: true });
  }

  /// Where the pixels of a plane are. Nothing is drawn before they have colours.
  setPixels(plane) {
    this.#plane = plane;
    this.#colors = new Uint32Array();
  }

  /// Red, green, blue and depth of each pixel.
  setColors(colors) {
    const order = byDepth(colors);
    const { ids, rows } = this.#plane;
    const packed = new Uint32Array(colors.buffer);
    this.#wires = new Uint16Array(order.length);
    this.#ticks = new Uint16Array(order.length);
    this.#colors = new Uint32Array(order.length);
    for (let at = 0; at < order.length; ++at) {
      const i = order[at];
      this.#wires[at] = ids[i] / rows;
      this.#ticks[at] = ids[i] % rows;
      this.#colors[at] = packed[i] | OPAQUE;
    }
  }

  /// Draws the part of the plane from the first to the last wire and tick.
  draw(wires, ticks) {
    const { width, height } = this.#canvas;
    if (this.#picture?.width !== width || this.#picture.height !== height) {
      this.#picture = new ImageData(width, height);
    }
    const screen = new Uint32Array(this.#picture.data.buffer);
    screen.fill(BACKGROUND);
    if (this.#colors.length > 0) {
      this.#fill(screen, width, height, wires, ticks);
    }
    this.#context.putImageData(this.#picture, 0, 0);
  }

  #fill(screen, width, height, wires, ticks) {
    const { columns, rows } = this.#plane;
    const [firstWire, firstTick] = [wires, ticks].map(([low]) => Math.max(Math.floor(low), 0));
    const [lastWire, lastTick] = [Math.min(Math.ceil(wires[1]), columns), Math.min(Math.ceil(ticks[1]), rows)];
    const across = places(wires, width, firstWire, lastWire);
    const up = places(ticks, height, firstTick, lastTick);
    const count = this.#colors.length;
    for (let i = 0; i < count; ++i) {
      const wire = 2 * (this.#wires[i] - firstWire);
      const tick = 2 * (this.#ticks[i] - firstTick);
      if (wire < 0 || wire >= across.length || tick < 0 || tick >= up.length) {
        continue;
      }
      const left = across[wire];
      const right = across[wire + 1];
      const color = this.#colors[i];
      for (let y = up[tick]; y < up[tick + 1]; ++y) {
        const row = (height - 1 - y) * width;
        for (let x = left; x < right; ++x) {
          screen[row + x] = color;
        }
      }
    }
  }
}
