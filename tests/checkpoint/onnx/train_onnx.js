// Trains with an ONNX training step: node train_onnx.js STEP.onnx STATE.safetensors FOLDER N,3,H,W RATE STEPS
// FOLDER has image (float32) and label (bytes). Writes FOLDER/losses (float32) and FOLDER/state, the floats of all states
// after the last step, in the order of the step's inputs, whose names and types go to standard output. A STATE of '-' is
// for a file whose weights are constants: it is run once, and what comes out beside the loss is the state. Needs the npm
// package onnxruntime-node on NODE_PATH.
const fs = require('fs');
const path = require('path');
const ort = require('onnxruntime-node');

const GIVEN = ['image', 'label', 'learning_rate'];

// Tensors of a safetensors file by name: an eight-byte header length, a JSON header, data.
function readState(file) {
  const bytes = fs.readFileSync(file);
  const begin = 8 + Number(bytes.readBigUInt64LE(0));
  const header = JSON.parse(bytes.subarray(8, begin));
  delete header.__metadata__;
  const state = {};
  for (const [name, {dtype, shape, data_offsets: [from, to]}] of Object.entries(header)) {
    const data = bytes.buffer.slice(bytes.byteOffset + begin + from, bytes.byteOffset + begin + to);
    state[name] = dtype === 'I64' ? new ort.Tensor('int64', new BigInt64Array(data), shape) :
                                    new ort.Tensor('float32', new Float32Array(data), shape);
  }
  return state;
}

async function main() {
  const [model, stateFile, folder, shape, rate, steps] = process.argv.slice(2);
  const session = await ort.InferenceSession.create(model, {intraOpNumThreads: 1});
  const dims = shape.split(',').map(Number);
  const image = fs.readFileSync(path.join(folder, 'image'));
  const label = fs.readFileSync(path.join(folder, 'label'));
  const feeds = {
    image: new ort.Tensor('float32', new Float32Array(image.buffer.slice(image.byteOffset, image.byteOffset + image.length)), dims),
    label: new ort.Tensor('int32', Int32Array.from(label), dims),
  };
  let names = session.outputNames.filter((name) => name !== 'loss').map((name) => name.replace(/\.next$/, ''));
  let state = {};
  if (stateFile !== '-') {
    names = session.inputNames.filter((name) => !GIVEN.includes(name));
    feeds.learning_rate = new ort.Tensor('float32', [Number(rate)], []);
    state = readState(stateFile);
  }
  const losses = [];
  for (let step = 0; step < Number(steps); step++) {
    const results = await session.run({...feeds, ...state});
    losses.push(results.loss.data[0]);
    if (results.loss.dims.length !== 0) throw new Error(`the loss has the extents ${results.loss.dims}`);
    state = Object.fromEntries(names.map((name) => [name, results[name + '.next']]));
  }
  fs.writeFileSync(path.join(folder, 'losses'), Buffer.from(Float32Array.from(losses).buffer));
  fs.writeFileSync(path.join(folder, 'state'), Buffer.concat(names.map(
      (name) => Buffer.from(Float32Array.from(state[name].data, Number).buffer))));
  for (const name of names) console.log(name);
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
