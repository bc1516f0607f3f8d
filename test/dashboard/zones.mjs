// Compares the dashboard's clock of a time zone with what the zone is known to do.
import assert from 'node:assert/strict';

const l = await import(new URL('../../dashboard/app/core/locale.js', import.meta.url));

// Zone, what its clock shows, and when that is; then what it shows at that instant, where the clock leaps.
const known = [
  ['UTC', '2026-11-23T12:00', '2026-11-23T12:00'],
  ['Asia/Kathmandu', '2026-11-23T00:00', '2026-11-22T18:15'],
  ['Europe/Berlin', '2026-07-01T00:00', '2026-06-30T22:00'],
  ['Europe/Berlin', '2026-12-31T23:59', '2026-12-31T22:59'],
  // Forward on 29 March from two to three, back on 25 October from three to two.
  ['Europe/Berlin', '2026-03-29T01:59', '2026-03-29T00:59'],
  ['Europe/Berlin', '2026-03-29T02:30', '2026-03-29T01:30', '2026-03-29T03:30'],
  ['Europe/Berlin', '2026-03-29T03:00', '2026-03-29T01:00'],
  ['Europe/Berlin', '2026-10-25T01:59', '2026-10-24T23:59'],
  ['Europe/Berlin', '2026-10-25T02:30', '2026-10-25T00:30'],
  ['Europe/Berlin', '2026-10-25T03:00', '2026-10-25T02:00'],
  ['America/New_York', '2026-03-08T02:30', '2026-03-08T07:30', '2026-03-08T03:30'],
  ['America/New_York', '2026-11-01T01:30', '2026-11-01T05:30'],
  // A midnight that there was not, half an hour, and a day that there was not.
  ['America/Sao_Paulo', '2018-11-04T00:00', '2018-11-04T03:00', '2018-11-04T01:00'],
  ['Australia/Lord_Howe', '2026-10-04T02:15', '2026-10-03T15:45', '2026-10-04T02:45'],
  ['Pacific/Apia', '2011-12-31T00:00', '2011-12-30T10:00'],
];
const minute = (at) => at.toISOString().slice(0, 16);
for (const [name, clock, at, leapt] of known) {
  l.follow('en', { timezone: name });
  assert.equal(l.zone, name);
  assert.equal(minute(l.instant(new Date(clock + 'Z'))), at, `${clock} in ${name}`);
  assert.equal(minute(l.shown(new Date(at + 'Z'))), leapt ?? clock, `what ${name} shows at ${at}`);
}

// What this browser does not know is left to it.
const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
l.follow('pt-BR', { timezone: 'Mars/Olympus', locale: 'x-private' });
assert.equal(l.zone, own);
assert.equal(l.elsewhere, '');
assert.equal(l.locale.split('-')[0], 'pt');
l.follow('en', { timezone: own === 'Asia/Tokyo' ? 'UTC' : 'Asia/Tokyo', locale: 'de-CH' });
assert.equal(l.locale, 'de-CH');
assert.equal(l.elsewhere, l.zone);
