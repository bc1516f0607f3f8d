// One page: its design beside a phone, its versions, and where it is published.

import { html, useState } from "../core/ui.js";
import * as api from "../core/api.js";
import { href } from "../core/router.js";
import { useForm } from "../core/form.js";
import { useLoad, useSettled } from "../core/load.js";
import { explain, missing, overtaken } from "../core/refusals.js";
import { note } from "../core/notes.js";
import { w } from "../core/words.js";
import { Button, Empty, Problem, Says, Screen, Send, Shown, Tabs } from "../parts/basics.js";
import { Design } from "../parts/design.js";
import { Phone } from "../parts/phone.js";
import { Publications } from "../parts/publications.js";
import { Publish } from "../parts/publish.js";
import { TemplateMenu } from "../parts/templatemenu.js";
import { Versions } from "../parts/versions.js";
import { configOf, formOf } from "../parts/config.js";

const tabs = ["", "versions", "publish", "publications"];

/** @param {{id: string, query: Record<string, string>}} props tab: what of the page is shown */
export default function Template({ id, query }) {
  const path = "/templates/" + api.seg(id);
  const of = useLoad((s) => api.get(path, {}, s), [id]);
  const at = tabs.includes(query.tab) ? query.tab : "";
  const place = (tab) => href("/templates/" + id, { tab });
  if (missing(of.error)) return html`<${Screen} title=${w.template.gone}><${Empty} icon="page" title=${w.template.gone}><${Button} href="#/templates">${w.nav.templates}<//><//><//>`;
  return html`<${Shown} of=${of}>${(v) => html`<${Screen} title=${v.template.name} lead=${w.templates.bases[v.template.baseTemplateId]} crumb=${{ href: "#/templates", text: w.nav.templates }}
      actions=${html`<${TemplateMenu} template=${v.template} slim=${false} changed=${of.set} />`}>
    <div><${Tabs} label=${w.template.parts} at=${place(at)} places=${tabs.map((t) => [place(t), w.template[t || "design"]])} />
    <div class="stack">${v.template.archived && html`<${Says} kind="warn">${w.template.archivedNote}<//>`}
    ${at === "versions" ? html`<${Versions} of=${v} changed=${of.set} again=${of.reload} />`
      : at === "publish" ? html`<${Publish} of=${v} version=${query.version ?? ""} again=${of.reload} />`
        : at === "publications" ? html`<${Publications} template=${v.template} />`
          : html`<${Drafting} key=${id} of=${v} changed=${of.set} again=${of.reload} />`}</div></div><//>`}<//>`;
}

/** The editor begins anew when it loads again what somebody else saved. @param {{of: any, changed: (v: any) => void, again: () => void}} props */
function Drafting({ of, changed, again }) {
  const [turn, setTurn] = useState(0);
  const base = of.template.baseTemplateId;
  const catalog = useLoad((s) => api.get(`/template-catalog/${base}/schema`, {}, s), [base]);
  const reload = async () => {
    changed(await api.get("/templates/" + of.template.id));
    setTurn(turn + 1);
  };
  return html`<${Shown} of=${catalog}>${(c) => html`<${Editor} key=${turn} of=${of} catalog=${c} changed=${changed} again=${again} reload=${reload} />`}<//>`;
}

/** Where a mistake is, as the form names it. @param {import("../core/api.js").Detail} d */
const nameOf = (d) => d.path.replace(/^\//, "").replaceAll("/", ".");

/** What is wrong, in words that people who write no patterns understand. @param {import("../core/api.js").Detail} d */
function say(d) {
  if (d.code === "invalid_format" && d.path.includes("/appearance/")) return w.template.badColour;
  if (d.code === "invalid_format" && d.path.endsWith("/key")) return w.template.keyHint;
  return explain(d);
}

/** @param {{of: any, catalog: any, changed: (v: any) => void, again: () => void, reload: () => void}} props */
function Editor({ of, catalog, changed, again, reload }) {
  const { template, draft } = of;
  const path = "/templates/" + template.id;
  const form = useForm({ config: formOf(draft.config) }, async ({ config }) => {
    const now = await api.put(path + "/draft", { config: configOf(config) }, { revision: draft.revision });
    changed({ ...of, draft: now });
    // A saved draft gives the template a new revision too.
    again();
    note(w.template.saved);
  }, { guard: true });
  const config = useSettled(configOf(form.values.config), 400);
  const checked = useLoad((signal) => api.post(path + "/validate", { config }, { signal }), [JSON.stringify(config)]);
  /** @type {import("../core/api.js").Detail[]} */
  const issues = checked.error?.details ?? checked.value?.issues ?? [];
  /** @type {Record<string, string>} */
  const errors = { ...form.errors };
  for (const d of issues) errors[nameOf(d)] = [...new Set([errors[nameOf(d)], say(d)])].filter(Boolean).join(" · ");
  const lost = overtaken(form.problem);
  const whole = issues.filter((d) => !/^\/config\/(appearance|content|variables)\//.test(d.path));
  return html`<form class="designer" onSubmit=${form.submit} novalidate>
    <div class="stack"><${Design} form=${form} errors=${errors} schema=${catalog.schema} limits=${catalog.limits} base=${template.baseTemplateId} /></div>
    <section class="beside" aria-label=${w.template.preview}><${Phone} template=${template} config=${config} name=${template.name} /></section>
    <div class="sticky stack tight whole">
      ${lost ? html`<${Says} kind="bad"><p role="alert">${w.template.overtaken}</p><p><${Button} slim onClick=${reload}>${w.template.reload}<//></p><//>` : html`<${Problem} error=${form.problem} fields=${{ ...form.errors, ...errors }} />`}
      ${whole.length > 0 && html`<${Says} kind="bad">${whole.map((d) => html`<p>${say(d)}</p>`)}<//>`}
      <div class="row spread"><span class="small muted" role="status">${checked.value || checked.error ? (issues.length ? w.template.issues(issues.length) : w.template.fine) : ""}</span>
        <div class="row"><${Button} href=${href("/templates/" + template.id, { tab: "publish" })}>${w.template.toPublish}<//><${Send} form=${form}>${w.save}<//></div></div></div></form>`;
}
