// What can be done with a page besides its design: rename, duplicate, archive.

import { html, useState } from "../core/ui.js";
import * as api from "../core/api.js";
import { go } from "../core/router.js";
import { note } from "../core/notes.js";
import { w } from "../core/words.js";
import { Menu, ask } from "./dialog.js";
import { Naming } from "./naming.js";

/** @param {{template: any, slim?: boolean, changed: (now: {template: any, draft: any, revision: string}) => void}} props */
export function TemplateMenu({ template, slim = true, changed }) {
  const [open, setOpen] = useState("");
  const path = "/templates/" + api.seg(template.id);
  const change = async (input) => changed(await api.patch(path, input, { revision: template.revision }));
  const copy = async (name) => go("/templates/" + (await api.post(path + "/duplicate", { name })).template.id);
  async function archive() {
    const { archived, name } = template;
    const run = () => change({ archived: !archived });
    const question = archived ? { title: w.templates.restore + ": " + name, action: w.templates.restore, run, danger: false } : { title: w.templates.archiveTitle(name), text: w.templates.archiveText, action: w.templates.archive, run };
    if (await ask(question)) note(archived ? w.templates.restored : w.templates.done);
  }
  return html`<${Menu} label=${w.moreActions} slim=${slim}><li><button onClick=${() => setOpen("rename")}>${w.templates.rename}</button></li><li><button onClick=${() => setOpen("copy")}>${w.templates.duplicate}</button></li>
      <li><button onClick=${archive}>${template.archived ? w.templates.restore : w.templates.archive}</button></li><//>
    ${open === "rename" && html`<${Naming} title=${w.templates.rename} label=${w.templates.name} name=${template.name} send=${(name) => change({ name })} close=${() => setOpen("")} />`}
    ${open === "copy" && html`<${Naming} title=${w.templates.duplicate} text=${w.templates.duplicateText} label=${w.templates.name} name=${w.templates.copyOf(template.name).slice(0, 100)} action=${w.templates.duplicate} send=${copy} close=${() => setOpen("")} />`}`;
}
