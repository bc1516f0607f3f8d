// Links of other products: which product a file is from, what its columns become, and the parts in
// which the API takes it. There is no view here.

import { Unreadable, readCsv, writeRow } from "./csv.js";

/**
 * @typedef {{format: "csv" | "json", name: string, columns: string[], rows: {row: number, values: Record<string, any>}[], guessed: boolean}} File
 * @typedef {{row: number, values: Record<string, any>}} Item
 * @typedef {{first: number, rows: number, content: string}} Part
 * @typedef {{id: string, name: string, mapping: Record<string, string>, constants: Record<string, any>}} Product
 */

/** The fields that a column can become. */
export const fields = [
  "url", "url.path", "domain", "prefix", "slug", "desktopUrl", "title", "description", "imageUrl", "playStoreUrl", "appStoreUrl", "appPath", "webOnly", "behavior", "group",
  "lifecycle.archived", "lifecycle.startsAt", "lifecycle.expiresAt", "lifecycle.maxClicks", "lifecycle.expiredUrl", "utm.source", "utm.medium", "utm.campaign", "utm.term",
  "utm.content", "parameters", "utm", "lifecycle", "templateData", "folderId", "campaignId",
];

/** Which kind of value a field takes, where it is not text. @type {Record<string, string>} */
const kinds = {
  webOnly: "yes", "lifecycle.archived": "yes", "lifecycle.startsAt": "instant", "lifecycle.expiresAt": "instant", "lifecycle.maxClicks": "number",
  parameters: "object", utm: "object", lifecycle: "object", templateData: "object",
  desktopUrl: "web", imageUrl: "web", playStoreUrl: "web", appStoreUrl: "web", "lifecycle.expiredUrl": "web",
};

const web = { webOnly: true };

/** The products, the surest first: a file is of the first one of which it has both first columns. @type {Product[]} */
export const products = [
  { id: "waymark", name: "Waymark", constants: {}, mapping: {
    url: "url.path", desktopUrl: "desktopUrl", title: "title", description: "description", imageUrl: "imageUrl", playStoreUrl: "playStoreUrl", appStoreUrl: "appStoreUrl",
    appPath: "appPath", parameters: "parameters", webOnly: "webOnly", behavior: "behavior", group: "group", utm: "utm", lifecycle: "lifecycle",
  } },
  { id: "bitly", name: "Bitly", constants: web, mapping: { link: "url", long_url: "desktopUrl", title: "title", archived: "lifecycle.archived" } },
  { id: "shortio", name: "Short.io", constants: {}, mapping: {
    secureShortURL: "url", originalURL: "desktopUrl", androidURL: "playStoreUrl", iphoneURL: "appStoreUrl", title: "title", archived: "lifecycle.archived",
    expiresAt: "lifecycle.expiresAt", expiredURL: "lifecycle.expiredUrl", utmSource: "utm.source", utmMedium: "utm.medium", utmCampaign: "utm.campaign", utmTerm: "utm.term",
    utmContent: "utm.content",
  } },
  { id: "rebrandly", name: "Rebrandly", constants: web, mapping: { shortUrl: "url", destination: "desktopUrl", title: "title", description: "description" } },
  { id: "shlink", name: "Shlink", constants: web, mapping: { shortUrl: "url", longUrl: "desktopUrl", title: "title" } },
  { id: "kutt", name: "Kutt", constants: web, mapping: { link: "url", target: "desktopUrl", description: "title", expire_in: "lifecycle.expiresAt", banned: "lifecycle.archived" } },
  { id: "yourls", name: "YOURLS", constants: web, mapping: { keyword: "slug", url: "desktopUrl", title: "title" } },
  { id: "firebase", name: "Firebase Dynamic Links", constants: {}, mapping: {
    short_link: "url.path", link: "desktopUrl", afl: "playStoreUrl", ifl: "appStoreUrl", st: "title", sd: "description", si: "imageUrl", archived: "lifecycle.archived",
    utm_source: "utm.source", utm_medium: "utm.medium", utm_campaign: "utm.campaign", utm_term: "utm.term", utm_content: "utm.content",
  } },
  { id: "legacy", name: "", constants: {}, mapping: {
    slug: "slug", dominio: "domain", prefixo: "prefix", titulo: "title", descricao: "description", urlImage: "imageUrl", urlDesktop: "desktopUrl", urlPlayStore: "playStoreUrl",
    urlAppStore: "appStoreUrl", onlyWeb: "webOnly", parametrosPersonalizados: "parameters", comportamento: "behavior",
  } },
];

