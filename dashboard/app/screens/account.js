// The owner: profile, looks, and the ways in: sessions and passkeys.

import { html, useState } from "../core/ui.js";
import * as api from "../core/api.js";
import { go } from "../core/router.js";
import { me, prefer, preferences } from "../core/session.js";
import { useLoad } from "../core/load.js";
import { orNull, useForm } from "../core/form.js";
import { completed } from "../core/links.js";
import { ago, day, moment } from "../core/format.js";
import { attempt, note } from "../core/notes.js";
import { addPasskey, passkeys } from "../core/passkey.js";
import { chooseLanguage, language, languages, w } from "../core/words.js";
import { Button, Card, Problem, Says, Screen, Send, Shown } from "../parts/basics.js";
import { Select, Text } from "../parts/fields.js";
import { ask } from "../parts/dialog.js";
import { Refused } from "../parts/refused.js";

export default function Account() {
  const profile = useLoad((s) => api.get("/me", {}, s), []);
  return html`<${Screen} title=${w.account.title}>
    <${Card} title=${w.account.profile}><${Shown} of=${profile}>${(p) => html`<${Profile} key=${p.revision} profile=${p} saved=${profile.set} again=${profile.reload} />`}<//><//>
    <${Looks} /><${Sessions} /><${Passkeys} /><//>`;
}

/** @param {{profile: any, saved: (p: any) => void, again: () => void}} props */
function Profile({ profile: p, saved, again }) {
  const form = useForm({ displayName: p.displayName ?? "", photoUrl: p.photoUrl ?? "" }, async (v) => {
    const changes = { ...(v.displayName !== (p.displayName ?? "") && { displayName: v.displayName.trim() }), ...(v.photoUrl !== (p.photoUrl ?? "") && { photoUrl: orNull(completed(v.photoUrl)) }) };
    const now = await api.patch("/me", changes, { revision: p.revision });
    me.value = { ...me.value, ...now };
    note(w.saved);
    saved(now);
  }, { guard: true });
  const email = p.email ?? /** @type {any} */ (me.value)?.email;
  return html`<form class="stack" onSubmit=${form.submit} novalidate>
    ${email && html`<${Text} label=${w.account.email} value=${email} readonly />`}
    <${Text} label=${w.account.displayName} maxlength="100" autocomplete="name" ...${form.bind("displayName")} />
    <${Text} label=${w.account.photoUrl} hint=${w.account.photoHint} type="url" placeholder="https://" maxlength="4096" ...${form.bind("photoUrl")} />
    <${Refused} form=${form} again=${again} />
    <div class="row end"><${Send} form=${form}>${w.save}<//></div></form>`;
}

/** The locales that can be chosen; one that was chosen by another program is added. */
const locales = "ar-EG de-AT de-CH de-DE en-AU en-CA en-GB en-IN en-US es-ES es-MX fr-CA fr-FR he-IL hi-IN id-ID it-IT ja-JP ko-KR nl-NL pl-PL pt-BR pt-PT sv-SE tr-TR uk-UA vi-VN zh-CN zh-TW".split(" ");

/** Each as it calls itself, with today's date as it writes it. */
function chosenLocales() {
  const known = new Set([...locales, ...[preferences.value?.locale ?? ""].filter(Boolean)]);
  const today = new Date();
  return [...known].map((l) => [l, `${new Intl.DisplayNames([l], { type: "language" }).of(l)} · ${today.toLocaleDateString(l, { dateStyle: "medium" })}`]);
}

/** Changes how everything is written, which is then drawn anew. @param {any} changes */
const rewrite = (changes) => attempt(async () => {
  await prefer(changes);
  location.reload();
});

const Looks = () => html`<${Card} title=${w.account.looks}><div class="pair">
  <${Select} label=${w.account.theme} options=${["system", "light", "dark"].map((t) => [t, w.account.themes[t]])} value=${preferences.value?.theme ?? "system"} onChange=${(e) => attempt(() => prefer({ theme: e.target.value }))} />
  <${Select} label=${w.account.language} hint=${w.account.languageHint} options=${Object.entries(languages)} value=${language} onChange=${(e) => chooseLanguage(e.target.value)} />
  <${Select} label=${w.account.locale} empty=${w.account.asBrowser} options=${chosenLocales()} value=${preferences.value?.locale ?? ""} onChange=${(e) => rewrite({ locale: orNull(e.target.value) })} />
  <${Select} label=${w.account.zone} hint=${w.account.zoneHint} empty=${w.account.asBrowser} options=${Intl.supportedValuesOf("timeZone").map((z) => [z, z.replaceAll("_", " ")])} value=${preferences.value?.timezone ?? ""}
    onChange=${(e) => rewrite({ timezone: orNull(e.target.value) })} /></div><//>`;

