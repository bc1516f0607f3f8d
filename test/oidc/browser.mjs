// Signs in to the dashboard at a provider, in a browser.
//
//   node browser.mjs <address of the dashboard> <issuer>
//
// Each check prints a line of JSON, {check, problem}; a problem is "" when all is well.
import { chromium } from 'playwright-core';

const [address, issuer] = process.argv.slice(2);
const origin = new URL(address).origin;
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });

async function checked(check, run) {
  let problem;
  try {
    problem = await run();
  } catch (error) {
    problem = error.stack;
  }
  console.log(JSON.stringify({ check, problem: problem ?? '' }));
}

// user tells the provider who comes.
async function user(claims) {
  const { ok, status } = await fetch(`${issuer}/control/user?${new URLSearchParams({ ask: 'true', email_verified: 'true', ...claims })}`, { method: 'PUT' });
  if (!ok) throw new Error(`the provider answers ${status}`);
}

// person is a browser of somebody; it keeps what its pages must not do.
async function person() {
  const context = await browser.newContext({ locale: 'en' });
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  page.wrong = [];
  page.on('pageerror', (e) => page.wrong.push(e.stack));
  await page.addInitScript(() => document.addEventListener('securitypolicyviolation', (e) => console.error(`policy: ${e.violatedDirective} ${e.blockedURI}`)));
  page.on('console', (m) => m.text().startsWith('policy:') && page.wrong.push(m.text()));
  await page.goto(address);
  return page;
}

const ask = (page) => page.getByRole('link', { name: 'Continue with' }).click();
const entered = (page) => page.getByRole('heading', { name: 'Welcome' }).waitFor();

const ann = await person();
await checked('the provider asks, and its answer signs in', async () => {
  await user({ sub: 'ann', email: 'ann@example.com' });
  await ask(ann);
  await ann.getByRole('heading', { name: 'Who are you?' }).waitFor();
  if (!ann.url().startsWith(issuer)) return ann.url();
  await ann.getByRole('button', { name: 'ann' }).click();
  await entered(ann);
  if (new URL(ann.url()).origin !== origin || /code|state/.test(ann.url())) return ann.url();
});
await checked('no script reads the cookie, and no other site sends it', async () => {
  const cookies = await ann.context().cookies(origin);
  const session = cookies.find((c) => c.name === 'waymark'); // over HTTPS it is __Host-waymark
  if (!session?.httpOnly || session.sameSite !== 'Strict') return JSON.stringify(cookies.map(({ value, ...rest }) => rest));
  return ann.evaluate(() => document.cookie);
});
await checked('another load is still signed in', async () => {
  await ann.reload();
  await entered(ann);
});
await checked('after signing out the provider knows the browser', async () => {
  await ann.evaluate(() => fetch('/auth/logout', { method: 'POST' }));
  await ann.reload();
  await ask(ann);
  await entered(ann);
});
await checked('who cancels is told', async () => {
  const page = await person();
  await ask(page);
  await page.getByRole('button', { name: 'Nobody' }).click();
  await page.getByText('Signing in was cancelled.').waitFor();
});
await checked('whom no rule names is told', async () => {
  await user({ sub: 'eve', email: 'eve@other.example' });
  const page = await person();
  await ask(page);
  await page.getByRole('button', { name: 'eve' }).click();
  await page.getByText('This account may not enter.').waitFor();
});
await checked('another site can sign nobody in', async () => {
  // The answer of a provider to somebody else's browser: its state is of no use here.
  const page = await person();
  await page.goto(`${origin}/auth/callback?code=x&state=y`);
  await page.getByText('Signing in took too long.').waitFor();
});
await checked('no page breaks its policy', () => ann.wrong.join('; '));
await browser.close();
