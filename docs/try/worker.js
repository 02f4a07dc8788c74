// The worker of the page: loads the module, learns grammars and reads texts. The page ends it to cancel.
import init, { Machine } from './echostack_web.js';

const PROGRESS_INTERVAL = 50; // milliseconds

let machine;
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

function learn({ name, grammar, lexer }) {
  machine?.free();
  machine = undefined;
  const start = performance.now();
  machine = Machine.learn(name, grammar, lexer);
  const seconds = (performance.now() - start) / 1000;
  const { proved, covers, cells, open, rows, warnings } = JSON.parse(machine.summary());
  const [file, certificate] = [machine.file(), machine.certificate()];
  postMessage({ learned: { name, seconds, proved, covers, cells, open, rows, warnings, file, certificate } });
}

const loaded = init();

addEventListener('message', async ({ data }) => {
  try {
    await loaded;
    if (data.learn) learn(data.learn);
    else postMessage({ text: data.read, reading: JSON.parse(machine.read(data.read)) });
  } catch (error) {
    // After a trap, the module's memory cannot be trusted.
    postMessage({ failed: error.message, broken: error instanceof WebAssembly.RuntimeError });
  }
});
