// The words of the dashboard. Each language is one file of words/ with the same names; a test
// compares them.

import { follow } from "./locale.js";
import en from "../words/en.js";

/** The words of the owner's language. */
export let w = en;
export let language = "en";

/** The languages there are, and what each calls itself. @type {Record<string, string>} */
export const languages = { en: "English", "pt-BR": "Português (Brasil)" };

const kept = "waymark.language";

/** Loads the language that was chosen, else one of the browser's. */
export async function loadWords() {
  const wanted = [localStorage.getItem(kept) ?? "", ...navigator.languages];
  const known = Object.keys(languages);
  language = wanted.flatMap((l) => known.filter((k) => k === l || k.split("-")[0] === l.split("-")[0])).at(0) ?? "en";
  if (language === "pt-BR") w = (await import("../words/pt-BR.js")).default;
  document.documentElement.lang = language;
  follow(language);
}

/** Chooses a language. @param {string} chosen */
export function chooseLanguage(chosen) {
  localStorage.setItem(kept, chosen);
  location.reload();
}
