// The pixels of one plane on a canvas, drawn by the graphics card: a rectangle for each stored
// pixel. Panning and zooming change four numbers; colours are sent again only when they change.

const VERTEX = `#version 300 es
layout(location = 0) in vec2 place;   // wire, tick
layout(location = 1) in vec4 color;
layout(location = 2) in float depth;
uniform vec4 window;                  // first wire, first tick, wires, ticks
uniform vec2 size;                    // of the canvas, in pixels of the screen
out vec3 shade;
void main() {
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  // Whole pixels of the screen, at least one: nothing is blurred and nothing is lost.
  vec2 from = floor((place - window.xy) / window.zw * size + 0.002);
  vec2 to = max(floor((place + 1.0 - window.xy) / window.zw * size + 0.002), from + 1.0);
  vec2 at = mix(from, to, corner) / size * 2.0 - 1.0;
  gl_Position = color.a > 0.5 ? vec4(at, 0.9 - 1.8 * depth, 1) : vec4(2, 2, 2, 1);
  shade = color.rgb;
}`;

const FRAGMENT = `#version 300 es
precision mediump float;
in vec3 shade;
out vec4 result;
void main() { result = vec4(shade, 1); }`;

function compile(gl, kind, text) {
  const shader = gl.createShader(kind);
  gl.shaderSource(shader, text);
  gl.compileShader(shader);
  if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost()) {
    throw new Error("the graphics driver refuses a shader: " + gl.getShaderInfoLog(shader));
  }
  return shader;
}

export class PlaneCanvas {
  #canvas;
  #gl;
  #program;
  #window; // places of the uniforms
  #size;
  #buffers;
  #count = 0;
  #upload = null; // what was sent last, for a context that was lost

  constructor(canvas) {
    this.#canvas = canvas;
    this.#gl = canvas.getContext("webgl2", { antialias: false, alpha: false, preserveDrawingBuffer: false });
    if (!this.#gl) {
      throw new Error("this browser has no WebGL 2, which draws the planes; use another one, or `cosmictagger data show`");
    }
    this.#prepare();
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => {
      this.#prepare();
      if (this.#upload) {
        this.setPixels(this.#upload.plane);
        this.setColors(this.#upload.colors, this.#upload.depths);
      }
      canvas.dispatchEvent(new Event("restored"));
    });
  }

  #prepare() {
    const gl = this.#gl;
    this.#program = gl.createProgram();
    gl.attachShader(this.#program, compile(gl, gl.VERTEX_SHADER, VERTEX));
    gl.attachShader(this.#program, compile(gl, gl.FRAGMENT_SHADER, FRAGMENT));
    gl.linkProgram(this.#program);
    gl.useProgram(this.#program);
    this.#window = gl.getUniformLocation(this.#program, "window");
    this.#size = gl.getUniformLocation(this.#program, "size");
    this.#buffers = [
      { parts: 2, type: gl.UNSIGNED_SHORT, normalized: false },
      { parts: 4, type: gl.UNSIGNED_BYTE, normalized: true },
      { parts: 1, type: gl.UNSIGNED_BYTE, normalized: true },
    ].map((layout, location) => {
      const buffer = gl.createBuffer();
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.enableVertexAttribArray(location);
      gl.vertexAttribPointer(location, layout.parts, layout.type, layout.normalized, 0, 0);
      gl.vertexAttribDivisor(location, 1);
      return buffer;
    });
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    gl.clearColor(17 / 255, 18 / 255, 26 / 255, 1);
  }

  #send(which, array) {
    this.#gl.bindBuffer(this.#gl.ARRAY_BUFFER, this.#buffers[which]);
    this.#gl.bufferData(this.#gl.ARRAY_BUFFER, array, this.#gl.STATIC_DRAW);
  }

  /// Where the pixels of a plane are.
  setPixels(plane) {
    const places = new Uint16Array(2 * plane.pixels);
    for (let i = 0; i < plane.pixels; ++i) {
      places[2 * i] = plane.ids[i] / plane.rows;
      places[2 * i + 1] = plane.ids[i] % plane.rows;
    }
    this.#send(0, places);
    this.#count = 0; // until they have colours
    this.#upload = { plane };
  }

  setColors(colors, depths) {
    this.#send(1, colors);
    this.#send(2, depths);
    this.#count = depths.length;
    Object.assign(this.#upload, { colors, depths });
  }

  /// Draws the part of the plane from the first to the last wire and tick.
  draw([firstWire, lastWire], [firstTick, lastTick]) {
    const gl = this.#gl;
    const { width, height } = this.#canvas;
    gl.viewport(0, 0, width, height);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.uniform4f(this.#window, firstWire, firstTick, lastWire - firstWire, lastTick - firstTick);
    gl.uniform2f(this.#size, width, height);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, this.#count);
  }
}
