// Compares the words of all languages: the same names, functions with as many parameters, nothing empty.
import { readdirSync } from 'node:fs';

const folder = new URL('../../dashboard/app/words/', import.meta.url);
const { default: english } = await import(new URL('en.js', folder));
const problems = [];

function compare(ours, theirs, at) {
  // Messages of the API are in English already: other languages have words for its codes.
  if (at.endsWith('.wrong')) return;
  if (typeof ours !== typeof theirs) problems.push(`${at}: ${typeof ours} in English, ${typeof theirs} here`);
  else if (typeof ours === 'function' && ours.length !== theirs.length) problems.push(`${at}: ${theirs.length} parameters`);
  else if (typeof ours === 'object') for (const k of new Set([...Object.keys(ours), ...Object.keys(theirs)])) compare(ours[k], theirs[k], `${at}.${k}`);
  else if (theirs === '' && ours !== '') problems.push(`${at}: empty`);
}

const files = readdirSync(folder).filter((f) => f !== 'en.js');
for (const f of files) compare(english, (await import(new URL(f, folder))).default, f.replace('.js', ''));
if (!files.length) problems.push('no language was compared');
console.log(problems.join('\n'));
process.exit(problems.length ? 1 : 0);
