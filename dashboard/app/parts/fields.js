// Fields: each with a label, a hint, and what is wrong with it.

import { classes, html, useId } from "../core/ui.js";
import { fromField, toField } from "../core/format.js";
import { elsewhere } from "../core/locale.js";
import { w } from "../core/words.js";

/**
 * @param {{label: string, hint?: any, error?: string, children: (attributes: any) => any}} props children get the attributes of their control
 */
export function Field({ label, hint, error, children }) {
  const id = useId();
  const described = classes(hint && id + "-hint", error && id + "-error");
  return html`<div class="field">
    <label for=${id}>${label}</label>
    ${children({ id, "aria-describedby": described || undefined, "aria-invalid": error ? "true" : undefined })}
    ${hint && html`<span class="hint" id=${id + "-hint"}>${hint}</span>`}
    ${error && html`<span class="error" id=${id + "-error"}>${error}</span>`}
  </div>`;
}

/** A line of text. @param {any} props of the field and of the input */
export const Text = ({ label, hint, error, class: c, before, ...rest }) => html`<${Field} label=${label} hint=${hint} error=${error}>${(
  /** @type {any} */ a,
) => {
  const input = html`<input class=${classes("input", c)} autocomplete="off" spellcheck=${false} ...${a} ...${rest} />`;
  return before ? html`<div class="affix"><span class="cut">${before}</span>${input}</div>` : input;
}}<//>`;

/** Several lines of text. @param {any} props */
export const Area = ({ label, hint, error, value, ...rest }) => html`<${Field} label=${label} hint=${hint} error=${error}>${(
  /** @type {any} */ a,
) => html`<textarea class="input" ...${a} ...${rest} value=${value} />`}<//>`;

/** An instant, as a clock of the owner's zone shows it. @param {any} props value and set: the instant, or null */
export const Instant = ({ value, set, hint, ...rest }) => html`<${Text} type="datetime-local" value=${toField(value)} onChange=${(/** @type {any} */ e) => set(fromField(e.target.value))}
  hint=${[hint, elsewhere && w.timesOf(elsewhere)].filter(Boolean).join(" ")} ...${rest} />`;

/** One of several. @param {any} props options: values and their texts; empty: the text of no value */
export const Select = ({ label, hint, error, options, empty, value, class: c, ...rest }) => html`<${Field} label=${label} hint=${hint}
  error=${error}>${(a) => html`<${Choose} ...${a} ...${rest} options=${options} empty=${empty} value=${value} class=${c} />`}<//>`;

/** A select without a label of its own. @param {any} props */
export const Choose = ({ options, empty, value, class: c, ...rest }) => html`<select class=${classes("input", c)} ...${rest} value=${value}>
  ${empty !== undefined && html`<option value="" selected=${!value}>${empty}</option>`}
  ${options.map(([v, text]) => html`<option value=${v} selected=${v === value}>${text}</option>`)}
</select>`;

/** Yes or no. @param {any} props */
export function Check({ label, hint, value, error, ...rest }) {
  const id = useId();
  return html`<div class="check">
    <input type="checkbox" id=${id} checked=${value === true} aria-describedby=${hint ? id + "-hint" : undefined} ...${rest} />
    <div><label for=${id}>${label}</label>${hint && html`<div class="hint muted small" id=${id + "-hint"}>${hint}</div>`}
    ${error && html`<div class="bad small">${error}</div>`}</div>
  </div>`;
}

/** A group of fields with a legend. @param {{legend: string, children: any}} props */
export const Group = ({ legend, children }) => html`<fieldset class="stack tight"><legend class="legend">${legend}</legend>${children}</fieldset>`;
