// What colour each stored pixel of a plane has in a layer, and which of several pixels wins where
// the screen has room for one: the largest charge, the strongest class.

import { classes, divergingColor, untagged } from "./colors.js";

const NEUTRINO = 2;
const NO_TAG = 255;

/// What can be chosen; `needs` says what an event must have for it.
export const layers = [
  { id: "charge", name: "Charge", needs: [] },
  { id: "truth", name: "Truth", needs: ["labels"] },
  { id: "tags", name: "Tags", needs: ["network"], threshold: true },
  { id: "errors", name: "Missed and false", needs: ["labels", "network"], threshold: true },
  { id: "neutrino", name: "Neutrino score", needs: ["network"], threshold: true, scale: [0, 1] },
  { id: "cosmic", name: "Cosmic score", needs: ["network"], scale: [0, 1] },
  { id: "difference", name: "Difference of tags", needs: ["both"], threshold: true },
  { id: "score-difference", name: "Difference of neutrino scores", needs: ["both"], scale: [-1, 1] },
];

export function layersFor(session) {
  const has = {
    labels: session.labelled,
    network: session.networks.length > 0,
    both: session.networks.length > 1,
  };
  return layers.filter((layer) => layer.needs.every((need) => has[need]));
}

/// Differences are those to the network before: the checkpoint before, or the other one of two.
export const comparedWith = (network) => (network > 0 ? network - 1 : 1);

/// The label that a network gives a pixel: the most likely, or with a threshold neutrino from that
/// score on and the likelier of the others below it.
export function tagOf(network, i, threshold) {
  if (threshold === null || network.tag[i] === NO_TAG) {
    return network.tag[i];
  }
  const neutrino = network.neutrino[i];
  if (neutrino >= threshold) {
    return NEUTRINO;
  }
  const cosmic = network.cosmic[i];
  return cosmic > 1 - cosmic - neutrino ? 1 : 0;
}

/// The class of a pixel, a number in classes[layer]; -1 for one without.
export function classOf(plane, i, { layer, network, threshold }) {
  switch (layer) {
    case "truth":
      return plane.label[i];
    case "tags": {
      const tag = tagOf(plane.networks[network], i, threshold);
      return tag === NO_TAG ? -1 : tag;
    }
    case "errors": {
      const truth = plane.label[i] === NEUTRINO;
      const tagged = tagOf(plane.networks[network], i, threshold) === NEUTRINO;
      return truth ? (tagged ? 1 : 3) : tagged ? 2 : 0;
    }
    case "difference": {
      const first = tagOf(plane.networks[network], i, threshold) === NEUTRINO;
      const second = tagOf(plane.networks[comparedWith(network)], i, threshold) === NEUTRINO;
      return first ? (second ? 1 : 3) : second ? 2 : 0;
    }
    default:
      return -1;
  }
}

/// How many pixels of an event are in each class.
export function countClasses(event, state) {
  const counts = new Array(classes[state.layer]?.length ?? 0).fill(0);
  if (counts.length > 0) {
    for (const plane of event.planes) {
      for (let i = 0; i < plane.pixels; ++i) {
        const which = classOf(plane, i, state);
        if (which >= 0) {
          ++counts[which];
        }
      }
    }
  }
  return counts;
}

/// Red, green, blue and depth of the pixels of a plane. The greatest depth is drawn on top; a pixel
/// of depth 0 is hidden.
export function paint(plane, state, scale, heat) {
  const colors = new Uint8Array(4 * plane.pixels);
  const ofClass = classes[state.layer];
  const hidden = new Set([...state.hidden].map(Number));
  for (let i = 0; i < plane.pixels; ++i) {
    const level = Math.round(255 * scale.share(plane.charge[i]));
    let color = null; // over the charge
    let depth = level;
    let shown = true;
    if (ofClass) {
      const which = classOf(plane, i, state);
      color = which < 0 ? untagged : ofClass[which].color;
      depth = which + 1;
      shown = !hidden.has(which);
    } else if (state.layer === "score-difference") {
      const difference = plane.networks[state.network].neutrino[i] - plane.networks[comparedWith(state.network)].neutrino[i];
      color = Number.isNaN(difference) ? untagged : divergingColor(difference);
      depth = Number.isNaN(difference) ? 0 : Math.round(255 * Math.abs(difference));
    } else if (state.layer !== "charge") {
      const score = plane.networks[state.network][state.layer][i];
      const below = Number.isNaN(score) || (state.layer === "neutrino" && score < (state.threshold ?? 0));
      depth = below ? 0 : 1 + Math.round(254 * score);
      color = below ? untagged : heat.subarray(3 * depth, 3 * depth + 3);
    }
    const strength = color ? state.strength : 0;
    for (let part = 0; part < 3; ++part) {
      const below = heat[3 * level + part];
      colors[4 * i + part] = color ? Math.round(below + strength * (color[part] - below)) : below;
    }
    colors[4 * i + 3] = shown ? Math.max(depth, 1) : 0;
  }
  return colors;
}
