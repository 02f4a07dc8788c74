// Tests the page "Try it in the browser" in headless Chromium, against the native command line.
//
//     node crates/echostack-web/tests/browser.mjs FOLDER [--page FILE] [--strict] [--screenshots FOLDER]
//
// FOLDER is served: what tools/web.py made, or the whole book with --page try.html. puppeteer-core and axe-core are looked up in target/web, Chromium is
// $CHROMIUM or /usr/bin/chromium, and the command line is $ECHOSTACK_BINARY or target/debug/echostack. With --strict, the
// limits on time are those for a machine that does nothing else; without it, they are four times as long.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, existsSync, mkdirSync, writeFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, extname, join, normalize } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const require = createRequire(join(root, 'target/web/'));
const puppeteer = require('puppeteer-core');
const axe = readFileSync(require.resolve('axe-core'), 'utf8');
const { positionals: [folder], values: options } = parseArgs({
  allowPositionals: true,
  options: { page: { type: 'string', default: 'index.html' }, strict: { type: 'boolean' }, screenshots: { type: 'string' } },
});
const chromium = process.env.CHROMIUM ?? '/usr/bin/chromium';
const echostack = process.env.ECHOSTACK_BINARY ?? join(root, 'target/debug/echostack');
for (const needed of [chromium, echostack, join(folder ?? '', options.page)]) {
  assert(existsSync(needed), `${needed} is missing: see the beginning of this file`);
}
const slack = options.strict ? 1 : 4;
const scratch = mkdtempSync(join(tmpdir(), 'try-'));
const downloads = join(scratch, 'downloads');

// Whatever isn't for the page's own server goes to a proxy, which refuses and remembers it. Chromium has requests of its
// own, all to Google, which the page never mentions.
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json', '.wasm': 'application/wasm' };
const server = await listen((request, response) => {
  if (request.url === '/stray.js') {
    return response.writeHead(200, { 'content-type': types['.js'] }).end("fetch('https://stray.test/').catch(() => postMessage('refused'))");
  }
  const path = join(folder, normalize(new URL(request.url, 'http://page').pathname));
  if (!existsSync(path)) return response.writeHead(404).end();
  response.writeHead(200, { 'content-type': types[extname(path)] ?? 'application/octet-stream' }).end(readFileSync(path));
});
const strays = [];
const note = ({ headers: { host } }) => { if (!/(^|\.)google(apis)?\.com(:\d+)?$/.test(host)) strays.push(host); };
const proxy = await listen((request, response) => { note(request); response.writeHead(403).end(); });
proxy.on('connect', (request, socket) => { note(request); socket.destroy(); });

function listen(serve) {
  return new Promise((done) => { const server = createServer(serve).listen(0, '127.0.0.1', () => done(server)); });
}

const browser = await puppeteer.launch({
  executablePath: chromium,
  args: [
    '--no-sandbox', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run',
    `--proxy-server=127.0.0.1:${proxy.address().port}`,
  ],
});
const page = await browser.newPage();
const devtools = await browser.target().createCDPSession();
await devtools.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: downloads });
const faults = [];
page.on('pageerror', (error) => faults.push(error.message));
page.on('console', (message) => { if (message.type() === 'error') faults.push(message.text()); });

const text = (name) => page.$eval(`#try-${name}`, (part) => part.textContent);
const value = (name) => page.$eval(`#try-${name}`, (part) => part.value);
const items = (name) => page.$$eval(`#try-${name} li:not(.try-more)`, (all) => all.map((item) => item.textContent));
const until = (name, pattern, timeout = 120_000) => page.waitForFunction(
  (id, source) => new RegExp(source).test(document.getElementById(id).textContent), { timeout }, `try-${name}`, pattern,
);
const choose = (name) => page.evaluate((name) => {
  const select = document.getElementById('try-grammars');
  select.value = [...select.options].find((option) => option.textContent.startsWith(name)).value;
  select.dispatchEvent(new Event('change'));
}, name);
async function type(name, content) {
  await page.$eval(`#try-${name}`, (field, content) => {
    field.value = content;
    field.dispatchEvent(new Event('input'));
  }, content);
}
// Starts with the keyboard.
async function start() {
  await page.focus('#try-start');
  await page.keyboard.press('Enter');
}
// Learns what is on the page and returns the seconds until the proof is shown.
async function learn(ending = '^Proved correct on every word') {
  const from = performance.now();
  await start();
  await until('status', ending);
  return (performance.now() - from) / 1000;
}
async function read(word) {
  await type('text', word);
  await page.waitForSelector('#try-steps[aria-busy=false]');
}

