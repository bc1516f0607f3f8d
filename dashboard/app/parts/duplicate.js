// A link is made like another one, under another address.

import { html } from "../core/ui.js";
import * as api from "../core/api.js";
import { go } from "../core/router.js";
import { useForm } from "../core/form.js";
import { ready, useCatalog } from "../core/catalog.js";
import { newSlug } from "../core/links.js";
import { bare } from "../core/format.js";
import { note } from "../core/notes.js";
import { w } from "../core/words.js";
import { Button, Problem, Send } from "./basics.js";
import { Dialog } from "./dialog.js";
import { Address } from "./address.js";

/** @param {{link: import("../core/links.js").Link, close: () => void}} props */
export function Duplicate({ link, close }) {
  const domains = ready(useCatalog("domains")) ?? [];
  const form = useForm({ domain: link.domain, prefix: link.prefix, slug: newSlug() }, async ({ domain, prefix, slug }) => {
    const made = await api.post(`/links/${api.seg(link.id)}/duplicate`, { domain, prefix, slug });
    note(w.edit.made(bare(made)));
    close();
    go("/links/" + api.seg(made.id));
  });
  return html`<${Dialog} title=${w.duplicate.title} close=${close}><form class="stack" onSubmit=${form.submit}>
    <p class="muted">${w.duplicate.text}</p><${Address} form=${form} domains=${domains} /><${Problem} error=${form.problem} fields=${form.errors} />
    <div class="row end"><${Button} onClick=${close}>${w.cancel}<//><${Send} form=${form}>${w.duplicate.title}<//></div></form><//>`;
}
