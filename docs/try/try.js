// The page "Try it in the browser": picks a grammar, has a worker compile or learn it, and steps through what the table or machine does.

const TIME_LIMIT = 600; // seconds
const SHOWN_BEFORE = 12; // tokens
const SHOWN_AFTER = 48; // tokens
const SHOWN_STACK = 40; // symbols
const OWN = {
  name: 'grammar',
  title: 'your own grammar',
  grammar: "// As many b as a.\n%start S\n%%\nS: 'a' 'b' | 'a' S 'b';\n",
  lexer: '',
  accept: ['aabb', 'ab'],
  reject: ['abb', 'aab', 'ba'],
};
const STAGES = {
  collect: 'running words', train: 'training', test: 'testing', explore: 'exploring the automaton',
  prove: 'searching for a proof', check: 'checking the proof',
};

const part = (name) => document.getElementById(`try-${name}`);
const element = (tag, text, className = '') => Object.assign(document.createElement(tag), { textContent: text, className });
const count = (number, thing) => `${number} ${thing}${number === 1 ? '' : 's'}`;
const quote = (name) => (/^[\p{L}\p{N}_]+$/u.test(name) ? name : `'${name}'`);

let worker;
let limit; // the timer of the time limit, while a machine learns
let round = 1;
let grammars = [OWN];
let reading; // what the table or machine does on the text
let isReading = false; // whether the worker has a text to read

// The worker

function startWorker() {
  worker?.terminate();
  isReading = false;
  worker = new Worker(new URL('worker.js', import.meta.url), { type: 'module' });
  worker.onmessage = ({ data }) => receive(data);
  worker.onerror = (event) => fail(`The worker could not be started: ${event.message || 'a file is missing'}`);
}

function receive(message) {
  if (message.progress) showProgress(message.progress);
  else if (message.round) showRound(message.round);
  else if (message.made) showMade(message.made);
  else if (message.reading) showReading(message);
  else if (message.broken) stop(`The module stopped (${message.failed}). It may have run out of memory; try a smaller grammar.`);
  else fail(message.failed);
}

// Compiling and learning

// A screen reader repeats a text that is set again, even if it is the same.
function say(text, kind = '') {
  if (part('status').textContent !== text) part('status').textContent = text;
  part('status').dataset.kind = kind;
}

function setLearning(learning) {
  clearTimeout(limit);
  limit = learning ? setTimeout(() => stop(`Stopped: nothing was proved in ${TIME_LIMIT} seconds.`), 1000 * TIME_LIMIT) : undefined;
  const [off, on] = learning ? ['start', 'cancel'] : ['cancel', 'start'];
  part(on).disabled = false;
  if (document.activeElement === part(off)) part(on).focus();
  part(off).disabled = true;
  part('compile').disabled = learning;
  part('grammars').disabled = learning;
  part('grammar').readOnly = learning;
  part('lexer').readOnly = learning;
  part('progress').hidden = !learning;
  part('progress').removeAttribute('value');
}

function make(event) {
  event.preventDefault();
  const how = event.submitter?.value ?? 'compile';
  const name = grammars[part('grammars').value].name;
  const [grammar, lexer] = [part('grammar').value, part('lexer').value];
  forget();
  setLearning(true);
  say(how === 'learn' ? 'Learning: reading the grammar' : 'Compiling');
  worker.postMessage({ make: { how, name, grammar, lexer } });
}

// Forgets the table or machine and all that is shown of it.
function forget() {
  round = 1;
  part('rounds').replaceChildren();
  part('files').hidden = true;
  part('reader').disabled = true;
  part('steps').hidden = true;
  part('verdict').textContent = 'Compile or learn a grammar first.';
  part('verdict').dataset.kind = '';
}

function fail(text) {
  setLearning(false);
  say(text, 'bad');
}

// Ends the worker, whatever it is doing, and starts another one.
function stop(text) {
  startWorker();
  forget();
  fail(text);
}

function showProgress({ stage, done, total }) {
  say(`Learning: ${STAGES[stage]}, round ${round}`);
  part('progress').max = Math.max(total, 1);
  part('progress').value = done;
}

function showRound({ exercises, examined, open }) {
  round += 1;
  const result = open ? `${open} of ${count(examined, 'cell')} open` : 'no cell open';
  part('rounds').append(element('li', `${result}, after ${count(exercises, 'exercise')}`));
}

