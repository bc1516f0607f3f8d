// Colours: a field with a picker, and how well two of them can be told apart.

import { classes, html } from "../core/ui.js";
import { w } from "../core/words.js";
import { Field } from "./fields.js";

/** @param {any} text */
export const isColour = (text) => /^#[0-9a-f]{6}$/i.test(text ?? "");

/** How light a colour is, from 0 to 1, as WCAG 2 has it. @param {string} hex */
function luminance(hex) {
  const [r, g, b] = [1, 3, 5].map((i) => {
    const v = parseInt(hex.slice(i, i + 2), 16) / 255;
    return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** The contrast of two colours, from 1 to 21. @param {string} a @param {string} b */
export function contrast(a, b) {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

/** Whether the first colour is the lighter one. @param {string} a @param {string} b */
export const lighter = (a, b) => luminance(a) > luminance(b);

/**
 * A colour that is picked or typed.
 * @param {{label: string, hint?: string, error?: string, value?: string, empty?: string, set: (v: string) => void, disabled?: boolean, name?: string}} props empty is the text of no colour
 */
export const Colour = ({ label, hint, error, value, empty, set, disabled, name }) => html`<${Field} label=${label} hint=${hint} error=${error}>${(a) => html`<div class="row nowrap tight">
  <input type="color" class=${classes("input picks", !isColour(value) && "unset")} aria-label=${w.picker.colour(label)} disabled=${disabled} value=${isColour(value) ? value : "#808080"} onInput=${(e) => set(e.target.value)} />
  <input class="input mono grow" maxlength="7" autocomplete="off" spellcheck=${false} ...${a} name=${name} disabled=${disabled} placeholder=${empty ?? "#"} value=${value ?? ""} onInput=${(e) => set(e.target.value.trim())} /></div>`}<//>`;
