// What owners do that takes longer, or that goes wrong on the way.
import { ask, call, checked, end, origin, owner, quiet, show, tab } from './browser.mjs';

const page = await tab();
const { app, domain } = await owner(page);
const links = (query = '') => call(page, 'GET', `/links?appId=${app.id}&limit=100${query}`);
const make = (slug, more) => call(page, 'POST', '/links', { appId: app.id, domain, slug, desktopUrl: `https://example.com/${slug}`, ...more });

await checked('edit', 'two people change one link, and nothing is lost', async () => {
  const one = await make('shared');
  const other = await tab({ storageState: await page.context().storageState() });
  await other.goto(`${origin}/dashboard/#/links/${encodeURIComponent(one.id)}/edit`);
  await quiet(other);
  await show(page, `/links/${encodeURIComponent(one.id)}/edit`);
  await other.getByLabel('Title').fill('Theirs');
  await other.getByRole('button', { name: 'Save' }).click();
  await other.getByRole('heading', { name: 'Theirs' }).waitFor();
  await page.getByLabel('Destination', { exact: true }).fill('https://example.com/mine');
  await page.getByRole('button', { name: 'Save' }).click();
  const alert = page.getByRole('alert');
  await alert.getByText('Somebody changed this link meanwhile').waitFor();
  await alert.getByText('Theirs', { exact: true }).last().waitFor();
  await page.getByRole('button', { name: 'Put mine over theirs' }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'Theirs' }).waitFor();
  const now = await call(page, 'GET', `/links/${encodeURIComponent(one.id)}`);
  await other.context().close();
  if (now.title !== 'Theirs' || now.desktopUrl !== 'https://example.com/mine') return JSON.stringify(now);
});

await checked('edit', 'a form asks before its changes are left behind', async () => {
  await show(page, '/links/new');
  await page.getByLabel('Destination', { exact: true }).fill('https://example.com/kept');
  page.once('dialog', (d) => d.dismiss());
  await page.getByRole('navigation', { name: 'Navigation' }).getByRole('link', { name: 'Links' }).click();
  await page.getByRole('heading', { name: 'New link' }).waitFor();
  if (await page.getByLabel('Destination', { exact: true }).inputValue() !== 'https://example.com/kept') return 'the change is lost';
  page.once('dialog', (d) => d.accept());
  await page.getByRole('navigation', { name: 'Navigation' }).getByRole('link', { name: 'Links' }).click();
  await page.getByRole('heading', { name: 'Links' }).waitFor();
});

await checked('edit', 'the server is away for a moment, and the link is made once', async () => {
  await show(page, '/links/new');
  await page.getByLabel('Destination', { exact: true }).fill('https://example.com/away');
  await page.getByLabel('Slug', { exact: true }).fill('away');
  await ask('stop');
  await page.getByRole('button', { name: 'Create link' }).click();
  await page.waitForTimeout(300);
  await ask('start');
  await page.getByRole('heading', { name: `/away` }).waitFor();
  const made = await links('&q=away');
  if (made.length !== 1) return `${made.length} links`;
});

await checked('edit', 'the server is away for longer: the form says so, and goes on', async () => {
  await show(page, '/links/new');
  await page.getByLabel('Destination', { exact: true }).fill('https://example.com/longer');
  await page.getByLabel('Slug', { exact: true }).fill('longer');
  await ask('stop');
  await page.getByRole('button', { name: 'Create link' }).click();
  await page.getByText('The server cannot be reached').waitFor();
  if (await page.getByLabel('Slug', { exact: true }).inputValue() !== 'longer') return 'what was typed is lost';
  await ask('start');
  await page.getByRole('button', { name: 'Create link' }).click();
  await page.getByRole('heading', { name: `/longer` }).waitFor();
});

await checked('import', 'a thousand rows, with a reload in the middle', async () => {
  const rows = Array.from({ length: 1000 }, (_, n) => `https://bit.ly/row-${n},${n === 700 ? 'ftp://wrong' : `https://example.com/imported/${n}`},Row ${n},FALSE`);
  await show(page, '/imports');
  await page.locator('input[type=file]').setInputFiles({ name: 'bitly.csv', mimeType: 'text/csv', buffer: Buffer.from(['link,long_url,title,archived', ...rows].join('\r\n')) });
  await page.getByText('Bitly').first().waitFor();
  await page.getByRole('button', { name: 'Check' }).click();
  await page.getByText(/999/).first().waitFor();
  await page.getByRole('button', { name: /^Import/ }).click();
  await page.waitForFunction(async (id) => (await (await fetch(`/v1/links?appId=${id}&q=Row&limit=100`)).json()).data.length === 100, app.id);
  await page.reload();
  await page.getByText('999').first().waitFor();
  await page.getByText(/is in|are in|done|Done/i).first().waitFor({ timeout: 120_000 });
  let [n, cursor] = [0, ''];
  do {
    const answer = await page.evaluate((u) => fetch(u).then((r) => r.json()), `/v1/links?appId=${app.id}&q=Row&limit=100${cursor}`);
    n += answer.data.length;
    cursor = answer.pagination.hasMore ? `&cursor=${encodeURIComponent(answer.pagination.nextCursor)}` : '';
  } while (cursor);
  if (n !== 999) return `${n} links`;
});

await checked('links', 'fifty-five links are tagged, moved and deleted at once', async () => {
  for (let n = 0; n < 55; n++) await make(`many-${n}`);
  await call(page, 'POST', '/folders', { appId: app.id, name: 'Old ones' });
  await show(page, '/links?q=many-');
  await page.getByRole('button', { name: 'Show more' }).click();
  await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 55);
  await page.getByLabel('Choose all').check();
  await page.getByLabel('Move to a folder').selectOption({ label: 'Old ones' });
  await page.getByText('55 links changed.').waitFor();
  await page.getByRole('button', { name: 'Show more' }).click();
  await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 55);
  await page.getByLabel('Choose all').check();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('No link fits').waitFor();
});

