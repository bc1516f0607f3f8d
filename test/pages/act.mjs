// Acts as visitors do, under the policy that the redirector sends.
import assert from 'node:assert/strict';
import { address, browser, checked, pages } from './browser.mjs';

// visit opens a page in a window of its own, in which time stands still, and returns
// with it the addresses that the page itself went to.
async function visit(page, { hidden = false, ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 360, height: 740 }, ...options });
  const tab = await context.newPage();
  tab.setDefaultTimeout(10_000);
  const went = [];
  const devtools = await context.newCDPSession(tab);
  await devtools.send('Page.enable');
  devtools.on('Page.frameRequestedNavigation', ({ url, reason }) => reason === 'scriptInitiated' && went.push(url));
  tab.on('pageerror', (error) => went.push(String(error)));
  // Chromium asks for a gesture before it opens an app; visitors made it on the page they come from.
  tab.on('console', (message) => message.type() === 'error' && !message.text().startsWith('Not allowed to launch') &&
    went.push(message.text()));
  if (options.javaScriptEnabled !== false) {
    await tab.clock.install({ time: 0 });
    await tab.clock.pauseAt(1000);
    await tab.addInitScript((start) => {
      window.seen = start;
      Object.defineProperty(document, 'visibilityState', { get: () => window.seen });
    }, hidden ? 'hidden' : 'visible');
  }
  // A page that goes elsewhere while it loads never ends loading.
  await tab.goto(`${address}/${page}`, { waitUntil: 'commit' });
  await tab.locator('main').waitFor();
  const show = (seen) => tab.evaluate((state) => {
    window.seen = state;
    document.dispatchEvent(new Event('visibilitychange'));
  }, seen);
  // goes waits until the page went to these addresses, and to no other.
  const goes = async (...expected) => {
    for (const end = Date.now() + 10_000; went.length < expected.length && Date.now() < end;) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    assert.deepEqual(went, expected);
  };
  return { context, tab, goes, show };
}

// acts checks what happens on a page.
async function acts(page, what, options, run) {
  await checked(page, what, async () => {
    const v = await visit(page, options);
    try {
      await run(v);
      return '';
    } finally {
      await v.context.close();
    }
  });
}

const opens = 'shop://items/7?color=red&size=m';
const fallback = `${address}/fallback`;

await acts('automatic', 'goes to the fallback once', {}, async ({ tab, goes }) => {
  await goes(opens);
  await tab.clock.runFor(1490);
  await goes(opens);
  await tab.clock.runFor(20);
  await tab.waitForURL(fallback);
  await goes(opens, fallback);
  await tab.goBack({ waitUntil: 'commit' });
  await tab.locator('main').waitFor();
  await tab.clock.runFor(10_000);
  await goes(opens, fallback);
  await tab.reload({ waitUntil: 'commit' });
  await tab.locator('main').waitFor();
  await tab.clock.runFor(10_000);
  await goes(opens, fallback);
});

await acts('automatic', 'stays when the app opens', {}, async ({ tab, goes, show }) => {
  await goes(opens);
  await tab.clock.runFor(400);
  await show('hidden');
  await tab.clock.runFor(10_000);
  await show('visible');
  await tab.clock.runFor(10_000);
  await goes(opens);
});

await acts('automatic', 'waits until it is seen', { hidden: true }, async ({ tab, goes, show }) => {
  await tab.clock.runFor(10_000);
  await goes();
  await show('visible');
  await goes(opens);
});

await acts('automatic', 'leaves the choice to a visitor who makes one', {}, async ({ tab, goes }) => {
  await goes(opens);
  await tab.locator('h1').dispatchEvent('click');
  await tab.clock.runFor(10_000);
  await goes(opens);
});

await acts('apart', 'goes to a fallback that is no button', {}, async ({ tab, goes }) => {
  await goes(opens);
  assert.equal(await tab.locator('a:visible').count(), 3);
  await tab.clock.runFor(1510);
  await tab.waitForURL(fallback);
  await goes(opens, fallback);
});

await acts('manual', 'waits for a tap', {}, async ({ tab, goes }) => {
  await tab.clock.runFor(10_000);
  await goes();
  assert.equal(await tab.locator('script').count(), 0);
});

for (const page of pages) {
  await acts(page, 'works without scripts', { javaScriptEnabled: false }, async ({ tab }) => {
    for (const link of await tab.getByRole('link').all()) {
      assert.match(await link.getAttribute('href'), /^(https?|shop|intent):\/\//);
    }
    assert.equal(await tab.locator('button:visible').count(), 0, 'a button that needs a script is shown');
    const web = tab.getByRole('link').last();
    if (await web.count() > 0 && (await web.getAttribute('href')).startsWith(address)) {
      const to = await web.getAttribute('href');
      await web.click();
      assert.equal(tab.url(), to);
    }
  });
  if (['automatic', 'apart'].includes(page)) continue; // they lose the focus when Chromium refuses to open an app
  await acts(page, 'keyboard', {}, async ({ tab }) => {
    const order = await tab.$$eval('a:not([hidden]), button, input', (all) => all.map((e) => e.outerHTML));
    const reached = [];
    for (let i = 0; i < order.length; i++) {
      await tab.keyboard.press('Tab');
      reached.push(await tab.evaluate(() => document.activeElement.outerHTML));
      const [width, style] = await tab.evaluate(() => {
        const look = getComputedStyle(document.activeElement);
        return [parseFloat(look.outlineWidth), look.outlineStyle];
      });
      assert.ok(width >= 2 && style === 'solid', `no outline around ${reached.at(-1)}`);
    }
    assert.deepEqual(reached, order);
  });
}

await acts('recovery', 'copies', { permissions: ['clipboard-read', 'clipboard-write'] }, async ({ tab, goes }) => {
  assert.equal(await tab.getByRole('status').textContent(), '');
  for (let i = 0; i < 2; i++) {
    await tab.evaluate(() => navigator.clipboard.writeText('something else'));
    await tab.getByRole('button').click();
    await tab.waitForFunction(() => document.querySelector('[role=status]').textContent === 'Copied');
    assert.equal(await tab.evaluate(() => navigator.clipboard.readText()), await tab.locator('input').inputValue());
  }
  assert.match(await tab.locator('input').inputValue(), /#waymark_token=/);
  await goes();
});

await acts('recovery', 'copies where the clipboard is refused', { permissions: ['clipboard-read'] }, async ({ tab }) => {
  await tab.evaluate(() => { navigator.clipboard.writeText = () => Promise.reject(new Error('refused')) });
  await tab.getByRole('button').click();
  await tab.waitForFunction(() => document.querySelector('[role=status]').textContent === 'Copied');
  assert.equal(await tab.evaluate(() => navigator.clipboard.readText()), await tab.locator('input').inputValue());
});

await acts('recovery', 'the field can be selected without scripts', { javaScriptEnabled: false }, async ({ tab }) => {
  await tab.locator('input').click({ clickCount: 3 });
  assert.equal(await tab.locator('input').isEditable(), false);
});
await browser.close();
