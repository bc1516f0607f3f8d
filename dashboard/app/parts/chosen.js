// What can be done with the links that are chosen.

import { html, useState } from "../core/ui.js";
import { app } from "../core/session.js";
import { changeAll, tagAll } from "../core/batch.js";
import { choices, useCatalog } from "../core/catalog.js";
import { bare } from "../core/format.js";
import { attempt, note } from "../core/notes.js";
import { w } from "../core/words.js";
import { Button } from "./basics.js";
import { Dialog, ask } from "./dialog.js";
import { Choose } from "./fields.js";

/** @param {{links: any[], done: () => void, clear: () => void}} props */
export function Chosen({ links, done, clear }) {
  const [failed, setFailed] = useState(/** @type {any[]} */ ([]));
  const [tagged, setTagged] = useState(-1);
  const appId = app.value.id;
  const [folders, campaigns, tags] = [useCatalog("folders"), useCatalog("campaigns"), useCatalog("tags")];

  /** @param {string} title @param {(link: any) => any} change */
  async function run(title, change) {
    const left = await changeAll(appId, links, title, change);
    if (left.length) setFailed(left);
    else {
      note(w.chosen.done(links.length));
      done();
    }
  }
  /** @param {string} name @param {string} id */
  const move = (name, id) => attempt(() => run(w.chosen.moving(links.length), () => ({ action: name === "folderId" ? "move" : "update", input: { [name]: id === "none" ? null : id } })));
  /** @param {string} id */
  const tag = (id) => attempt(async () => {
    setTagged(0);
    await tagAll(links, id, true, setTagged).finally(() => setTagged(-1));
    note(w.chosen.done(links.length));
    done();
  });
  const archived = links.every((l) => l.state === "archived");
  const archive = () => attempt(() => run(w.chosen.archiving(links.length), () => ({
    action: "archive", input: { lifecycle: { archived: !archived } },
  })));
  const remove = () => ask({ title: w.chosen.deleteTitle(links.length), text: w.chosen.deleteText, action: w.delete, run: () => run(w.chosen.deleting(links.length), () => ({ action: "delete" })) });
  /** @param {string} label @param {[string, string][]} options @param {(v: string) => any} chosen */
  const choose = (label, options, chosen) => options.length > 0 && html`<div><${Choose} class="slim" aria-label=${label} empty=${label} value="" options=${options}
    onChange=${(e) => {
      const v = e.target.value;
      e.target.value = "";
      chosen(v);
    }} /></div>`;

  return html`<div class="chosen-bar row" role="region" aria-label=${w.chosen.label}>
    <strong class="number">${tagged < 0 ? w.chosen.count(links.length) : w.chosen.tagged(tagged, links.length)}</strong>
    ${choose(w.chosen.tag, choices(tags), tag)}
    ${choose(w.chosen.move, [["none", w.chosen.noFolder], ...choices(folders)], (id) => move("folderId", id))}
    ${choose(w.chosen.campaign, [["none", w.chosen.noCampaign], ...choices(campaigns)], (id) => move("campaignId", id))}
    <${Button} slim icon="archive" onClick=${archive}>${archived ? w.chosen.restore : w.chosen.archive}<//>
    <${Button} slim icon="trash" kind="danger" onClick=${remove}>${w.delete}<//>
    <${Button} slim kind="plain" onClick=${clear}>${w.chosen.clear}<//>
    ${failed.length > 0 && html`<${Dialog} title=${w.chosen.failed(failed.length)} close=${() => (setFailed([]), done())}>
      <ul class="list">${failed.map((f) => html`<li><strong>${bare(f.link)}</strong><p class="bad">${f.message}</p></li>`)}</ul>
      <div class="row end"><${Button} onClick=${() => (setFailed([]), done())}>${w.close}<//></div><//>`}
  </div>`;
}