/** What columns are called in files of nobody in particular. @type {[RegExp, string][]} */
const usual = [
  [/^(long|destination|target|original|redirect)[ _-]?(url|link)?$|^destination/i, "desktopUrl"], [/^short[ _-]?(url|link)?$|^(bit)?link$|^address$/i, "url"],
  [/^(slug|slashtag|back-?half|keyword|path|alias|short[ _-]?code)$/i, "slug"], [/^(title|name|label)$/i, "title"], [/^domain$/i, "domain"], [/^(description|notes?)$/i, "description"],
  [/^archived$/i, "lifecycle.archived"], [/^(expir(es|y|ation)|expires?[ _-]?(at|on))$/i, "lifecycle.expiresAt"], [/^url$/i, "desktopUrl"],
];

/** Which product a file is from, else what its columns seem to be. @param {string[]} columns @returns {Product} */
export function recognise(columns) {
  const known = products.find((p) => Object.keys(p.mapping).slice(0, 2).every((c) => columns.includes(c)));
  if (known) return { ...known, mapping: Object.fromEntries(Object.entries(known.mapping).filter(([c]) => columns.includes(c))) };
  /** @type {Record<string, string>} */
  const mapping = {};
  for (const c of columns) {
    const field = fields.includes(c) ? c : usual.find(([name]) => name.test(c))?.[1];
    if (field && !Object.values(mapping).includes(field)) mapping[c] = field;
  }
  if (mapping.url === "url" && !Object.values(mapping).includes("desktopUrl")) mapping.url = "desktopUrl";
  return { id: "", name: "", mapping, constants: {} };
}

/** Numbers that JavaScript cannot hold stay as they are written. @param {string} _ @param {any} v @param {{source?: string}} [at] */
const exact = (_, v, at) => {
  const { rawJSON } = /** @type {any} */ (JSON);
  return typeof v === "number" && rawJSON && at?.source && !Number.isSafeInteger(v) && String(v) !== at.source ? rawJSON(at.source) : v;
};

/** @param {string} text @returns {Pick<File, "columns" | "rows">} */
function readJson(text) {
  let value;
  try {
    value = JSON.parse(text.replace(/^\ufeff/, ""), exact);
  } catch {
    throw new Unreadable("json");
  }
  const list = Array.isArray(value) ? value : Object.values(value ?? {}).find(Array.isArray);
  if (!list?.every((o) => o && typeof o === "object" && !Array.isArray(o))) throw new Unreadable("list");
  // A link of Bitly on a domain of one's own is named apart.
  const own = (o) => (o.custom_bitlinks?.[0] ? { ...o, link: o.custom_bitlinks[0] } : o);
  return { columns: [...new Set(list.flatMap(Object.keys))], rows: list.map((o, i) => ({ row: i + 1, values: own(o) })) };
}

/** @param {ArrayBuffer} bytes @returns {[string, boolean]} the text, and whether its encoding was guessed */
function decode(bytes) {
  const [a, b] = new Uint8Array(bytes);
  if ((a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff)) return [new TextDecoder(a === 0xff ? "utf-16le" : "utf-16be").decode(bytes), false];
  try {
    return [new TextDecoder("utf-8", { fatal: true }).decode(bytes), false];
  } catch {
    return [new TextDecoder("windows-1252").decode(bytes), true];
  }
}

/** Reads a file of links. @param {ArrayBuffer} bytes @param {string} name @returns {File} */
export function readFile(bytes, name) {
  const [text, guessed] = decode(bytes);
  if (text.includes("\0")) throw new Unreadable("binary");
  const json = /^\s*[[{]/.test(text.replace(/^\ufeff/, ""));
  if (json) return withRows({ format: "json", name, guessed, ...readJson(text) });
  const { columns, rows } = readCsv(text);
  return withRows({ format: "csv", name, guessed, columns, rows: rows.map(({ row, cells }) => ({ row, values: Object.fromEntries(columns.map((c, i) => [c, cells[i]])) })) });
}

/** @param {File} file */
function withRows(file) {
  if (!file.rows.length) throw new Unreadable("empty");
  return file;
}

/** An instant as the API takes it: other products write seconds, milliseconds, or no time zone. @param {any} v */
function instant(v) {
  const n = typeof v === "number" ? v : /^\d{10,13}$/.test(v) ? Number(v) : NaN;
  const text = String(v).trim();
  const local = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d(?::\d\d)?)(?:\.\d+)?)?$/.exec(text);
  const at = new Date(n ? (n > 1e11 ? n : n * 1000) : local ? `${local[1]}T${local[2] ?? "00:00"}Z` : text.replace(/([+-]\d\d)(\d\d)$/, "$1:$2"));
  return Number.isNaN(at.getTime()) ? v : at.toISOString();
}

