// What the checks of the dashboard have in common: a browser, an owner who is signed in, and how
// they report.
//
//   node way.mjs  <one-time link>            the way from the link to a counted click
//   node look.mjs <one-time link> <folder>   looks at every screen; keeps screenshots in the folder
//   node work.mjs <one-time link>            what owners do that takes longer
//
// Each check prints a line of JSON, {page, check, problem}; a problem is "" when all is well. Where a
// script wants the server stopped or started, it prints {ask} and waits for a line.
import { chromium } from 'playwright-core';
import { createInterface } from 'node:readline';

export const [link, folder] = process.argv.slice(2);
export const origin = new URL(link).origin;
export const patience = 30_000;

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
export const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-gpu', '--force-color-profile=srgb'] });

// report prints what a check found.
export function report(page, check, problem = '') {
  console.log(JSON.stringify({ page, check, problem: String(problem ?? '') }));
}

// checked runs a check; what it throws is the problem.
export async function checked(page, check, run) {
  try {
    report(page, check, await run());
  } catch (error) {
    report(page, check, error.stack);
  }
}

// ask has the test do something with the server.
export async function ask(what) {
  console.log(JSON.stringify({ ask: what }));
  return (await lines.next()).value;
}

// end closes the browser. Standard input, which stays open, would keep the process.
export async function end() {
  await browser.close();
  process.exit(0);
}

// tab opens a page that keeps what it must not do: errors, reports of the policy, other hosts.
export async function tab(options = {}) {
  const context = await browser.newContext({ locale: 'en', reducedMotion: 'reduce', ...options });
  context.setDefaultTimeout(patience);
  const page = await context.newPage();
  page.wrong = [];
  page.calls = [];
  page.on('console', (m) => {
    // A call that is refused is a line of the console by itself; what matters is what the screen tells.
    if (['error', 'warning'].includes(m.type()) && !m.text().startsWith('Failed to load resource')) page.wrong.push(m.text());
  });
  page.on('pageerror', (e) => page.wrong.push(e.stack));
  page.on('request', (r) => {
    const url = new URL(r.url());
    if (url.protocol.startsWith('http') && url.origin !== origin) page.wrong.push(`asks ${url.origin}`);
    if (/^\/(v1|auth)\//.test(url.pathname)) page.calls.push(`${r.method()} ${url.pathname}`);
  });
  await page.addInitScript(() => document.addEventListener('securitypolicyviolation', (e) => console.error(`policy: ${e.violatedDirective} ${e.blockedURI}`)));
  return page;
}

// call makes a call of the API with the session of the page.
export const call = (page, method, path, body, revision) => page.evaluate(async ([m, p, b, r]) => {
  const headers = { 'Idempotency-Key': crypto.randomUUID(), ...(b && { 'Content-Type': 'application/json' }), ...(r && { 'If-Match': `"${r}"` }) };
  const answer = await fetch('/v1' + p, { method: m, headers: m === 'GET' ? {} : headers, body: b && JSON.stringify(b) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${m} ${p}: ${answer.status} ${text}`);
  return text ? JSON.parse(text).data : null;
}, [method, path, body, revision]);

// settled waits for an operation.
export async function settled(page, operation) {
  for (const until = Date.now() + patience; ; ) {
    const o = await call(page, 'GET', `/operations/${operation.id}`);
    if (['succeeded', 'partially_succeeded', 'failed', 'cancelled'].includes(o.status)) return o;
    if (Date.now() > until) throw new Error(`the operation is still ${o.status}`);
    await page.waitForTimeout(100);
  }
}

// owner makes an app with a domain, and opens the dashboard with it.
export async function owner(page) {
  await page.goto(link);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { name: 'Welcome' }).waitFor();
  const app = await call(page, 'POST', '/apps', { name: 'Shoes & Sons' });
  const { platformZones } = await call(page, 'GET', `/domain-options?appId=${app.id}`);
  const domain = `shoes.${platformZones[0]}`;
  await settled(page, await call(page, 'POST', '/domains', { appId: app.id, mode: 'platform', prefix: 'shoes' }));
  await page.reload();
  await page.getByRole('navigation', { name: 'Navigation' }).waitFor();
  return { app, domain };
}

// show goes to a place and waits until it has read what it shows.
export async function show(page, path) {
  await page.evaluate((p) => { location.hash = '#' + p; }, path);
  await quiet(page);
}

export async function quiet(page) {
  await page.waitForLoadState('networkidle');
  await page.waitForFunction(() => document.querySelector('h1') && !document.querySelector('.wait'));
}
