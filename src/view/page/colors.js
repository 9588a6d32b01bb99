// Colours of classes and scales. Blue and orange stay apart in every kind of colour blindness, and
// lightness alone carries the order of the heat scale; planes are dark in every theme, so that
// faint charge is seen.

export const panel = "rgb(17, 18, 26)";
const grey = [92, 95, 104];
const blue = [64, 156, 255];
const orange = [255, 176, 32];
const white = [238, 240, 245];
const dim = [58, 61, 71];

/// The classes of each layer that has some, those drawn on top last.
export const classes = {
  truth: [
    { name: "background", color: grey },
    { name: "cosmic", color: blue },
    { name: "neutrino", color: orange },
  ],
  errors: [
    { name: "not neutrino", color: dim },
    { name: "found", color: white },
    { name: "false", color: blue },
    { name: "missed", color: orange },
  ],
  difference: [
    { name: "neither", color: dim },
    { name: "both", color: white },
    { name: "only the second", color: blue, only: "second" },
    { name: "only the first", color: orange, only: "first" },
  ],
};
classes.tags = classes.truth;

export const untagged = dim;

/// "rrggbb" 256 times, as the server writes it, as bytes.
export function heatColors(text) {
  return Uint8Array.from({ length: text.length / 2 }, (_, i) => parseInt(text.slice(2 * i, 2 * i + 2), 16));
}

/// From blue at -1 over grey to orange at 1.
export function divergingColor(value) {
  const end = value < 0 ? blue : orange;
  const share = Math.min(Math.abs(value), 1);
  return dim.map((low, i) => Math.round(low + share * (end[i] - low)));
}

export const cssColor = (color) => `rgb(${color.join(", ")})`;
