// Runs an ONNX model once: node run_onnx.js MODEL.onnx IMAGE N,3,H,W SCORES
// IMAGE holds float32 numbers; the outputs, one for each plane, go to SCORES one after the other. Needs the npm package
// onnxruntime-node on NODE_PATH. Prints the names of inputs and outputs.
const fs = require('fs');
const ort = require('onnxruntime-node');

async function main() {
  const [model, imageFile, shape, scoresFile] = process.argv.slice(2);
  const session = await ort.InferenceSession.create(model, {intraOpNumThreads: 1});
  const bytes = fs.readFileSync(imageFile);
  const image = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  const feeds = {image: new ort.Tensor('float32', image, shape.split(',').map(Number))};
  const results = await session.run(feeds);
  const planes = session.outputNames.map((name) => results[name]);
  for (const plane of planes) {
    if (plane.dims.join() !== shape) throw new Error(`a plane is ${plane.dims}, not ${shape}`);
  }
  fs.writeFileSync(scoresFile, Buffer.concat(planes.map(
      ({data}) => Buffer.from(data.buffer, data.byteOffset, data.byteLength))));
  console.log(session.inputNames.join(), session.outputNames.join());
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
