// What a link can have besides its destination: sections that open.

import { html } from "../core/ui.js";
import { withUtm } from "../core/links.js";
import { w } from "../core/words.js";
import { number } from "../core/format.js";
import { Area, Check, Instant, Select, Text } from "./fields.js";

/** @param {{title: string, open: boolean, children: any}} props */
const Section = ({ title, open, children }) => html`<details class="card" open=${open}><summary>${title}</summary><div class="stack">${children}</div></details>`;

/** @param {{form: import("../core/form.js").Form}} props */
export function Details({ form }) {
  const { values: v, errors } = form;
  /** Whether a section has something, or something wrong. @param {string} names */
  const used = (names) => names.split(" ").some((n) => n.split(".").reduce((x, k) => x?.[k], v) || errors[n]);
  /** @param {string} name @param {string} label @param {string} [hint] */
  const instant = (name, label, hint) => html`<${Instant} label=${label} hint=${hint} error=${errors[name]} name=${name} value=${name.split(".").reduce((x, k) => x?.[k], v)} set=${(at) => form.set(name, at)} />`;
  return html`
    <${Section} title=${w.edit.social} open=${used("description imageUrl")}>
      <p class="muted small">${w.edit.socialHint}</p>
      <${Area} label=${w.edit.description} maxlength="1000" ...${form.bind("description")} />
      <${Text} label=${w.edit.image} type="url" placeholder="https://" maxlength="4096" ...${form.bind("imageUrl")} />
      <${Social} values=${v} /><//>
    <${Section} title=${w.edit.utm} open=${used("utm.source utm.medium utm.campaign utm.term utm.content")}>
      <div class="pair">${["source", "medium", "campaign", "term", "content"].map((n) => html`<${Text} label=${"utm_" + n} maxlength="255" ...${form.bind("utm." + n)} />`)}</div>
      ${v.desktopUrl && html`<p class="small"><span class="muted">${w.edit.becomes}</span> <code>${withUtm(v.desktopUrl, v.utm)}</code></p>`}<//>
    <${Section} title=${w.edit.apps} open=${used("playStoreUrl appStoreUrl appPath webOnly")}>
      <p class="muted small">${w.edit.appsHint}</p>
      <${Text} label=${w.edit.appPath} hint=${w.edit.appPathHint} placeholder="/product/42" maxlength="1000" ...${form.bind("appPath")} />
      <div class="pair"><${Text} label=${w.edit.playStore} type="url" placeholder="https://play.google.com/…" ...${form.bind("playStoreUrl")} />
      <${Text} label=${w.edit.appStore} type="url" placeholder="https://apps.apple.com/…" ...${form.bind("appStoreUrl")} /></div>
      <${Select} label=${w.edit.behavior} hint=${w.edit.behaviorHint} options=${["manual", "automatic", "intelligent"].map((b) => [b, w.edit.behaviors[b]])} ...${form.bind("behavior")} />
      <${Check} label=${w.edit.webOnly} hint=${w.edit.webOnlyHint} ...${form.bind("webOnly")} /><//>
    <${Section} title=${w.edit.schedule} open=${used("lifecycle.startsAt lifecycle.expiresAt lifecycle.maxClicks lifecycle.expiredUrl")}>
      <div class="pair">${instant("lifecycle.startsAt", w.edit.startsAt)}${instant("lifecycle.expiresAt", w.edit.expiresAt)}</div>
      <${Text} label=${w.edit.maxClicks} type="number" min="1" ...${form.bind("lifecycle.maxClicks")} hint=${v.lifecycle?.clicks != null ? w.edit.used(number(v.lifecycle.clicks)) : w.edit.maxClicksHint} />
      <${Text} label=${w.edit.expiredUrl} hint=${w.edit.expiredUrlHint} type="url" placeholder="https://" ...${form.bind("lifecycle.expiredUrl")} /><//>`;
}

/** The card that social networks show. Images of other hosts are not fetched here, so that no address of the owner gets there. @param {{values: any}} props */
function Social({ values: v }) {
  if (!v.title && !v.description) return null;
  return html`<div class="social" aria-label=${w.edit.social}><div><p class="muted small">${v.domain}</p><strong>${v.title}</strong><p class="small">${v.description}</p>
    ${v.imageUrl && html`<p class="muted small">${w.edit.withImage} <code>${v.imageUrl}</code></p>`}</div></div>`;
}