function showMade({ states, seconds, proved, covers, cells, open, rows, warnings, name, file, certificate }) {
  setLearning(false);
  const took = `${seconds.toFixed(1)} s` + (states ? '' : `, ${count(rows, 'training row')}`);
  const known = states
    ? `Compiled to a table of ${count(states, 'state')}, without training`
    : proved
    ? `Proved correct on every word, of any length, with ${count(cells, 'cell')}, ${covers}`
    : `Not proved: ${open} of ${count(cells, 'cell')} still open`;
  say([`${known} (${took}).`, ...warnings.map((warning) => `Warning: ${warning}.`)].join('\n'), proved || states ? 'good' : 'bad');
  offer('file', file, `${name}.${states ? 'table' : 'safetensors'}`);
  offer('certificate', certificate, `${name}.certificate`);
  part('proof').hidden = !certificate;
  part('files').hidden = false;
  part('reader').disabled = false;
  read();
}

function offer(link, content, download) {
  URL.revokeObjectURL(part(link).href);
  const url = URL.createObjectURL(new Blob([content ?? '']));
  Object.assign(part(link), { href: url, download });
}

// Reading

function read() {
  part('examples').value = part('text').value;
  part('steps').setAttribute('aria-busy', true);
  if (isReading) return;
  isReading = true;
  worker.postMessage({ read: part('text').value });
}

function showReading(message) {
  isReading = false;
  if (part('reader').disabled) return;
  if (message.text !== part('text').value) {
    read();
    return;
  }
  reading = message.reading;
  part('verdict').textContent = verdict(reading);
  part('verdict').dataset.kind = reading.verdict === 'accept' ? 'good' : 'bad';
  part('steps').hidden = false;
  part('steps').setAttribute('aria-busy', false);
  part('step').max = reading.steps.length;
  show(0);
}

function verdict({ verdict, place, reason, expected }) {
  if (verdict === 'accept') return 'Accepted.';
  const [line, column] = place;
  const where = `at line ${line}, column ${column}`;
  const hint = expected ? ` Expected ${expected}.` : '';
  if (verdict === 'stopped') return `Stopped ${where}: too many steps.`;
  if (verdict === 'incomplete') return `Incomplete: the text ends too early.${hint}`;
  return `Rejected ${where}: ${reason}.${hint}`;
}

// The stack and the number of tokens that were shifted, after some steps. A symbol has a name and a kind.
function configuration(steps) {
  const stack = [];
  let shifted = 0;
  for (const { action, pop, push, state } of reading.steps.slice(0, steps)) {
    if (action === 'shift') stack.push({ name: reading.tokens[shifted++].name, kind: 'token' });
    if (action === 'reduce') {
      stack.length = Math.max(stack.length - pop, 0); // a machine without a proof may want to pop more than there is
      if (push) stack.push({ name: push, kind: state ? 'state' : 'rule' });
    }
  }
  return { stack, shifted };
}

function describe(steps) {
  if (!steps) return 'the stack is empty';
  const { action, token, pop, push } = reading.steps[steps - 1];
  const next = reading.tokens[token] ? quote(reading.tokens[token].name) : 'the end';
  if (action === 'shift') return `shift ${next}`;
  if (action === 'refuse') return `refuse ${next}`;
  return `before ${next}, ` + [pop ? `pop ${count(pop, 'symbol')}` : '', push ? `push ${quote(push)}` : ''].filter(Boolean).join(', ');
}

// Shows the configuration after some steps.
function show(steps) {
  const last = reading.steps.length;
  const at = Math.min(Math.max(steps, 0), last);
  const { stack, shifted } = configuration(at);
  part('step').value = at;
  part('step').setAttribute('aria-valuetext', `${at} of ${last}`);
  const end = at === last ? ` ${part('verdict').textContent}` : '';
  const names = stack.slice(-SHOWN_STACK).reverse().map(({ name }) => name).join(' ');
  part('action').replaceChildren(
    element('strong', `Step ${at} of ${last}: `), `${describe(at)}.${end}`,
    element('span', ` The stack from the top: ${names || 'empty'}.`, 'try-hidden'),
  );
  const { action, push } = reading.steps[at - 1] ?? {};
  drawInput(shifted, action === 'refuse');
  drawStack(stack, action === 'shift' || push);
}