/** The value of a field. @param {string} field @param {any} v @param {boolean} json @param {boolean} https */
function valueOf(field, v, json, https) {
  const kind = kinds[field];
  const text = typeof v === "string" ? v.trim() : v;
  if (kind === "yes") {
    const yes = /^(true|1|yes)$/i.test(text) || (!/^(false|0|no)$/i.test(text) && text);
    return json || typeof yes !== "boolean" ? yes : String(yes);
  }
  if (kind === "instant") return instant(text);
  if (kind === "number") return json && /^\d+$/.test(text) ? Number(text) : text;
  if (kind === "object") return text;
  if (kind === "web" && https && typeof text === "string") return text.replace(/^http:\/\//i, "https://");
  return json && typeof text === "number" ? String(text) : text;
}

/** How many destinations begin with http. @param {File} file @param {Record<string, string>} mapping */
export const insecure = (file, mapping) =>
  file.rows.filter(({ values }) => Object.entries(mapping).some(([c, f]) => kinds[f] === "web" && /^\s*http:/i.test(values[c]))).length;

/** The hostnames of the addresses that a column has. @param {File} file @param {string} column */
export const hosts = (file, column) => new Set(file.rows.map(({ values }) => /^(?:https?:\/\/)?([^/:?#]+)/i.exec(String(values[column] ?? "").trim())?.[1].toLowerCase() ?? ""));

/**
 * The links of a file, by the names of the API's fields. What is empty says nothing.
 * @param {File} file
 * @param {{mapping: Record<string, string>, constants: Record<string, any>, domain: string, https: boolean}} how domain is for the rows that name none
 * @returns {Item[]}
 */
export function convert(file, { mapping, constants, domain, https }) {
  const json = file.format === "json";
  return file.rows.map(({ row, values }) => {
    /** @type {Record<string, any>} */
    const item = { clientId: "row-" + row };
    for (const [column, field] of Object.entries(mapping)) {
      const v = values[column];
      if (v === undefined || v === "") continue;
      if (v === null) {
        if (field === "desktopUrl") item[field] = null;
      } else item[field] = valueOf(field, v, json, https);
    }
    for (const [field, v] of Object.entries(constants)) item[field] ??= json ? v : String(v);
    if (domain && !item.domain && !item.url) item.domain = domain;
    return { row, values: item };
  });
}

const most = { rows: 50, bytes: 24000, request: 32000 };
const encoder = new TextEncoder();
const bytes = (text) => encoder.encode(text).length;

/**
 * Parts that the API takes, each with at most 50 links, 24,000 bytes and a request of 32 KiB.
 * @param {Item[]} items
 * @param {"csv" | "json"} format
 * @returns {{parts: Part[], tooLarge: number[]}} tooLarge are rows that no part can hold
 */
export function split(items, format) {
  const csv = format === "csv";
  const columns = [...new Set(items.flatMap((i) => Object.keys(i.values)))];
  const head = csv ? writeRow(columns) + "\n" : "[";
  const write = (i) => (csv ? writeRow(columns.map((c) => (c in i.values ? i.values[c] : ""))) + "\n" : JSON.stringify(i.values) + ",");
  // What a text takes in a part, and what it takes in the request around it.
  const sizes = (text) => [bytes(text), bytes(JSON.stringify(text))];
  const [headSize, headRequest] = sizes(head);
  /** @type {Part[]} */
  const parts = [];
  const tooLarge = [];
  let size = 0;
  let request = 0;
  for (const item of items) {
    const text = write(item);
    const [s, r] = sizes(text);
    if (headSize + s > most.bytes || headRequest + r + 200 > most.request) {
      tooLarge.push(item.row);
      continue;
    }
    let part = parts.at(-1);
    if (!part || part.rows === most.rows || size + s > most.bytes || request + r > most.request) {
      parts.push((part = { first: item.row, rows: 0, content: head }));
      [size, request] = [headSize, headRequest + 200];
    }
    part.content += text;
    part.rows++;
    size += s;
    request += r;
  }
  if (!csv) for (const p of parts) p.content = p.content.slice(0, -1) + "]";
  return { parts, tooLarge };
}
