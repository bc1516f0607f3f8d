// Asks for a name, to rename something or to copy it.

import { html } from "../core/ui.js";
import { useForm } from "../core/form.js";
import { w } from "../core/words.js";
import { Button, Problem, Send } from "./basics.js";
import { Dialog } from "./dialog.js";
import { Text } from "./fields.js";

/** @param {{title: string, label: string, name: string, text?: string, action?: string, send: (name: string) => Promise<any>, close: () => void}} props */
export function Naming({ title, label, name, text, action = w.save, send, close }) {
  const form = useForm({ name }, async (v) => {
    await send(v.name);
    close();
  });
  return html`<${Dialog} title=${title} close=${close}><form class="stack" onSubmit=${form.submit} novalidate>
    ${text && html`<p class="muted">${text}</p>`}<${Text} label=${label} maxlength="100" autofocus ...${form.bind("name")} /><${Problem} error=${form.problem} fields=${form.errors} />
    <div class="row end"><${Button} onClick=${close}>${w.cancel}<//><${Send} form=${form}>${action}<//></div></form><//>`;
}