// The native reference

function native(...parameters) {
  return execFileSync(echostack, parameters, { encoding: 'utf8' });
}
function nativeModel(name, grammar) {
  const [model, certificate] = [join(scratch, `${name}.safetensors`), join(scratch, `${name}.certificate`)];
  native('learn', grammar, '--certificate', certificate, '-o', model, '--quiet');
  return { model, certificate };
}
// The stack after each step, from the events of `echostack parse`.
function nativeStacks(model, word, tokens) {
  const { stdout } = spawnSync(echostack, ['parse', '--format', 'events', model, '-'], { input: word, encoding: 'utf8' });
  const stacks = [[]];
  let shifted = 0;
  for (const line of stdout.trim().split('\n').slice(0, -1)) {
    const stack = [...stacks.at(-1)];
    const [, action, symbol, count] = line.match(/^(\w+) (.+?)(?: (\d+))?$/);
    if (action === 'reduce') stack.splice(stack.length - Number(count), Number(count), symbol);
    else stack.push(tokens[shifted++]);
    stacks.push(stack);
  }
  return stacks;
}
function nativeReport(model, word) {
  const { stdout } = spawnSync(echostack, ['check', '--json', model, '-'], { input: word, encoding: 'utf8' });
  return JSON.parse(stdout);
}
// Saves the files that the page offers, and compares them with those of the command line.
async function sameFiles(name, grammar) {
  const files = nativeModel(name, grammar);
  for (const [link, path] of [['file', files.model], ['certificate', files.certificate]]) {
    const saved = join(downloads, basename(path));
    await page.click(`#try-${link}`);
    while (!existsSync(saved)) await setTimeout(50);
    assert(readFileSync(saved).equals(readFileSync(path)), `the ${link} of ${name} is not that of the command line`);
  }
  return files.model;
}
// Learns a shipped grammar within so many seconds, and returns the model of the command line, which is the same.
async function learnShipped(name, most) {
  await choose(`${name}:`);
  const seconds = await learn();
  console.log(`${name}: ${seconds.toFixed(2)} s`);
  assert(seconds < most * slack);
  return sameFiles(name, join(root, 'testdata/grammars', name));
}
// Steps through a word with the keyboard and compares the stack at each step.
async function sameSteps(model, word, tokens) {
  const stacks = nativeStacks(model, word, tokens);
  await page.focus('#try-step');
  await page.keyboard.press('Home');
  for (const [number, stack] of stacks.entries()) {
    assert.deepEqual((await items('stack')).filter((name) => name !== 'empty').reverse(), stack, `step ${number} of ${word}`);
    assert.equal(await value('step'), String(number));
    if (number + 1 < stacks.length) await page.keyboard.press('ArrowRight');
  }
  await page.keyboard.press('ArrowRight');
  assert.equal(await value('step'), await page.$eval('#try-step', (slider) => slider.max));
  await page.keyboard.press('ArrowLeft');
  assert.equal(await value('step'), String(stacks.length - 2));
  await page.keyboard.press('End');
  assert.deepEqual((await items('stack')).reverse(), stacks.at(-1));
  return stacks.length;
}

const took = [];
async function test(name, run) {
  const from = performance.now();
  await run();
  took.push(name);
  console.log(`ok  ${((performance.now() - from) / 1000).toFixed(1).padStart(5)} s  ${name}`);
}

