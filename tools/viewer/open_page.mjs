// A page of ours in Debian's Chromium, with nothing but its scene in sight: what pictures of it are made from.
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

export async function openPage(page, width, height) {
  const modules = process.env.HANDHOLD_NODE_MODULES ?? join(homedir(), ".cache/handhold/prefix/viewer/node_modules");
  const { chromium } = await import(pathToFileURL(join(modules, "playwright-core", "index.mjs")));
  const browser = await chromium.launch({ executablePath: process.env.HANDHOLD_CHROMIUM ?? "/usr/bin/chromium", headless: true,
    args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-background-networking"] });
  const tab = await browser.newPage({ viewport: { width, height } });
  await tab.goto(pathToFileURL(resolve(page)).href);
  await tab.waitForFunction(() => window.handhold?.ready, null, { timeout: 30_000 });
  await tab.addStyleTag({ content: `.player > header, .plotside, .foot, .menu, .legend { display: none !important } .middle { display: block !important } .view { height: 100vh !important }` });
  await tab.waitForTimeout(400);
  return { browser, tab };
}

/** What follows `--name` among the words of a command line, or what is meant where it is not said. */
export function optionsOf(words) {
  return (name, fallback) => { const at = words.indexOf(`--${name}`); return at < 0 ? fallback : words[at + 1]; };
}
