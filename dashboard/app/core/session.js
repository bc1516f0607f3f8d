// Who is signed in, and the app that is worked on.

import { computed, signal } from "./ui.js";
import * as api from "./api.js";
import { forgetAll } from "./jobs.js";
import { follow } from "./locale.js";
import { go, place } from "./router.js";
import { language } from "./words.js";

/** @typedef {import("contract").Schema} Schema */

/** The owner; null where nobody is signed in, undefined until that is known. @type {{value: Schema["Profile"] | null | undefined}} */
export const me = signal(undefined);
/** @type {{value: Schema["App"][]}} */
export const apps = signal([]);
/** @type {{value: Schema["Preferences"] | null}} */
export const preferences = signal(null);

/** The app that is worked on. Screens other than the first start are shown to owners who have one. @type {{value: Schema["App"]}} */
export const app = computed(() => apps.value.find((a) => a.id === preferences.value?.selectedAppId) ?? apps.value[0]);

let last = "";

/** Reads who is signed in. */
export async function open() {
  try {
    const [who, settings, list] = await Promise.all([api.get("/me"), api.get("/me/preferences"), api.all("/apps", {})]);
    preferences.value = settings;
    apps.value = list;
    dress();
    if (last && last !== who.userId) forgetAll();
    last = who.userId;
    me.value = who;
  } catch (err) {
    if (!(err instanceof api.Refusal && err.status === 401)) throw err;
    me.value = null;
  }
}

api.session.signOut = () => {
  me.value = null;
};

/** Ends the session. */
export async function signOut() {
  await api.auth("POST", "/logout");
  me.value = null;
  forgetAll();
  go("/");
}

/** Changes preferences; who else changed them meanwhile does not matter. @param {any} changes */
export async function prefer(changes) {
  preferences.value = { ...preferences.value, ...changes };
  dress();
  const now = await api.get("/me/preferences");
  preferences.value = await api.patch("/me/preferences", changes, { revision: now.revision });
}

/** Works on another app: what is shown of the one before is left. @param {string} id */
export async function chooseApp(id) {
  if (/^\/[^/]+\//.test(place.value.path)) go("/" + place.value.path.split("/")[1]);
  await prefer({ selectedAppId: id });
}

/** Has the page look, and write instants and numbers, as chosen. */
function dress() {
  follow(language, preferences.value);
  document.documentElement.dataset.theme = preferences.value?.theme ?? "system";
}
