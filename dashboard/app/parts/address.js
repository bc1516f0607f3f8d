// The address of a new link: its domain and a slug that is free, checked while it is typed.

import { html, useEffect, useState } from "../core/ui.js";
import * as api from "../core/api.js";
import { useSettled } from "../core/load.js";
import { newSlug } from "../core/links.js";
import { w } from "../core/words.js";
import { Button } from "./basics.js";
import { Select, Text } from "./fields.js";

/** @param {{form: import("../core/form.js").Form, domains: any[]}} props */
export function Address({ form, domains }) {
  const { domain, prefix, slug } = form.values;
  const asked = useSettled({ domain, prefix, slug }, 300);
  const [answer, setAnswer] = useState(null);
  useEffect(() => {
    const leave = new AbortController();
    setAnswer(null);
    if (asked.slug) {
      api.get("/links/availability", asked, leave.signal).then(setAnswer, (err) => leave.signal.aborted || setAnswer({ error: err }));
    }
    return () => leave.abort();
  }, [asked]);
  const current = answer && asked.slug === slug && asked.domain === domain && asked.prefix === prefix;
  const taken = current && answer.available === false ? w.edit.taken[answer.reason] : undefined;
  const hint = current && answer.available ? html`<span class="good">${w.edit.free}</span> ${answer.url}` : w.edit.slugHint;
  return html`<div class="pair">
    <${Select} label=${w.links.domain} options=${domains.map((d) => [d.hostname, d.hostname])} ...${form.bind("domain")} />
    <div class="row nowrap slug"><div class="grow"><${Text} label=${w.edit.slug} maxlength="200" ...${form.bind("slug")} hint=${hint} error=${form.errors.slug || taken} /></div>
      <${Button} kind="plain" onClick=${() => form.set("slug", newSlug())}>${w.edit.another}<//></div>
  </div>`;
}
