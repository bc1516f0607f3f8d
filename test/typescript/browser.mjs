// Runs the checks in a page of another origin than the API's: node browser.mjs <page>, with what they need as JSON
// in its input.
import { chromium } from "playwright-core";

const input = await new Response(process.stdin).json();
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
try {
  const page = await browser.newPage();
  await page.goto(process.argv[2]);
  const found = await page.evaluate(async (given) => {
    const client = await import("/node_modules/@waymarkhq/client/dist/index.js");
    const { check } = await import("/anywhere.mjs");
    return check(client, given);
  }, input);
  console.log(JSON.stringify(found));
} finally {
  await browser.close();
}
