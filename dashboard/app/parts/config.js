// The design of a page: as its form has it, and as the API takes it.

/** The buttons that a page has. @type {Record<string, string[]>} */
export const actions = { android: ["open", "install", "web"], ios: ["open", "install", "web"], recovery: ["copy", "install", "open", "web"] };

/** @param {any} config */
export const formOf = (config) => ({
  ...config, content: { details: [], ...config.content },
  variables: (config.variables ?? []).map((v) => ({ type: "text", ...v, maxLength: v.maxLength ?? "", defaultValue: v.defaultValue === undefined ? "" : String(v.defaultValue) })),
});

/** Without what is empty. @param {any} members @returns {any} */
function filled(members) {
  const kept = Object.entries(members ?? {})
    .map(([k, v]) => [k, v && typeof v === "object" && !Array.isArray(v) ? filled(v) : v])
    .filter(([, v]) => v !== "" && v != null && !(Array.isArray(v) && !v.length));
  return kept.length ? Object.fromEntries(kept) : undefined;
}

/** A number where it is one; else the text, which the API refuses with a reason. @param {string} text */
const numeric = (text) => (text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text);

/** @param {any} v a variable of the form */
const variable = (v) => ({
  key: v.key, ...(v.label && { label: v.label }), type: v.type, ...(v.required && { required: true }), ...(v.type === "text" && v.maxLength !== "" && { maxLength: numeric(String(v.maxLength)) }),
  ...(v.defaultValue !== "" && { defaultValue: v.type === "number" ? numeric(v.defaultValue) : v.type === "boolean" ? v.defaultValue === "true" : v.defaultValue }),
});

/** @param {any} form */
export const configOf = ({ variables = [], ...rest }) => ({ ...filled(rest), ...(variables.length > 0 && { variables: variables.map(variable) }) });
