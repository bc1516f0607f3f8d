// What a domain serves besides links: each configuration is one form, under the revision of the domain.

import { html } from "../core/ui.js";
import * as api from "../core/api.js";
import { useForm, orNull } from "../core/form.js";
import { useLoad } from "../core/load.js";
import { completed } from "../core/links.js";
import { note } from "../core/notes.js";
import { w } from "../core/words.js";
import { Card, Send, Shown } from "./basics.js";
import { Check, Select, Text } from "./fields.js";
import { Refused } from "./refused.js";

/**
 * @typedef {{domain: any, changed: () => void}} Props
 * @param {{domain: any, name: string, text: string, values: (config: any) => any, input: (values: any) => any, changed: () => void, children: (form: import("../core/form.js").Form) => any}} props
 *   values are those of the form, input is what the API takes
 */
export function Settings({ domain, name, text, values, input, changed, children }) {
  const path = `/domains/${api.seg(domain.id)}/${name}`;
  const config = useLoad((s) => api.get(path, {}, s), [path]);
  const send = async (v, revision) => {
    config.set(await api.put(path, input(v), { revision }));
    note(w.saved);
    changed();
  };
  return html`<${Shown} of=${config}>${(c) => html`<${Form} key=${c.revision} text=${text} initial=${values(c.config)} send=${(v) => send(v, c.revision)} again=${config.reload}>${children}<//>`}<//>`;
}

/** @param {{text: string, initial: any, send: (values: any) => Promise<void>, again: () => void, children: (form: import("../core/form.js").Form) => any}} props */
function Form({ text, initial, send, again, children }) {
  const form = useForm(initial, send, { guard: true });
  return html`<form class="stack" onSubmit=${form.submit} novalidate><p class="muted">${text}</p>${children(form)}
    <div class="sticky stack tight"><${Refused} form=${form} again=${again} />
      <div class="row end"><${Send} form=${form}>${w.save}<//></div></div></form>`;
}

/** @param {Props} props */
export function Web({ domain, changed }) {
  const input = ({ rootUrl, notFoundUrl, robots, redirectStatus }) => ({
    rootUrl: orNull(completed(rootUrl ?? "")), notFoundUrl: orNull(completed(notFoundUrl ?? "")), robots, redirectStatus: Number(redirectStatus),
  });
  const web = (form, name) => ({ type: "url", placeholder: "https://", maxlength: 4096, ...form.bind(name), onBlur: () => form.values[name] && form.set(name, completed(form.values[name])) });
  return html`<${Settings} domain=${domain} name="web-config" text=${w.webConfig.text} changed=${changed} input=${input} values=${(c) => ({ ...c, redirectStatus: String(c.redirectStatus) })}>${(form) => html`<${Card}><div class="stack">
    <${Text} label=${w.webConfig.rootUrl} hint=${w.webConfig.rootHint} ...${web(form, "rootUrl")} />
    <${Text} label=${w.webConfig.notFoundUrl} hint=${w.webConfig.notFoundHint} ...${web(form, "notFoundUrl")} />
    <div class="pair"><${Select} label=${w.webConfig.robots} options=${["index", "noindex"].map((r) => [r, w.webConfig[r]])} ...${form.bind("robots")} />
      <${Select} label=${w.webConfig.redirect} options=${["302", "307"].map((r) => [r, w.webConfig["r" + r]])} ...${form.bind("redirectStatus")} /></div></div><//>`}<//>`;
}

const hour = 3600;
const lengths = [1, 6, 24, 72, 168].map((n) => n * hour);

/** @param {number} seconds */
const length = (seconds) => (seconds % (24 * hour) ? w.recoveryConfig.hours(Math.round((seconds / hour) * 10) / 10) : w.recoveryConfig.days(seconds / 24 / hour));

/** @param {Props} props */
export function Recovery({ domain, changed }) {
  const input = ({ enabled, tokenTtlSeconds, matching }) => ({ enabled, tokenTtlSeconds: Number(tokenTtlSeconds), matching });
  return html`<${Settings} domain=${domain} name="recovery-config" text=${w.recoveryConfig.text} changed=${changed} input=${input} values=${(c) => ({ ...c, tokenTtlSeconds: String(c.tokenTtlSeconds) })}>${(form) => {
    const known = [...new Set([...lengths, Number(form.values.tokenTtlSeconds)])].sort((a, b) => a - b);
    return html`<${Card}><div class="stack"><${Check} label=${w.recoveryConfig.enabled} ...${form.bind("enabled")} />
      ${form.values.enabled && html`<${Select} label=${w.recoveryConfig.how} options=${[["token", w.recoveryConfig.token], ["none", w.recoveryConfig.off]]} ...${form.bind("matching")} />
        <${Select} label=${w.recoveryConfig.ttl} options=${known.map((n) => [String(n), length(n)])} ...${form.bind("tokenTtlSeconds")} />`}</div><//>`;
  }}<//>`;
}
