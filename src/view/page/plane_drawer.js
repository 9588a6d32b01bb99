// Who draws the pixels of the planes: the graphics card, or the processor where there is no card.

import { PlaneCanvas } from "./plane_canvas.js";
import { PlaneRaster } from "./plane_raster.js";

// Names of renderers that are no cards: Chromium's, Mesa's, Windows', Apple's.
const IN_SOFTWARE = /swiftshader|llvmpipe|softpipe|swrast|software|basic render/i;

/// WebGL 2 by a card. A browser may have it without one, and then it is slower than we are.
function hasCard() {
  const canvas = document.createElement("canvas");
  const gl = canvas.getContext("webgl2", { failIfMajorPerformanceCaveat: true });
  if (!gl) {
    return false;
  }
  const names = gl.getExtension("WEBGL_debug_renderer_info");
  const name = gl.getParameter(names ? names.UNMASKED_RENDERER_WEBGL : gl.RENDERER);
  gl.getExtension("WEBGL_lose_context")?.loseContext(); // browsers allow few at once
  return !IN_SOFTWARE.test(name);
}

/// The address can say it, for comparing: ?draw=card or ?draw=processor.
const asked = new URLSearchParams(location.search).get("draw");
const byCard = ["card", "processor"].includes(asked) ? asked === "card" : hasCard();

export const planeDrawer = (canvas) => (byCard ? new PlaneCanvas(canvas) : new PlaneRaster(canvas));
