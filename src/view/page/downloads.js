// What is seen as a picture: the three planes with their axes, the colour bar or the legend, and
// what the event is.

import { cssColor, classes } from "./colors.js";
import { pdfOf } from "./pdf.js";

const byId = (id) => document.getElementById(id);

/// A canvas with everything on it, as many pixels as the screen has.
function drawPicture(display) {
  display.draw(); // what the graphics card draws is gone after the frame
  const density = window.devicePixelRatio || 1;
  const stage = byId("planes").getBoundingClientRect();
  const head = 64;
  const foot = 56;
  const canvas = document.createElement("canvas");
  canvas.width = Math.round((stage.width + 32) * density);
  canvas.height = Math.round((stage.height + head + foot) * density);
  const context = canvas.getContext("2d");
  const style = getComputedStyle(document.body);
  context.scale(density, density);
  context.fillStyle = style.backgroundColor;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.translate(16, 0);
  context.fillStyle = style.color;
  context.font = `600 20px ${style.fontFamily}`;
  context.fillText(byId("event-name").textContent, 0, 28);
  context.font = `14px ${style.fontFamily}`;
  context.fillText(byId("event-facts").textContent, 0, 50);
  for (const panel of display.panels) {
    const caption = panel.element.querySelector("figcaption").getBoundingClientRect();
    context.fillText(panel.element.querySelector("figcaption").textContent, caption.left - stage.left, caption.bottom - stage.top + head - 5);
    for (const layer of [panel.pixels, panel.axes]) {
      const box = layer.getBoundingClientRect();
      context.drawImage(layer, box.left - stage.left, box.top - stage.top + head, box.width, box.height);
    }
  }
  drawKey(context, display, stage.height + head + 14);
  return canvas;
}

function drawKey(context, display, top) {
  const bar = byId("color-bar");
  if (!bar.hidden) {
    const box = bar.getBoundingClientRect();
    context.drawImage(bar, 0, top, box.width, box.height);
    return;
  }
  let left = 0;
  [...byId("legend").children].forEach((chip, number) => {
    const one = classes[display.layer.id]?.[number];
    if (one) {
      context.fillStyle = cssColor(one.color);
      context.fillRect(left, top, 13, 13);
      context.strokeStyle = "rgb(127 127 127 / 0.6)"; // light colours on a light page
      context.strokeRect(left + 0.5, top + 0.5, 12, 12);
      left += 20;
    }
    context.fillStyle = getComputedStyle(document.body).color;
    context.fillText(chip.textContent.trim(), left, top + 12);
    left += context.measureText(chip.textContent.trim()).width + 24;
  });
}

function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

const nameOf = (display) => `event${display.event.entry}_${display.layer.id}`;

export function savePng(display) {
  drawPicture(display).toBlob((blob) => save(blob, `${nameOf(display)}.png`), "image/png");
}

export async function savePdf(display) {
  const canvas = drawPicture(display);
  const picture = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  save(await pdfOf(picture, `CosmicTagger, event ${display.event.entry}`), `${nameOf(display)}.pdf`);
}
