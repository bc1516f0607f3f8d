// How instants and numbers are written: as the owner's preferences say, else as the browser does.

const browsers = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

/** A BCP 47 tag. */
export let locale = "en";
/** The name of a time zone. */
export let zone = browsers;
/** The zone's name where it is not the browser's: fields for times say then which zone they mean. */
export let elsewhere = "";

/** @type {Intl.DateTimeFormat} */
let hands;

/**
 * Follows the preferences, once they are known.
 * @param {string} language of the words
 * @param {{locale?: string | null, timezone?: string | null} | null} [preferences]
 */
export function follow(language, preferences) {
  const same = (/** @type {string} */ l) => l.split("-")[0] === language.split("-")[0];
  locale = first([preferences?.locale, globalThis.navigator?.languages.find(same), language], (l) => new Intl.NumberFormat(l));
  zone = first([preferences?.timezone, browsers, "UTC"], (z) => new Intl.DateTimeFormat("en", { timeZone: z }));
  elsewhere = zone === browsers ? "" : zone;
  hands = new Intl.DateTimeFormat("en-u-ca-gregory-nu-latn", { timeZone: zone, hourCycle: "h23", year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric", second: "numeric" });
}

/**
 * The first that there is and that this browser knows.
 * @param {(string | null | undefined)[]} names
 * @param {(name: string) => void} use throws what it does not know
 * @returns {string}
 */
function first(names, use) {
  for (const name of names) {
    try {
      if (name) return use(name), name;
    } catch {
      // The next one.
    }
  }
  return "en";
}

/** What a clock of the zone shows, as the fields that a date has in UTC. @param {Date} at */
export function shown(at) {
  const p = Object.fromEntries(hands.formatToParts(at).map((part) => [part.type, Number(part.value)]));
  return new Date(Date.UTC(p.year, p.month - 1, p.day, p.hour, p.minute, p.second));
}

/**
 * The instant at which a clock of the zone shows this. Where the clock is set back it is the
 * first of both; where the clock leaps over it, as much later as the leap is long.
 * @param {Date} clock
 */
export function instant(clock) {
  const day = 86400_000;
  const [before, after] = [-day, day].map((near) => {
    const at = new Date(clock.getTime() + near);
    return new Date(clock.getTime() - (shown(at).getTime() - at.getTime()));
  });
  return shown(before).getTime() !== clock.getTime() && shown(after).getTime() === clock.getTime() ? after : before;
}

follow("en");
