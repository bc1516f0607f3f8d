// Looks at every screen, on a phone and on a desktop, in both colour schemes; and whether it fits from
// right to left, on the smallest and the widest window.
import axe from 'axe-core';
import { call, checked, end, folder, origin, owner, quiet, show, tab } from './browser.mjs';

const page = await tab();
const { app, domain } = await owner(page);
const make = (path, body) => call(page, 'POST', path, { appId: app.id, ...body });
const tag = await make('/tags', { name: 'Newsletter' });
const folderOf = await make('/folders', { name: 'Spring' });
const campaign = await make('/campaigns', { name: 'Spring sale', utm: { source: 'news', medium: 'email' } });
let one;
for (let n = 0; n < 12; n++) {
  one = await make('/links', { domain, slug: `shoe-${n}`, desktopUrl: `https://shop.example.com/a-rather-long-destination/of-a-product/${n}?lang=en`, ...(n % 2 && { title: `Boots for everybody, part ${n}` }),
    ...(n % 3 === 0 && { folderId: folderOf.id }), ...(n % 4 === 0 && { campaignId: campaign.id }) });
}
const tagged = await call(page, 'PUT', `/links/${one.id}/tags`, { tagIds: [tag.id] }, one.revision);
await call(page, 'PUT', `/links/${one.id}/routing-rules`, { rules: [{ country: 'BR', destinationUrl: 'https://shop.example.com/br' }] }, tagged.revision);
await make('/qr-codes', { linkId: one.id, name: 'Poster' });
const { template } = await make('/templates', { name: 'Our page', baseTemplateId: 'android' });
await make('/webhooks', { url: 'https://hooks.example.com/waymark', events: ['link.created'] });
const [{ id: domainId }] = await call(page, 'GET', `/domains?appId=${app.id}`);
const [{ id: webhookId }] = await call(page, 'GET', `/webhooks?appId=${app.id}`);
await call(page, 'POST', '/api-keys', { name: 'Shop', appIds: [app.id], permissions: ['links:read'] });

const places = ['/', '/links', '/links/new', `/links/${one.id}`, `/links/${one.id}/edit`, `/links/${one.id}/rules`, `/links/${one.id}/history`, `/links/${one.id}/pages`, '/domains', '/domains/new',
  `/domains/${domainId}`, '/tags', '/folders', '/campaigns', `/campaigns/${campaign.id}`, '/imports', '/exports', '/qr-codes', '/templates', `/templates/${template.id}`, '/images', '/keys', '/webhooks',
  `/webhooks/${webhookId}`, '/activity', '/app', '/account', '/system', '/start', '/nowhere'];
const callsAtMost = 4;

// wide returns what is wider than the window.
const wide = () => [document.documentElement, ...document.querySelectorAll('body *')]
  .filter((e) => e.checkVisibility() && !e.closest('.scroll, .tabs, .side, .unseen, iframe, svg') && (e.getBoundingClientRect().right > innerWidth + 0.5 || e.getBoundingClientRect().left < -0.5)).map((e) => `${e.tagName} ${e.className}`).join('\n');

const state = await page.context().storageState();
for (const colorScheme of ['light', 'dark']) {
  for (const width of [390, 1280]) {
    const tab1 = await tab({ storageState: state, colorScheme, viewport: { width, height: 900 }, hasTouch: width < 500 });
    await tab1.goto(origin + '/dashboard/#/nowhere');
    await quiet(tab1);
    for (const place of places) {
      const name = place.split('/').map((part) => (part.length > 30 ? 'one' : part)).join('-').slice(1) || 'overview';
      const where = `${name} at ${width} px, ${colorScheme}`;
      tab1.wrong.length = tab1.calls.length = 0;
      await checked(where, 'opens', () => show(tab1, place));
      const calls = tab1.calls.length > callsAtMost ? tab1.calls.join('\n') : '';
      await tab1.screenshot({ path: `${folder}/${name}-${width}-${colorScheme}.png`, fullPage: true });
      await checked(where, 'does nothing wrong', () => tab1.wrong.join('\n'));
      await checked(where, 'makes few calls', () => calls);
      await checked(where, 'fits', () => tab1.evaluate(wide));
      await checked(where, 'accessible', async () => {
        // The policy of the page lets no script in but its own; the debugger's is not bound by it.
        await tab1.evaluate(axe.source);
        const { violations, passes } = await tab1.evaluate(() => window.axe.run(document, { resultTypes: ['violations'], iframes: false }));
        if (!passes.some((rule) => rule.id === 'color-contrast') && !violations.length) return 'axe looked at no colour';
        return violations.map((v) => `${v.id}: ${v.help}\n${v.nodes.map((n) => `${n.html}\n${n.failureSummary}`).join('\n')}`).join('\n');
      });
    }
    await tab1.context().close();
  }
}
for (const width of [360, 1600]) {
  const tab1 = await tab({ storageState: state, viewport: { width, height: 900 } });
  await tab1.goto(origin + '/dashboard/#/nowhere');
  await quiet(tab1);
  await tab1.evaluate(() => { document.documentElement.dir = 'rtl'; });
  for (const [n, place] of places.entries()) {
    await checked(`${place} at ${width} px, from right to left`, 'fits', async () => {
      await show(tab1, place);
      await tab1.screenshot({ path: `${folder}/rtl-${n}-${width}.png` });
      return tab1.evaluate(wide);
    });
  }
  await tab1.context().close();
}
await end();
