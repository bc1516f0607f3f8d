// The versions of a page: made of the draft, looked at, and taken as the draft again.

import { html, useState } from "../core/ui.js";
import * as api from "../core/api.js";
import { href } from "../core/router.js";
import { useList, useLoad } from "../core/load.js";
import { moment } from "../core/format.js";
import { attempt, note } from "../core/notes.js";
import { w } from "../core/words.js";
import { Button, Card, Empty, More, Problem, Shown, State } from "./basics.js";
import { ask } from "./dialog.js";
import { Phone } from "./phone.js";

/** @param {{of: any, changed: (v: any) => void, again: () => void}} props of is the page with its draft */
export function Versions({ of, changed, again }) {
  const { template, draft } = of;
  const path = "/templates/" + template.id;
  const list = useList(path + "/versions", {}, 20);
  const there = useLoad((s) => api.get(path + "/availability", {}, s), [template.id]);
  const [at, setAt] = useState(0);
  const [problem, setProblem] = useState(null);
  const [busy, setBusy] = useState(false);

  async function make() {
    setBusy(true);
    setProblem(null);
    try {
      const made = await api.post(path + "/versions", {}, { revision: draft.revision });
      note(w.versions.made(made.version));
      setAt(made.version);
      list.reload();
      there.reload();
      again();
    } catch (err) {
      setProblem(err);
    } finally {
      setBusy(false);
    }
  }
  const back = (v) => attempt(async () => {
    const run = async () => changed({ ...of, draft: await api.put(path + "/draft", { config: v.config }, { revision: draft.revision }) });
    if (!(await ask({ title: w.versions.backTitle(v.version), text: w.versions.backText, action: w.versions.back, run }))) return;
    note(w.versions.backDone(v.version));
    again();
  });
  const state = (n) => there.value?.versions.find((v) => v.version === n)?.availability;
  const use = there.value?.inUse;
  const button = html`<${Button} kind="main-action" icon="plus" busy=${busy} onClick=${make}>${w.versions.make}<//>`;
  const shown = list.rows?.find((v) => v.version === at);
  return html`<${Problem} error=${problem} retry=${problem?.code === "revision_conflict" ? again : undefined} />
    <${Shown} of=${list}>${(rows) => rows.length === 0
      ? html`<${Empty} icon="copy" title=${w.versions.none}><p>${w.versions.noneText}</p>${button}<//>`
      : html`<div class="designer"><div class="stack"><div class="row spread"><span class="muted">${use && (use.app + use.domains + use.links ? w.versions.inUse(use.app, use.domains, use.links) : w.versions.unused)}</span>${button}</div>
        <${Card}><ul class="list">${rows.map((v, i) => html`<li class="row spread" key=${v.version}>
          <div class="grow"><div class="row"><strong>${w.versions.version(v.version)}</strong>${i === 0 && html`<span class="tag">${w.versions.newest}</span>`}${state(v.version) && html`<${State} of=${state(v.version)} text=${w.versions.states[state(v.version)]} />`}</div>
            <time class="muted small" datetime=${v.createdAt}>${moment(v.createdAt)}</time></div>
          <div class="row"><${Button} slim aria-pressed=${String(at === v.version)} onClick=${() => setAt(v.version)}>${w.versions.look}<//><${Button} slim onClick=${() => back(v)}>${w.versions.back}<//>
            <${Button} slim href=${href("/templates/" + template.id, { tab: "publish", version: v.version })}>${w.template.toPublish}<//></div></li>`)}</ul><//><${More} list=${list} /></div>
        <section class="beside" aria-label=${w.template.preview}>${shown ? html`<${Phone} template=${template} config=${shown.config} name=${w.versions.version(at)} />` : html`<p class="muted">${w.versions.chooseOne}</p>`}</section></div>`}<//>`;
}