try {
  await page.goto(`http://127.0.0.1:${server.address().port}/${options.page}`);
  await page.waitForSelector('#try-start:enabled');

  await test('dyck1 is learned, with the files of the command line, and each step has the stack of the command line', async () => {
    const model = await learnShipped('dyck1', 2);
    const word = '(()(()))()';
    await read(word);
    assert.equal(await text('verdict'), 'Accepted.');
    assert((await sameSteps(model, word, [...word])) > 15);
    assert.match(await text('action'), /Accepted\./);
  });

  await test('dyck1 is compiled to the table of the command line, without training', async () => {
    await choose('dyck1:');
    await page.click('#try-compile');
    await until('status', '^Compiled to a table of \\d+ states, without training');
    const [saved, table] = [join(downloads, 'dyck1.table'), join(scratch, 'dyck1.table')];
    native('compile', join(root, 'testdata/grammars/dyck1'), '-o', table, '--quiet');
    await page.click('#try-file');
    while (!existsSync(saved)) await setTimeout(50);
    assert(readFileSync(saved).equals(readFileSync(table)), 'the table is not that of the command line');
    assert(await page.$eval('#try-proof', (proof) => proof.hidden));
    await read('(()');
    assert.equal(await text('verdict'), "Incomplete: the text ends too early. Expected '(' or ')'.");
    await learn();
  });

  await test('the remaining input is shown, and a refused token with what was expected', async () => {
    await read('())(');
    assert.equal(await text('verdict'), "Rejected at line 1, column 3: unexpected ')'. Expected '(' or the end.");
    await page.focus('#try-step');
    await page.keyboard.press('Home');
    assert.equal(await page.$eval('#try-input [aria-current]', (token) => token.textContent), '(');
    await page.keyboard.press('ArrowRight');
    assert.deepEqual(await page.$$eval('#try-input [data-kind=read]', (read) => read.map((token) => token.textContent)), ['(']);
    await page.keyboard.press('End');
    assert.equal(await page.$$eval('#try-input [data-kind=wrong]', (wrong) => wrong.length), 1);
    assert.match(await text('action'), /refuse '\)'/);
    await read('((');
    assert.equal(await text('verdict'), "Incomplete: the text ends too early. Expected '(' or ')'.");
    await read('(x');
    assert.equal(await text('verdict'), "Rejected at line 1, column 2: no token begins with 'x'. Expected '(' or ')'.");
  });

  await test('JSON is learned, and its steps and reports are those of the command line', async () => {
    const model = await learnShipped('json', 15);
    const word = '{"a": [1, true], "b": null}';
    await read(word);
    const tokens = ['{', 'STRING', ':', '[', 'NUMBER', ',', 'true', ']', ',', 'STRING', ':', 'null', '}'];
    await sameSteps(model, word, tokens);
    for (const wrong of ['[1 2]', '{"a":1,}', '[1,', '{"a": [tru]}', '{"a"\n 1}']) {
      await read(wrong);
      const report = nativeReport(model, wrong);
      const shown = await text('verdict');
      const names = [...report.expected.map((name) => (/^\w+$/.test(name) ? name : `'${name}'`)), ...(report.expected_end ? ['the end'] : [])];
      const last = names.pop();
      assert(shown.endsWith(`Expected ${names.length ? `${names.join(', ')} or ` : ''}${last}.`), shown);
      if (report.verdict === 'reject') assert(shown.includes(`line ${report.line}, column ${report.column}:`), shown);
    }
  });

  await test('a typed grammar without a lexer is learned', async () => {
    const source = "%%\nS: 'x' | '<' S '>';\n";
    mkdirSync(join(scratch, 'grammar'));
    writeFileSync(join(scratch, 'grammar', 'grammar.y'), source);
    await type('grammar', source);
    await type('lexer', '');
    await learn();
    await sameFiles('grammar', join(scratch, 'grammar'));
    await read('<<x>>');
    assert.equal(await text('verdict'), 'Accepted.');
    await read('<x>>');
    assert.equal(await text('verdict'), "Rejected at line 1, column 4: unexpected '>'. Expected the end.");
  });

  await test('faults of a grammar are explained, and the page goes on', async () => {
    const letters = Array.from({ length: 9_000 }, (_, number) => `'${String.fromCodePoint(0x4e00 + number)}'`);
    const faulty = {
      "%%\nS: 'x' T;\n": /^grammar.y:2:8: T has no rules/,
      "%%\nS: S '+' S | 'x';\n": /two readings/,
      "%%\nS: S;\n": /derives no word/,
      [`%%\nS: ${letters.join(' | ')};\n`]: /entries in its LR\(1\) table, .* the limit is 16777216/,
      [`%%\n${Array.from({ length: 2_040 }, (_, rule) => `R${rule}: 'a' R${rule + 1} | 'b';`).join('\n')}\nR2040: 'c';\n`]: /transitions between its states or more; the limit is 33554432/,
    };
    for (const [source, message] of Object.entries(faulty)) {
      await type('grammar', source);
      await start();
      await page.waitForFunction(() => document.getElementById('try-cancel').disabled && document.getElementById('try-status').dataset.kind === 'bad');
      assert.match(await text('status'), message);
      assert(await page.$eval('#try-reader', (reader) => reader.disabled));
    }
  });

  await test('learning can be cancelled, and something else can be learned then', async () => {
    await choose('xml:');
    await start();
    await until('status', 'round 1');
    assert(await page.$eval('#try-progress', (progress) => !progress.hidden));
    // The focus moved from the other button.
    await page.keyboard.press('Enter');
    assert.equal(await text('status'), 'Cancelled.');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'try-start');
    await choose('dyck2:');
    await learn();
  });

  await test('no serious finding of axe, no sideways scrolling, in light and dark, on a desktop and a phone', async () => {
    await read('([()])[]');
    await page.focus('#try-step');
    await page.keyboard.press('Home');
    for (let step = 0; step < 8; step += 1) await page.keyboard.press('ArrowRight');
    await page.evaluate(axe);
    for (const scheme of ['light', 'dark']) {
      for (const width of [1280, 390]) {
        await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
        await page.setViewport({ width, height: 900 });
        const { violations } = await page.evaluate(() => globalThis.axe.run('#try'));
        const serious = violations.filter(({ impact }) => ['serious', 'critical'].includes(impact));
        assert.deepEqual(serious.map(({ id, nodes }) => [id, ...nodes.map((node) => node.html)]), []);
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
        if (!options.screenshots) continue;
        mkdirSync(options.screenshots, { recursive: true });
        await page.screenshot({ path: join(options.screenshots, `${scheme}-${width}.png`), fullPage: true });
      }
    }
  });

  await test("the colours follow the book's theme rather than the system's", async () => {
    const colour = () => page.$eval('#try-grammar', (field) => getComputedStyle(field).backgroundColor);
    const seen = {};
    for (const theme of ['', 'light', 'navy']) {
      await page.evaluate((theme) => { document.documentElement.className = theme; }, theme);
      seen[theme] = await colour();
    }
    assert.equal(seen.navy, seen['']);
    assert.notEqual(seen.light, seen.navy);
  });

  await test('no request leaves the page, and nothing fails on the way', async () => {
    assert.deepEqual([strays, faults], [[], []]);
    // A request from a worker would have been noticed.
    await page.evaluate(() => new Promise((done) => {
      const worker = new Worker('stray.js');
      worker.onmessage = done;
    }));
    assert.deepEqual(strays, ['stray.test:443']);
  });
} finally {
  await browser.close();
  server.close();
  proxy.close();
  rmSync(scratch, { recursive: true });
}
console.log(`${took.length} tests passed`);
