// The ONNX Runtime peer of bench/compare_tag: node onnxruntime_tag.js MODEL.onnx IMAGES HEIGHT WIDTH TAGS [threads]
// IMAGES holds float32 [events, 3, height, width] and is read event by event; TAGS gets a byte for each pixel.
// Prints one JSON line. Only the network with its softmax is timed, after one event that warms up.
// Needs the npm package onnxruntime-node on NODE_PATH.
const fs = require('fs');
const os = require('os');
const ort = require('onnxruntime-node');

function tagsOf(probabilities, pixels) {
  const tags = Buffer.alloc(pixels);
  for (let i = 0; i < pixels; i++) {
    const [a, b, c] = [probabilities[i], probabilities[pixels + i], probabilities[2 * pixels + i]];
    tags[i] = c > a && c > b ? 2 : b > a ? 1 : 0;
  }
  return tags;
}

async function main() {
  const [model, imagesFile, height, width, tagsFile, threads = String(os.cpus().length)] = process.argv.slice(2);
  const shape = [1, 3, Number(height), Number(width)];
  const pixels = shape[2] * shape[3];
  const bytes = 3 * pixels * 4;
  const events = fs.statSync(imagesFile).size / bytes;
  const images = fs.openSync(imagesFile, 'r');
  const tags = fs.openSync(tagsFile, 'w');
  const session = await ort.InferenceSession.create(model, {intraOpNumThreads: Number(threads)});
  const image = new Float32Array(3 * pixels);
  const seconds = [];
  for (let event = -1; event < events; event++) {
    fs.readSync(images, image, 0, bytes, Math.max(event, 0) * bytes);
    const start = process.hrtime.bigint();
    const planes = await session.run({image: new ort.Tensor('float32', image, shape)});
    const took = Number(process.hrtime.bigint() - start) / 1e9;
    if (event < 0) continue;
    seconds.push(took);
    for (const name of session.outputNames) fs.writeSync(tags, tagsOf(planes[name].data, pixels));
  }
  seconds.sort((a, b) => a - b);
  console.log(JSON.stringify({peer: 'ONNX Runtime', events, seconds_median: seconds[seconds.length >> 1]}));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