function drawInput(shifted, refused) {
  const { tokens, rest } = reading;
  const all = [...tokens.map(({ text }) => text), rest ? [...rest][0] : 'end'];
  const from = Math.max(shifted - SHOWN_BEFORE, 0);
  const shown = all.slice(from, shifted + SHOWN_AFTER).map((text, number) => {
    const token = from + number;
    const wrong = refused || (rest && token === tokens.length);
    const kind = token < shifted ? 'read' : token > shifted ? 'left' : wrong ? 'wrong' : 'next';
    const item = element('li', text, `try-${token === tokens.length && !rest ? 'end' : 'token'}`);
    item.dataset.kind = kind;
    if (kind === 'next' || kind === 'wrong') item.setAttribute('aria-current', 'step');
    return item;
  });
  const hidden = all.length - shifted - SHOWN_AFTER;
  if (from) shown.unshift(element('li', `${from} before`, 'try-more'));
  if (hidden > 0) shown.push(element('li', `${hidden} more`, 'try-more'));
  part('input').replaceChildren(...shown);
}

function drawStack(stack, pushed) {
  const shown = stack.slice(-SHOWN_STACK).reverse().map(({ name, kind }) => element('li', name, `try-${kind}`));
  if (pushed) shown[0].classList.add('try-pushed');
  const hidden = stack.length - shown.length;
  if (hidden) shown.push(element('li', `${hidden} below`, 'try-more'));
  if (!stack.length) shown.push(element('li', 'empty', 'try-more'));
  part('stack').replaceChildren(...shown);
}

// Keys and clicks

const MOVES = {
  ArrowLeft: (at) => at - 1, ArrowRight: (at) => at + 1, ArrowDown: (at) => at - 1, ArrowUp: (at) => at + 1,
  Home: () => 0, End: () => Infinity,
};

function move(key) {
  show(MOVES[key](Number(part('step').value)));
}

function pick() {
  const { grammar, lexer, accept, reject } = grammars[part('grammars').value];
  part('grammar').value = grammar;
  part('lexer').value = lexer;
  const examples = [...accept, ...reject].map((text) => Object.assign(element('option', text || '(empty)'), { value: text }));
  part('examples').replaceChildren(...examples);
  part('text').value = accept.reduce((best, text) => (text.length > best.length ? text : best), '');
  part('examples').value = part('text').value;
  forget();
}

// Edited sources are a grammar of the reader's own.
function edit() {
  part('grammars').value = grammars.indexOf(OWN);
}

function listen() {
  part('learn').addEventListener('submit', make);
  part('cancel').addEventListener('click', () => stop('Cancelled.'));
  part('grammars').addEventListener('change', pick);
  part('grammar').addEventListener('input', edit);
  part('lexer').addEventListener('input', edit);
  part('examples').addEventListener('change', () => { part('text').value = part('examples').value; read(); });
  part('text').addEventListener('input', read);
  part('read').addEventListener('submit', (event) => event.preventDefault());
  part('step').addEventListener('input', () => show(Number(part('step').value)));
  const buttons = { first: 'Home', back: 'ArrowLeft', forward: 'ArrowRight', last: 'End' };
  for (const [button, key] of Object.entries(buttons)) part(button).addEventListener('click', () => move(key));
  part('steps').addEventListener('keydown', (event) => {
    if (!(event.key in MOVES) || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    move(event.key);
  });
  // The book turns its pages with the same keys.
  document.getElementById('try').addEventListener('keydown', (event) => event.stopPropagation());
}

// Takes the page's parts from index.html where another page, as that of the book, has only a place for them.
async function assemble() {
  const place = document.getElementById('try-place');
  if (!place) return;
  const response = await fetch(new URL('index.html', import.meta.url));
  const whole = new DOMParser().parseFromString(await response.text(), 'text/html');
  place.replaceWith(whole.getElementById('try'));
}

async function main() {
  await assemble();
  listen();
  startWorker();
  const response = await fetch(new URL('grammars.json', import.meta.url));
  grammars = [...await response.json(), OWN];
  part('grammars').replaceChildren(
    ...grammars.map(({ title }, number) => Object.assign(element('option', title), { value: number })),
  );
  pick();
  part('start').disabled = false;
  part('compile').disabled = false;
  say('Ready.');
}

main().catch((error) => fail(`The page could not be loaded: ${error.message}`));
