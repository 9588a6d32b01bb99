// The pixels of one plane on a canvas, drawn by the graphics card in one call: a point for each
// stored pixel of the wires that are seen, or two triangles where it is larger than a pixel of the
// screen. Panning and zooming send seven numbers; colours are sent again only when they change.

import { ofWires } from "./sorted_ids.js";

const VERTEX = `#version 300 es
layout(location = 0) in vec2 place;   // wire, tick
layout(location = 1) in vec4 color;   // alpha is the depth; 0 hides the pixel
uniform vec4 window;                  // first wire, first tick, wires, ticks
uniform vec2 size;                    // of the canvas, in pixels of the screen
uniform bool points;                  // or corners of rectangles
out vec3 shade;
void main() {
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1 & 1);
  // Whole pixels of the screen, at least one: nothing is blurred and nothing is lost.
  vec2 from = floor((place - window.xy) / window.zw * size + 0.002);
  vec2 to = max(floor((place + 1.0 - window.xy) / window.zw * size + 0.002), from + 1.0);
  vec2 at = (points ? from + 0.5 : mix(from, to, corner)) / size * 2.0 - 1.0;
  gl_Position = color.a > 0.0 ? vec4(at, 0.9 - 1.8 * color.a, 1) : vec4(2, 2, 2, 1);
  gl_PointSize = 1.0;
  shade = color.rgb;
}`;

const FRAGMENT = `#version 300 es
precision mediump float;
in vec3 shade;
out vec4 result;
void main() { result = vec4(shade, 1); }`;

const CORNERS = 4;
const TRIANGLES = [0, 1, 2, 2, 1, 3]; // of four corners
const BYTES = 4; // of a place, of a colour, of an index
// Up to this many pixels of the screen for a stored one, a point is the same as a rectangle.
const POINT_SIZE = 0.999;

function compile(gl, kind, text) {
  const shader = gl.createShader(kind);
  gl.shaderSource(shader, text);
  gl.compileShader(shader);
  if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost()) {
    throw new Error("the graphics driver refuses a shader: " + gl.getShaderInfoLog(shader));
  }
  return shader;
}

/// One value of four bytes for each pixel becomes one for each of its corners. (Drawing instances of
/// one rectangle would need no copies, but drivers take far longer for many small instances.)
function atCorners(count, valueOf) {
  const values = new Uint32Array(CORNERS * count);
  for (let i = 0; i < count; ++i) {
    values.fill(valueOf(i), CORNERS * i, CORNERS * (i + 1));
  }
  return values;
}

export class PlaneCanvas {
  #canvas;
  #gl;
  #window; // places of the uniforms
  #size;
  #points;
  #buffers;
  #rectangles; // how the buffers are read for each way of drawing
  #singles;
  #sent = null; // what the buffers hold: also for a context that was lost

  constructor(canvas) {
    this.#canvas = canvas;
    this.#gl = canvas.getContext("webgl2", { antialias: false, alpha: false });
    if (!this.#gl) {
      throw new Error("this browser has no WebGL 2, which the address asks for; leave ?draw=card out");
    }
    this.#prepare();
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => {
      this.#prepare();
      if (this.#sent) {
        const { plane, colors } = this.#sent;
        this.setPixels(plane);
        if (colors) {
          this.setColors(colors);
        }
      }
      canvas.dispatchEvent(new Event("restored"));
    });
  }

  #prepare() {
    const gl = this.#gl;
    const program = gl.createProgram();
    gl.attachShader(program, compile(gl, gl.VERTEX_SHADER, VERTEX));
    gl.attachShader(program, compile(gl, gl.FRAGMENT_SHADER, FRAGMENT));
    gl.linkProgram(program);
    gl.useProgram(program);
    this.#window = gl.getUniformLocation(program, "window");
    this.#size = gl.getUniformLocation(program, "size");
    this.#points = gl.getUniformLocation(program, "points");
    this.#buffers = [gl.createBuffer(), gl.createBuffer()];
    this.#singles = this.#reading(CORNERS * BYTES); // of four corners that are alike, the first
    this.#rectangles = this.#reading(BYTES);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    gl.clearColor(17 / 255, 18 / 255, 26 / 255, 1);
  }

  /// Places and colours, one every so many bytes.
  #reading(stride) {
    const gl = this.#gl;
    const reading = gl.createVertexArray();
    gl.bindVertexArray(reading);
    [
      { parts: 2, type: gl.UNSIGNED_SHORT, normalized: false },
      { parts: 4, type: gl.UNSIGNED_BYTE, normalized: true },
    ].forEach(({ parts, type, normalized }, location) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, this.#buffers[location]);
      gl.enableVertexAttribArray(location);
      gl.vertexAttribPointer(location, parts, type, normalized, stride, 0);
    });
    return reading;
  }

  #send(which, array) {
    this.#gl.bindBuffer(this.#gl.ARRAY_BUFFER, this.#buffers[which]);
    this.#gl.bufferData(this.#gl.ARRAY_BUFFER, array, this.#gl.STATIC_DRAW);
  }

  /// Where the pixels of a plane are. Nothing is drawn before they have colours.
  setPixels(plane) {
    // The tick in the upper two bytes, as a vertex reads them.
    this.#send(0, atCorners(plane.pixels, (i) => Math.floor(plane.ids[i] / plane.rows) + (plane.ids[i] % plane.rows) * 65536));
    const indices = new Uint32Array(TRIANGLES.length * plane.pixels);
    for (let i = 0; i < indices.length; ++i) {
      indices[i] = CORNERS * Math.floor(i / TRIANGLES.length) + TRIANGLES[i % TRIANGLES.length];
    }
    this.#gl.bindVertexArray(this.#rectangles);
    this.#gl.bufferData(this.#gl.ELEMENT_ARRAY_BUFFER, indices, this.#gl.STATIC_DRAW);
    this.#sent = { plane };
  }

  /// Red, green, blue and depth of each pixel.
  setColors(colors) {
    const packed = new Uint32Array(colors.buffer);
    this.#send(1, atCorners(packed.length, (i) => packed[i]));
    this.#sent.colors = colors;
  }

  /// Draws the part of the plane from the first to the last wire and tick.
  draw([firstWire, lastWire], [firstTick, lastTick]) {
    const gl = this.#gl;
    const { width, height } = this.#canvas;
    const wires = lastWire - firstWire;
    const ticks = lastTick - firstTick;
    gl.viewport(0, 0, width, height);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    if (!this.#sent?.colors) {
      return;
    }
    const [from, to] = ofWires(this.#sent.plane, [firstWire, lastWire]);
    const points = Math.max(width / wires, height / ticks) <= POINT_SIZE;
    gl.uniform4f(this.#window, firstWire, firstTick, wires, ticks);
    gl.uniform2f(this.#size, width, height);
    gl.uniform1i(this.#points, points);
    if (points) {
      gl.bindVertexArray(this.#singles);
      gl.drawArrays(gl.POINTS, from, to - from);
    } else {
      gl.bindVertexArray(this.#rectangles);
      gl.drawElements(gl.TRIANGLES, TRIANGLES.length * (to - from), gl.UNSIGNED_INT, BYTES * TRIANGLES.length * from);
    }
  }
}
