// The pages that visitors on phones see, by where they are seen.

import { html, useState } from "../core/ui.js";
import * as api from "../core/api.js";
import { go, href, refine } from "../core/router.js";
import { app } from "../core/session.js";
import { useForm } from "../core/form.js";
import { useList, useLoad } from "../core/load.js";
import { ago } from "../core/format.js";
import { w } from "../core/words.js";
import { Button, Card, Empty, More, Problem, Says, Screen, Send, Shown } from "../parts/basics.js";
import { Dialog } from "../parts/dialog.js";
import { Choose, Group, Text } from "../parts/fields.js";
import { TemplateMenu } from "../parts/templatemenu.js";

const bases = ["android", "ios", "recovery"];

/** @param {{query: Record<string, string>}} props */
export default function Templates({ query }) {
  const archived = query.archived === "true";
  const [making, setMaking] = useState(false);
  const list = useList("/templates", { appId: app.value.id, archived: String(archived) }, 100);
  const { scheme, androidPackage, iosBundleId } = app.value;
  const create = html`<${Button} kind="main-action" icon="plus" onClick=${() => setMaking(true)}>${w.templates.create}<//>`;
  // Archived and restored pages leave the list that is shown.
  const changed = ({ template: t }) => list.change(t.id, t.archived === archived ? t : null);
  return html`<${Screen} title=${w.templates.title} lead=${w.templates.lead} actions=${html`<div><${Choose} class="slim" aria-label=${w.templates.show} value=${String(archived)} options=${[["false", w.templates.current], ["true", w.templates.archived]]}
      onChange=${(e) => refine({ archived: e.target.value === "true" })} /></div>${create}`}>
    ${!scheme && !androidPackage && !iosBundleId && html`<${Says}>${w.templates.noApp} <a href="#/app">${w.templates.noAppLink}</a><//>`}
    <${Shown} of=${list}>${(rows) => rows.length
      ? html`${bases.map((b) => [b, rows.filter((t) => t.baseTemplateId === b)]).filter(([, some]) => some.length).map(([b, some]) => html`<${Card} key=${b} title=${w.templates.bases[String(b)]}><ul class="list">${(some).map((t) => html`<li class="row nowrap spread" key=${t.id}>
          <div class="grow"><a class="cut" href=${href("/templates/" + t.id)}><strong>${t.name}</strong></a><p class="muted small">${w.templates.changed(ago(t.updatedAt))}</p></div><${TemplateMenu} template=${t} changed=${changed} /></li>`)}</ul><//>`)}<${More} list=${list} />`
      : archived ? html`<${Empty} icon="archive" title=${w.templates.noneArchived} />` : html`<${Empty} icon="page" title=${w.templates.none}><p>${w.templates.noneText}</p>${create}<//>`}<//>
    ${making && html`<${Make} close=${() => setMaking(false)} />`}<//>`;
}

/** @param {{close: () => void}} props */
function Make({ close }) {
  const catalog = useLoad((s) => api.get("/template-catalog", {}, s), []);
  const form = useForm({ baseTemplateId: "android", name: "" }, async (v) => {
    const { example } = await api.get(`/template-catalog/${v.baseTemplateId}/schema`);
    const made = await api.post("/templates", { appId: app.value.id, ...v, config: example });
    close();
    go("/templates/" + made.template.id);
  });
  return html`<${Dialog} title=${w.templates.create} close=${close}><${Shown} of=${catalog}>${(items) => html`<form class="stack" onSubmit=${form.submit} novalidate>
    <${Group} legend=${w.templates.base}>${items.map(({ baseTemplateId: id, name, description }) => html`<label class="check" key=${id}><input type="radio" name="base" value=${id} checked=${form.values.baseTemplateId === id} onChange=${() => form.set("baseTemplateId", id)} />
      <span><strong>${w.templates.bases[id] ?? name}</strong><br /><span class="muted small">${w.templates.about[id] ?? description}</span></span></label>`)}<//>
    <${Text} label=${w.templates.name} hint=${w.templates.nameHint} maxlength="100" ...${form.bind("name")} /><p class="muted small">${w.templates.begins}</p>
    <${Problem} error=${form.problem} fields=${form.errors} /><div class="row end"><${Button} onClick=${close}>${w.cancel}<//><${Send} form=${form}>${w.templates.make}<//></div></form>`}<//><//>`;
}
