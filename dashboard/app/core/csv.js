// Tables as CSV: read as spreadsheets and other products write them, written as the API reads them.

/** A cell is its text, or null where the file says null without quotes. @typedef {string | null} Cell */

/** What is wrong with a file, and in which row, as spreadsheets count rows. */
export class Unreadable extends Error {
  /** @param {string} code @param {number} [row] */
  constructor(code, row = 0) {
    super(code);
    this.code = code;
    this.row = row;
  }
}

/** The character between the cells: the one that the first line has most often. @param {string} text */
function separatorOf(text) {
  const line = text.replace(/"(?:[^"]|"")*"/g, "").split(/\r|\n/, 1)[0];
  const counts = [",", ";", "\t", "|"].map((s) => ({ s, n: line.split(s).length }));
  return counts.reduce((a, b) => (b.n > a.n ? b : a)).s;
}

/** What a cell without quotes says: some databases write NULL or \N for nothing. @param {string} text @returns {Cell} */
const plain = (text) => (text === "null" ? null : text === "NULL" || text === "\\N" ? "" : text);

/**
 * The records of a text. Line breaks, separators and doubled quotes may be inside quotes.
 * @param {string} text
 * @param {string} separator
 * @returns {Cell[][]}
 */
function records(text, separator) {
  /** @type {Cell[][]} */
  const all = [];
  /** @type {Cell[]} */
  let record = [];
  let i = 0;
  while (i < text.length) {
    if (text[i] === '"') {
      let cell = "";
      for (i++; ; i++) {
        const end = text.indexOf('"', i);
        if (end < 0) throw new Unreadable("quote", all.length + 1);
        cell += text.slice(i, end);
        i = end + 1;
        if (text[i] !== '"') break;
        cell += '"';
      }
      const from = i;
      while (i < text.length && text[i] !== separator && text[i] !== "\n" && text[i] !== "\r") i++;
      record.push(cell + text.slice(from, i).trimEnd());
    } else {
      const from = i;
      while (i < text.length && text[i] !== separator && text[i] !== "\n" && text[i] !== "\r") i++;
      record.push(plain(text.slice(from, i)));
    }
    if (text[i] === separator) {
      if (++i === text.length) record.push("");
      continue;
    }
    if (text[i] === "\r" && text[i + 1] === "\n") i++;
    i++;
    all.push(record);
    record = [];
  }
  if (record.length) all.push(record);
  return all;
}

/** A name for each column, no two alike. @param {Cell[]} header */
function names(header) {
  /** @type {string[]} */
  const all = [];
  for (const [i, cell] of header.entries()) {
    const name = cell?.trim() || `#${i + 1}`;
    let unlike = name;
    for (let n = 2; all.includes(unlike); n++) unlike = `${name} (${n})`;
    all.push(unlike);
  }
  return all;
}

/**
 * Reads a table with a header. Empty lines are left out; cells that are missing at the end of a row are empty.
 * @param {string} text
 * @returns {{columns: string[], rows: {row: number, cells: Cell[]}[]}} row is the number that a spreadsheet shows
 */
export function readCsv(text) {
  const body = text.replace(/^\ufeff/, "").replace(/^sep=.\r?\n/i, "");
  const [header, ...rest] = records(body, separatorOf(body));
  if (!header) throw new Unreadable("empty");
  const columns = names(header);
  const rows = [];
  for (const [i, cells] of rest.entries()) {
    if (cells.every((c) => c === "")) continue;
    if (cells.slice(columns.length).some((c) => c !== "")) throw new Unreadable("cells", i + 2);
    rows.push({ row: i + 2, cells: columns.map((_, n) => (n < cells.length ? cells[n] : "")) });
  }
  return { columns, rows };
}

/** @param {Cell} cell */
const written = (cell) => (cell === null ? "null" : /[",\r\n]|^null$|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

/** One row, without its end. @param {Cell[]} cells */
export const writeRow = (cells) => cells.map(written).join(",");

/** A file for spreadsheets. What they could take for a formula gets an apostrophe. @param {Cell[][]} rows */
export const forSpreadsheet = (rows) => "\ufeff" + rows.map((r) => writeRow(r.map((c) => (c && /^\s*[=+\-@]/.test(c) ? "'" + c : c))) + "\r\n").join("");
