// The way of a new owner: from the one-time link to a counted click, and in again with a passkey.
import http from 'node:http';
import { browser, call, checked, end, link, origin, quiet, show, tab } from './browser.mjs';

const page = await tab();
const devtools = await page.context().newCDPSession(page);
await devtools.send('WebAuthn.enable');
await devtools.send('WebAuthn.addVirtualAuthenticator', {
  options: { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
});

await checked('/', 'leads a browser to the dashboard', async () => {
  const r = await page.request.get(origin + '/', { headers: { Accept: 'text/html' }, maxRedirects: 0 });
  if (r.status() !== 303 || r.headers().location !== '/dashboard/') return `${r.status()} ${r.headers().location}`;
});
await checked('signin', 'says how to get in', async () => {
  await page.goto(origin + '/dashboard/');
  await page.getByText('waymark session issue --link').waitFor();
});
await checked('signin', 'the link signs in, and leaves the address bar', async () => {
  await page.goto('about:blank');
  await page.goto(link);
  await page.getByText('This link signs you in once.').waitFor();
  await page.waitForURL((at) => !at.href.includes('code'));
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { name: 'Welcome' }).waitFor();
  if (page.url().includes('code')) return page.url();
});
await checked('start', 'one form makes app, domain and link', async () => {
  await page.getByLabel('Name', { exact: true }).fill('Shoes & Sons');
  await page.getByLabel('Your first link leads to').fill('example.com/spring');
  await page.getByRole('button', { name: 'Begin' }).click();
  await page.locator('img.qr[src]').waitFor();
});
let made;
await checked('visit', 'the address leads to the destination', async () => {
  const [app] = await call(page, 'GET', '/apps');
  [made] = await call(page, 'GET', `/links?appId=${app.id}`);
  const at = new URL(made.url);
  for (let n = 0; ; n++) {
    const r = await new Promise((done, failed) => http.get({ host: '127.0.0.1', port: at.port, path: at.pathname, headers: { host: at.host, 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' } }, done).on('error', failed));
    r.resume();
    if (r.statusCode === 302 || n === 50) return r.headers.location === 'https://example.com/spring' ? '' : `${r.statusCode} ${r.headers.location}`;
    await page.waitForTimeout(100);
  }
});
await checked('overview', 'counts the click', async () => {
  await page.getByRole('link', { name: 'To the links' }).click();
  for (let n = 0; ; n++) {
    await show(page, '/links');
    await show(page, '/');
    const clicks = await page.locator('.figure').first().textContent();
    if (clicks === '1') break;
    if (n === 100) return `${clicks} clicks`;
    await page.waitForTimeout(100);
  }
  await page.getByText('Firefox').or(page.getByText('Desktop')).first().waitFor();
});
await checked('account', 'makes a passkey, which signs in', async () => {
  await show(page, '/account');
  await page.getByLabel('Name of the new passkey').fill('Laptop');
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByText('Laptop').waitFor();
  await page.getByRole('link', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
});
await checked('account', 'a session that is ended is out', async () => {
  const other = await browser.newContext();
  await other.addCookies(await page.context().cookies());
  const second = await other.newPage();
  await second.goto(origin + '/dashboard/#/account');
  await quiet(second);
  await call(page, 'GET', '/me');
  await page.evaluate(() => fetch('/auth/logout', { method: 'POST' }));
  await second.reload();
  await second.getByRole('heading', { name: 'Sign in' }).waitFor();
});
await checked('signin', 'the link works once', async () => {
  const other = await tab();
  await other.goto(link);
  await other.getByRole('button', { name: 'Sign in', exact: true }).click();
  await other.getByRole('alert').waitFor();
  if (await other.getByRole('navigation', { name: 'Navigation' }).count()) return 'signed in';
});
await checked('all', 'nothing was wrong', () => page.wrong.join('\n'));
await end();
