// Forms: the values as they are typed, and each complaint of the API at its field.

import { useEffect, useRef, useState } from "./ui.js";
import { Refusal } from "./api.js";
import { leaving } from "./router.js";
import { explain } from "./refusals.js";
import { w } from "./words.js";

/**
 * @typedef {{values: any, errors: Record<string, string>, problem: any, busy: boolean, changed: boolean,
 *   set: (name: string, value: any) => void, setAll: (values: any, from?: any) => void, bind: (name: string) => any,
 *   submit: (e?: Event) => Promise<void>, clear: () => void}} Form
 */

/** What a path of an answer names: "/lifecycle/maxClicks" is "lifecycle.maxClicks". @param {string} path */
const nameOf = (path) => path.replace(/^\/|^query\./, "").replaceAll("/", ".");

/**
 * A form. Names with dots are members of members.
 * @param {any} initial
 * @param {(values: any) => Promise<any>} send false: nothing was saved
 * @param {{guard?: boolean}} [o] guard asks before changes are left behind
 * @returns {Form}
 */
export function useForm(initial, send, { guard = false } = {}) {
  const [values, setValues] = useState(initial);
  const [from, setFrom] = useState(initial);
  const [errors, setErrors] = useState(/** @type {Record<string, string>} */ ({}));
  const [problem, setProblem] = useState(null);
  const [busy, setBusy] = useState(false);
  const asking = useRef(() => w.form.leave);
  const changed = JSON.stringify(values) !== JSON.stringify(from);

  useEffect(() => {
    if (!guard || !changed) return;
    const ask = asking.current;
    leaving.add(ask);
    return () => leaving.delete(ask);
  }, [guard, changed]);
  useEffect(() => () => {
    asking.current = () => ""; // the form is gone
  }, []);

  /** @param {string} name @param {any} value */
  function set(name, value) {
    setValues((v) => write(v, name.split("."), value));
    setErrors((e) => Object.fromEntries(Object.entries(e).filter(([at]) => at !== name && !at.startsWith(name + "."))));
    if (problem?.details?.length) setProblem(null);
  }

  /** @param {Event} [e] */
  async function submit(e) {
    e?.preventDefault();
    if (busy) return;
    setBusy(true);
    setProblem(null);
    setErrors({});
    // Sending may lead to another screen. Nobody is asked then.
    leaving.delete(asking.current);
    try {
      if ((await send(values)) !== false) setFrom(values);
      else if (guard) leaving.add(asking.current);
    } catch (err) {
      if (guard) leaving.add(asking.current);
      const details = err instanceof Refusal ? err.details : [];
      setErrors(Object.fromEntries(details.map((d) => [nameOf(d.path), explain(d)])));
      setProblem(err);
      setTimeout(() => /** @type {HTMLElement | null} */ (document.querySelector("[aria-invalid=true]"))?.focus(), 50);
    } finally {
      setBusy(false);
    }
  }

  return {
    values, errors, problem, busy, changed, set, submit,
    setAll: (v, before = v) => (setValues(v), setFrom(before)),
    clear: () => setProblem(null),
    bind: (name) => ({
      name, value: member(values, name) ?? "", error: errors[name],
      onInput: (e) => set(name, e.target.type === "checkbox" ? e.target.checked : e.target.value),
    }),
  };
}

/** @param {any} values @param {string} name @returns {any} */
export const member = (values, name) => name.split(".").reduce((v, n) => v?.[n], values);

/** @param {any} values @param {string[]} names @param {any} value @returns {any} */
function write(values, [name, ...rest], value) {
  const inside = rest.length ? write(values?.[name] ?? {}, rest, value) : value;
  if (Array.isArray(values)) return values.map((v, i) => (i === Number(name) ? inside : v));
  return { ...values, [name]: inside };
}

/** Empty text is no value. @param {any} v */
export const orNull = (v) => (v === "" || v === undefined ? null : v);
