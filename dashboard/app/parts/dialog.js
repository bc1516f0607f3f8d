// Dialogs and menus: what opens above a screen, and closes with Escape.

import { classes, html, render, useEffect, useId, useRef, useState } from "../core/ui.js";
import { w } from "../core/words.js";
import { useForm } from "../core/form.js";
import { Button, Problem, Send } from "./basics.js";

/** @param {{title: string, close: () => void, large?: boolean, children: any}} props */
export function Dialog({ title, close, large, children }) {
  const box = useRef(null);
  const id = useId();
  useEffect(() => {
    box.current.showModal();
    return () => box.current?.close();
  }, []);
  return html`<dialog ref=${box} class=${classes(large && "large")} aria-labelledby=${id} onClose=${close}
    onClick=${(e) => e.target === box.current && box.current.close()}>
    <h2 id=${id}>${title}</h2>${children}
  </dialog>`;
}

/**
 * Asks before something is done; what is refused is told in the dialog.
 * @param {{title: string, text?: any, action: string, run: () => Promise<any>, danger?: boolean}} question
 * @returns {Promise<boolean>} whether it was done
 */
export function ask({ title, text, action, run, danger = true }) {
  return new Promise((resolve) => {
    const at = document.body.appendChild(document.createElement("div"));
    let done = false;
    const close = () => {
      render(null, at);
      at.remove();
      resolve(done);
    };
    const Question = () => {
      const form = useForm({}, async () => {
        await run();
        done = true;
        close();
      });
      return html`<${Dialog} title=${title} close=${close}><form class="stack" onSubmit=${form.submit}>
        <div>${text}</div><${Problem} error=${form.problem} />
        <div class="row end"><${Button} onClick=${close}>${w.cancel}<//><${Send} form=${form} kind=${danger ? "danger" : "main-action"}>${action}<//></div>
      </form><//>`;
    };
    render(html`<${Question} />`, at);
  });
}

/**
 * A button that opens a list of actions. Arrows move in it.
 * @param {{label: string, icon?: string, text?: string, slim?: boolean, start?: boolean, children: any}} props children are <li> with a button or a link
 */
export function Menu({ label, icon = "more", text, slim = true, start, children }) {
  const [open, setOpen] = useState(false);
  const box = useRef(null);
  useEffect(() => {
    if (!open) return;
    const away = (e) => box.current.contains(e.target) || setOpen(false);
    document.addEventListener("pointerdown", away);
    box.current.querySelector("li a, li button")?.focus();
    return () => document.removeEventListener("pointerdown", away);
  }, [open]);
  /** @param {KeyboardEvent} e */
  function keys(e) {
    const all = [...box.current.querySelectorAll("li a, li button")];
    const at = all.indexOf(document.activeElement);
    if (e.key === "Escape" && open) {
      setOpen(false);
      box.current.querySelector("button").focus();
      e.stopPropagation();
    } else if (open && (e.key === "ArrowDown" || e.key === "ArrowUp")) {
      all.at((at + (e.key === "ArrowDown" ? 1 : -1)) % all.length)?.focus();
      e.preventDefault();
    }
  }
  const leave = (e) => e.relatedTarget && !box.current.contains(e.relatedTarget) && setOpen(false);
  return html`<div class=${classes("menu", start && "start")} ref=${box} onKeyDown=${keys} onFocusOut=${leave}>
    <${Button} slim=${slim} kind=${text ? "" : "plain"} icon=${icon} aria-label=${text ? undefined : label} title=${label} aria-expanded=${String(open)}
      onClick=${() => setOpen(!open)}>${text}<//>
    ${open && html`<ul onClick=${() => setOpen(false)}>${children}</ul>`}
  </div>`;
}
