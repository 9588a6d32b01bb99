// A PDF file of one page with one picture on it, without loss.

/// `picture` is ImageData; the page is A4 across, or as the picture is if that is upright.
export async function pdfOf(picture, title) {
  const { width, height, data } = picture;
  const rgb = new Uint8Array(3 * width * height);
  for (let i = 0, j = 0; i < data.length; i += 4) {
    rgb[j++] = data[i];
    rgb[j++] = data[i + 1];
    rgb[j++] = data[i + 2];
  }
  const packed = new Uint8Array(
    await new Response(new Blob([rgb]).stream().pipeThrough(new CompressionStream("deflate"))).arrayBuffer(),
  );
  const [pageWidth, pageHeight] = width >= height ? [842, 595] : [595, 842]; // points
  const margin = 28;
  const scale = Math.min((pageWidth - 2 * margin) / width, (pageHeight - 2 * margin) / height);
  const [w, h] = [width * scale, height * scale];
  const drawing = `q ${w} 0 0 ${h} ${(pageWidth - w) / 2} ${(pageHeight - h) / 2} cm /P Do Q`;
  const name = title.replace(/[^ -~]/g, "?").replace(/[()\\]/g, "\\$&");
  return assembled([
    ["<< /Type /Catalog /Pages 2 0 R >>"],
    ["<< /Type /Pages /Kids [3 0 R] /Count 1 >>"],
    [`<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${pageWidth} ${pageHeight}] /Contents 4 0 R /Resources << /XObject << /P 5 0 R >> >> >>`],
    [`<< /Length ${drawing.length} >>\nstream\n${drawing}\nendstream`],
    [
      `<< /Type /XObject /Subtype /Image /Width ${width} /Height ${height} /ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /FlateDecode /Length ${packed.length} >>\nstream\n`,
      packed,
      "\nendstream",
    ],
    [`<< /Title (${name}) /Producer (cosmictagger view) >>`],
  ]);
}

/// Objects with their numbers, and the table of where each begins.
function assembled(objects) {
  const parts = [];
  let length = 0;
  const add = (part) => {
    const bytes = typeof part === "string" ? new TextEncoder().encode(part) : part;
    parts.push(bytes);
    length += bytes.length;
  };
  add("%PDF-1.4\n");
  const starts = objects.map((object, i) => {
    const start = length;
    [`${i + 1} 0 obj\n`, ...object, "\nendobj\n"].forEach(add);
    return start;
  });
  const table = length;
  const rows = starts.map((start) => `${String(start).padStart(10, "0")} 00000 n \n`);
  add(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows.join("")}`);
  add(`trailer\n<< /Size ${objects.length + 1} /Root 1 0 R /Info ${objects.length} 0 R >>\nstartxref\n${table}\n%%EOF\n`);
  return new Blob(parts, { type: "application/pdf" });
}
