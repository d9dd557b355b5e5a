// Drives Debian's Chromium over pages and tells what it saw, as JSON: browse.mjs NODE_MODULES STEPS.json
//
// STEPS: {"url", "width", "height", "touch", "script"}; "before" runs ahead of the page's own script; the script is
// the body of an async function in the page, called with the player; what it returns is in the answer, with every console error, page error and request.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, steps] = process.argv.slice(2);
const { chromium } = await import(pathToFileURL(join(modules, "playwright-core", "index.mjs")));
const browser = await chromium.launch({
  executablePath: process.env.HANDHOLD_CHROMIUM ?? "/usr/bin/chromium", headless: true,
  args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-background-networking"],
});
const answers = [];
for (const step of JSON.parse(readFileSync(steps, "utf8"))) {
  const context = await browser.newContext({
    viewport: { width: step.width ?? 1200, height: step.height ?? 800 }, hasTouch: step.touch ?? false,
    acceptDownloads: true,
  });
  const page = await context.newPage();
  const answer = { errors: [], requests: [], value: null };
  page.on("console", (message) => { if (message.type() === "error") answer.errors.push(message.text()); });
  page.on("pageerror", (error) => answer.errors.push(String(error)));
  page.on("request", (request) => { if (!/^(data|blob):/.test(request.url())) answer.requests.push(request.url()); });
  const downloads = [];
  page.on("download", (download) => downloads.push(download.suggestedFilename()));
  if (step.before) await page.addInitScript(step.before);
  await page.goto(step.url);
  await page.waitForFunction(() => window.handhold?.ready || document.querySelector(".failure"), null, { timeout: 30_000 });
  try {
    if (step.keys) for (const key of step.keys) { await page.keyboard.press(key); await page.waitForTimeout(30); }
    answer.value = await page.evaluate(`(async () => { const player = window.handhold?.player; const wait = (ms) => new Promise((r) => setTimeout(r, ms)); ${step.script} })()`);
    await page.waitForTimeout(50);
    answer.href = page.url();
    answer.downloads = downloads;
    if (step.screenshot) await page.screenshot({ path: step.screenshot });
  } catch (error) { answer.errors.push(String(error)); }
  answers.push(answer);
  await context.close();
}
await browser.close();
process.stdout.write(JSON.stringify(answers));
