// Somebody else changed the link meanwhile: yours beside theirs.

import { html } from "../core/ui.js";
import { member } from "../core/form.js";
import { differences } from "../core/links.js";
import { useCatalog } from "../core/catalog.js";
import { moment } from "../core/format.js";
import { w } from "../core/words.js";
import { Button } from "./basics.js";

/** Puts the fields that one side changed over the other's. @param {any} onto @param {any} from @param {string[]} names */
function over(onto, from, names) {
  const result = { ...onto, utm: { ...onto.utm }, lifecycle: { ...onto.lifecycle } };
  for (const name of names) {
    const [outer, inner] = name.split(".");
    if (inner) result[outer][inner] = member(from, name);
    else result[outer] = from[outer];
  }
  return result;
}

/**
 * @param {{before: any, mine: any, theirs: any, take: (values: any) => void}} props before is what the owner began with
 */
export function Meanwhile({ before, mine, theirs, take }) {
  const tags = useCatalog("tags");
  const retagged = String(mine.tagIds) !== String(before.tagIds);
  const changed = [...differences(mine, before), ...(retagged ? ["tagIds"] : [])];
  const shown = [...new Set([...changed, ...differences(theirs, before), ...(String(theirs.tagIds) !== String(before.tagIds) ? ["tagIds"] : [])])];
  /** @param {any} values @param {string} name */
  const value = (values, name) => {
    const v = member(values, name);
    if (name === "tagIds") return v.map((id) => tags?.find((t) => t.id === id)?.name ?? id).join(", ") || w.none;
    return v == null || v === "" ? w.none : /At$/.test(name) ? moment(v) : String(v);
  };
  return html`<div class="card stack" role="alert"><h2>${w.meanwhile.title}</h2><p>${w.meanwhile.text}</p>
    <div class="scroll"><table class="table"><thead><tr><th>${w.meanwhile.field}</th><th>${w.meanwhile.mine}</th><th>${w.meanwhile.theirs}</th></tr></thead>
      <tbody>${shown.map((name) => html`<tr><th scope="row">${w.fields[name] ?? name}</th>
        <td>${changed.includes(name) ? html`<strong>${value(mine, name)}</strong>` : value(mine, name)}</td><td>${value(theirs, name)}</td></tr>`)}</tbody></table></div>
    <div class="row end"><${Button} onClick=${() => take({ ...theirs, utm: { ...theirs.utm }, lifecycle: { ...theirs.lifecycle } })}>${w.meanwhile.takeTheirs}<//>
      <${Button} kind="main-action" onClick=${() => take(over(theirs, mine, changed))}>${w.meanwhile.keepMine}<//></div></div>`;
}
