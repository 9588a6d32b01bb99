// The ONNX Runtime peer of bench/compare and bench/serve_compare:
//   node onnxruntime_step.js MODEL.onnx [repeats] [threads] [batch] [height] [width]
// Needs the npm package onnxruntime-node, whose binary ships inside the package:
//   ONNXRUNTIME_NODE_INSTALL=skip npm install onnxruntime-node
// Prints one JSON line. The first run warms up and is not counted.
const os = require('os');
const ort = require('onnxruntime-node');

async function main() {
  const [model, repeats = '5', threads = String(os.cpus().length), ...shape] = process.argv.slice(2);
  if (!model) throw new Error('usage: node onnxruntime_step.js MODEL.onnx [repeats] [threads] [batch] [height] [width]');
  const [batch = 1, height = 640, width = 1024] = shape.map(Number);
  const session = await ort.InferenceSession.create(model, {intraOpNumThreads: Number(threads)});
  const image = Float32Array.from({length: batch * 3 * height * width}, () => Math.random());
  const feeds = {image: new ort.Tensor('float32', image, [batch, 3, height, width])};
  const seconds = [];
  await session.run(feeds);
  for (let i = 0; i < Number(repeats); i++) {
    const start = process.hrtime.bigint();
    await session.run(feeds);
    seconds.push(Number(process.hrtime.bigint() - start) / 1e9);
  }
  seconds.sort((a, b) => a - b);
  console.log(JSON.stringify({
    peer: 'onnxruntime-node', model, threads: Number(threads), batch,
    seconds_median: seconds[seconds.length >> 1], seconds_min: seconds[0],
    peak_rss_mb: Math.round(process.resourceUsage().maxRSS / 1024),
  }));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
