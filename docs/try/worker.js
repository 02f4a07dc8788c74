// The worker of the page: loads the module, compiles or learns grammars, and reads texts. The page ends it to cancel.
import init, { Model } from './echostack_web.js';

const PROGRESS_INTERVAL = 50; // milliseconds

let model;
let told = { stage: '', at: 0 };

// What the module calls while it learns.
self.page = {
  progress(stage, done, total) {
    const now = performance.now();
    if (stage === told.stage && now - told.at < PROGRESS_INTERVAL) return;
    told = { stage, at: now };
    postMessage({ progress: { stage, done, total } });
  },
  round(report) {
    postMessage({ round: JSON.parse(report) });
  },
};

// How is `compile` or `learn`.
function make({ how, name, grammar, lexer }) {
  model?.free();
  model = undefined;
  const start = performance.now();
  model = Model[how](name, grammar, lexer);
  const seconds = (performance.now() - start) / 1000;
  const [file, certificate] = [model.file(), model.certificate()];
  postMessage({ made: { ...JSON.parse(model.summary()), name, seconds, file, certificate } });
}

const loaded = init();

addEventListener('message', async ({ data }) => {
  try {
    await loaded;
    if (data.make) make(data.make);
    else postMessage({ text: data.read, reading: JSON.parse(model.read(data.read)) });
  } catch (error) {
    // After a trap, the module's memory cannot be trusted.
    postMessage({ failed: error.message, broken: error instanceof WebAssembly.RuntimeError });
  }
});
