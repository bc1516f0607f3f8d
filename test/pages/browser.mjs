// What the checks of pages have in common: a browser, and how they report.
//
//   node look.mjs <address> <folder>    looks at every page; keeps screenshots in the folder
//   node act.mjs <address>              acts as visitors do
//
// <address>/pages.json has the names of the pages. Each check prints a line of JSON,
// {page, check, problem}; a problem is "" when all is well.
import { chromium } from 'playwright-core';

export const [address, folder] = process.argv.slice(2);
export const pages = await (await fetch(`${address}/pages.json`)).json();
export const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-gpu', '--force-color-profile=srgb'],
});

// report prints what a check found.
export function report(page, check, problem = '') {
  console.log(JSON.stringify({ page, check, problem: String(problem) }));
}

// checked runs a check; what it throws is the problem.
export async function checked(page, check, run) {
  try {
    report(page, check, await run());
  } catch (error) {
    report(page, check, error.stack);
  }
}
