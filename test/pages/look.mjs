// Looks at every page on phones, tablets and desktops, in both colour schemes.
import axe from 'axe-core';
import { address, browser, checked, folder, pages } from './browser.mjs';

const sizes = [{ width: 360, height: 740 }, { width: 768, height: 1024 }, { width: 1280, height: 800 }];

// wide returns what is wider than the window.
const wide = () => [...document.querySelectorAll('body *')]
  .filter((e) => e.checkVisibility() && (e.getBoundingClientRect().right > innerWidth + 0.5 || e.getBoundingClientRect().left < -0.5))
  .map((e) => `${e.tagName} ${e.className}`)
  .concat(document.documentElement.scrollWidth > innerWidth ? ['the page'] : []);

// small returns what is too small for a finger.
const small = () => [...document.querySelectorAll('a, button, input')]
  .filter((e) => e.checkVisibility() && (e.offsetHeight < 44 || e.offsetWidth < 44)).map((e) => e.outerHTML);

// cut returns what does not fit into its box.
const cut = () => [...document.querySelectorAll('a, button, p, h1, h2, dt, dd, header, main')]
  .filter((e) => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1).map((e) => `${e.tagName} ${e.textContent.slice(0, 40)}`);

for (const colorScheme of ['light', 'dark']) {
  for (const viewport of sizes) {
    const context = await browser.newContext({
      viewport, colorScheme, reducedMotion: 'reduce', isMobile: viewport.width < 768, hasTouch: viewport.width < 768,
      deviceScaleFactor: viewport.width < 768 ? 2 : 1, bypassCSP: true,
    });
    const tab = await context.newPage();
    for (const page of pages) {
      const asked = [];
      const note = (request) => asked.push(request.url());
      tab.on('request', note);
      await tab.goto(`${address}/${page}`);
      await tab.screenshot({ path: `${folder}/${page}-${viewport.width}-${colorScheme}.png`, fullPage: true });
      const where = `${page} at ${viewport.width} px, ${colorScheme}`;
      await checked(where, 'fits', async () => (await tab.evaluate(wide)).concat(await tab.evaluate(cut)).join('\n'));
      await checked(where, 'fingers', async () => (await tab.evaluate(small)).join('\n'));
      await checked(where, 'accessible', async () => {
        await tab.evaluate(axe.source);
        const { violations, passes } = await tab.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
        if (![...passes, ...violations].some((rule) => rule.id === 'color-contrast')) return 'axe looked at no colour';
        return violations.map((v) => `${v.id}: ${v.help}\n${v.nodes.map((n) => `${n.html}\n${n.failureSummary}`).join('\n')}`).join('\n');
      });
      await checked(where, 'asks for nothing', () => asked.filter((url) => url !== `${address}/${page}` && !url.startsWith('data:')).join('\n'));
      tab.off('request', note);
    }
    await context.close();
  }
}
await browser.close();