await checked('links', 'a row shows its tags', async () => {
  const one = await make('tagged');
  const tag = await call(page, 'POST', '/tags', { appId: app.id, name: 'Newsletter' });
  await call(page, 'PUT', `/links/${encodeURIComponent(one.id)}/tags`, { tagIds: [tag.id] }, one.revision);
  await show(page, '/links?q=tagged');
  await page.getByRole('row', { name: /\/tagged/ }).getByText('#Newsletter').waitFor();
});

await checked('rules', 'are put in order by dragging and with the keyboard', async () => {
  const one = await make('ruled');
  const countries = ['BR', 'DE', 'IN'];
  await call(page, 'PUT', `/links/${encodeURIComponent(one.id)}/routing-rules`, { rules: countries.map((country) => ({ country, destinationUrl: `https://example.com/${country}` })) }, one.revision);
  await show(page, `/links/${encodeURIComponent(one.id)}/rules`);
  await page.setViewportSize({ width: 1280, height: 1000 }); // all rules are seen
  await page.locator('.grip').last().dragTo(page.locator('.grip').first());
  await page.getByRole('button', { name: 'Move rule 3 up' }).press('Enter');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').first().waitFor();
  const { rules } = await call(page, 'GET', `/links/${encodeURIComponent(one.id)}/routing-rules`);
  const now = rules.map((r) => r.country).join(' ');
  if (now !== 'IN DE BR') return now;
});

await checked('account', 'times and dates are as the owner wants them', async () => {
  await show(page, '/account');
  await page.getByLabel('Time zone').selectOption('Asia/Tokyo');
  await page.waitForEvent('load');
  await quiet(page);
  await page.getByLabel('Dates and numbers').selectOption('de-DE');
  await page.waitForEvent('load');
  await quiet(page);
  const one = await make('timed');
  await show(page, '/links?q=timed');
  await page.getByRole('row', { name: /\/timed/ }).getByText(/^\d\d\.\d\d\.\d{4}$/).waitFor();
  await show(page, `/links/${encodeURIComponent(one.id)}/edit`);
  await page.getByText('Schedule').first().click();
  await page.getByText('Times of Asia/Tokyo.').first().waitFor();
  await page.getByLabel('Begins').fill('2026-12-24T18:00');
  await page.getByLabel('Begins').press('Tab');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: '/timed' }).waitFor();
  const { startsAt } = (await call(page, 'GET', `/links/${encodeURIComponent(one.id)}`)).lifecycle;
  if (startsAt !== '2026-12-24T09:00:00.000Z') return startsAt;
  const settings = await call(page, 'GET', '/me/preferences');
  await call(page, 'PATCH', '/me/preferences', { timezone: null, locale: null }, settings.revision);
  await page.reload();
  await quiet(page);
});

await checked('links', 'ten thousand links are a page at a time', async () => {
  await page.evaluate(async ([appId, host]) => {
    const one = (n) => fetch('/v1/links', { method: 'POST', headers: { 'Idempotency-Key': crypto.randomUUID(), 'Content-Type': 'application/json' },
      body: JSON.stringify({ appId, domain: host, slug: `crowd-${n}`, desktopUrl: 'https://example.com/' }) });
    for (let n = 0; n < 10_000; n += 20) {
      const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => one(n + i)));
      if (answers.some((r) => r.status !== 201)) throw new Error(`${answers.map((r) => r.status)}`);
    }
  }, [app.id, domain]);
  await show(page, '/');
  await show(page, '/links');
  for (const rows of [50, 100, 150]) {
    await page.waitForFunction((n) => document.querySelectorAll('tbody tr').length === n, rows);
    await page.getByRole('button', { name: 'Show more' }).click();
  }
  await page.getByLabel('Search title, description or slug').fill('crowd-7777');
  await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 1);
  await page.keyboard.press('Escape');
});

await checked('all', 'nothing was wrong', () => page.wrong.join('\n'));
await end();