/** Browsers and tokens that are signed in. */
function Sessions() {
  const list = useLoad(() => api.auth("GET", "/sessions"), []);
  const nameOf = (s) => s.name || w.account[s.kind];
  const end = async (s) => {
    const text = s.current ? w.account.endHere : w.account.endText;
    if (!(await ask({ title: w.account.endTitle(nameOf(s)), text, action: w.account.end, run: () => api.auth("DELETE", "/sessions/" + api.seg(s.id)) }))) return;
    if (s.current) {
      go("/");
      me.value = null;
    } else {
      note(w.account.ended);
      list.reload();
    }
  };
  return html`<${Card} title=${w.account.sessions}><${Shown} of=${list}>${(rows) => rows.length
    ? html`<ul class="list">${rows.map((s) => html`<li class="row spread" key=${s.id}><div class="grow"><p class="row"><strong class="cut">${nameOf(s)}</strong>${s.current && html`<span class="tag good">${w.account.here}</span>`}</p>
        <p class="muted small">${[s.name && w.account[s.kind], w.account.made(day(s.createdAt)), s.usedAt ? w.account.used(ago(s.usedAt)) : w.account.neverUsed, s.expiresAt && w.account.ends(moment(s.expiresAt))].filter(Boolean).join(" · ")}</p></div>
        <${Button} slim aria-label=${w.account.endWhat(nameOf(s))} onClick=${() => end(s)}>${w.account.end}<//></li>`)}</ul>`
    : html`<p class="muted">${w.account.noSessions}</p>`}<//><//>`;
}

function Passkeys() {
  const list = useLoad(() => api.auth("GET", "/passkeys"), []);
  const [refused, setRefused] = useState("");
  const form = useForm({ name: "" }, async ({ name }) => {
    setRefused("");
    try {
      await addPasskey(name.trim());
    } catch (err) {
      if (err instanceof api.Refusal || err instanceof api.Lost) throw err;
      return setRefused(err instanceof DOMException && err.name === "InvalidStateError" ? w.account.known : w.account.refused);
    }
    form.setAll({ name: "" });
    note(w.account.added);
    list.reload();
  });
  const remove = async (k) => {
    if (await ask({ title: w.account.deleteKeyTitle(k.name), text: w.account.deleteKeyText, action: w.delete, run: () => api.auth("DELETE", "/passkeys/" + api.seg(k.id)) })) {
      note(w.deleted);
      list.reload();
    }
  };
  return html`<${Card} title=${w.account.passkeys}><div class="stack"><p class="muted">${w.account.passkeysText}</p>
    <${Shown} of=${list}>${(rows) => rows.length
      ? html`<ul class="list">${rows.map((k) => html`<li class="row spread nowrap" key=${k.id}><div class="grow"><strong class="cut">${k.name}</strong>
          <p class="muted small">${w.account.made(day(k.createdAt))} · ${k.usedAt ? w.account.used(ago(k.usedAt)) : w.account.neverUsed}</p></div>
          <${Button} slim kind="plain" icon="trash" aria-label=${w.account.deleteKey(k.name)} onClick=${() => remove(k)} /></li>`)}</ul>`
      : html`<p class="muted">${w.account.noPasskeys}</p>`}<//>
    ${passkeys ? html`<form class="stack" onSubmit=${form.submit} novalidate><${Text} label=${w.account.keyName} hint=${w.account.keyNameHint} maxlength="100" ...${form.bind("name")} />
        ${refused && html`<${Says} kind="bad">${refused}<//>`}<${Problem} error=${form.problem} fields=${form.errors} />
        <div class="row"><${Send} form=${form} kind="">${w.account.addKey}<//></div></form>`
      : html`<p>${w.account.unsupported}</p>`}</div><//>`;
}
