// What forms of settings tell when the API refuses.

import { html } from "../core/ui.js";
import { overtaken } from "../core/refusals.js";
import { w } from "../core/words.js";
import { Button, Problem } from "./basics.js";

/**
 * What is wrong with a field: the words where the API only names a pattern, else what it says.
 * @param {import("../core/form.js").Form} form
 * @param {string} name
 * @param {string} words
 */
export function worded(form, name, words) {
  const shape = form.problem?.details?.some((d) => d.code === "invalid_format" && d.path.slice(1).replaceAll("/", ".") === name);
  return form.errors[name] && shape ? words : form.errors[name];
}

/** Why a form was not saved. Where somebody was faster, it is loaded again when the owner says so. @param {{form: import("../core/form.js").Form, again: () => void}} props */
export const Refused = ({ form, again }) => html`<${Problem} error=${form.problem} fields=${form.errors} />
  ${overtaken(form.problem) && html`<div class="row"><${Button} onClick=${again}>${w.overtaken.again}<//><span class="muted small">${w.overtaken.text}</span></div>`}`;
