// Bundles the front end into one HTML page without data: build.mjs SOURCE NODE_MODULES STAGE OUT [--check]
//
// STAGE is a folder of the build tree in which SOURCE and NODE_MODULES lie side by side as links: nothing is written into
// the source tree. --check looks at the types and writes OUT as a stamp.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [source, modules, stage, out, check] = process.argv.slice(2);
rmSync(stage, { recursive: true, force: true });
mkdirSync(stage, { recursive: true });
for (const name of ["src", "index.html", "tsconfig.json", "package.json"]) symlinkSync(join(source, name), join(stage, name));
symlinkSync(modules, join(stage, "node_modules"));
if (!existsSync(join(modules, "three"))) throw new Error(`no three in ${modules}: run tools/setup`);

if (check === "--check") {
  const { status } = spawnSync(process.execPath, [join(modules, "typescript", "bin", "tsc"), "-p", join(stage, "tsconfig.json")], { stdio: "inherit" });
  if (status !== 0) process.exit(1);
  writeFileSync(out, "");
  process.exit(0);
}

const { build } = await import(pathToFileURL(join(modules, "vite", "dist", "node", "index.js")));
const result = await build({
  root: stage, configFile: false, logLevel: "warn", resolve: { preserveSymlinks: true },
  build: { write: false, target: "es2022", cssCodeSplit: false, modulePreload: false, chunkSizeWarningLimit: 2000, reportCompressedSize: false },
});
const output = (Array.isArray(result) ? result[0] : result).output;
const script = output.filter((item) => item.type === "chunk").map((item) => item.code);
const style = output.filter((item) => item.fileName.endsWith(".css")).map((item) => item.source);
const page = output.find((item) => item.fileName.endsWith(".html")).source;
if (script.length !== 1 || style.length !== 1) throw new Error(`one script and one style expected, got ${script.length} and ${style.length}`);
// In a page a script ends at the first "</script", wherever it stands.
const safe = script[0].replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
const html = page
  .replace(/<script type="module"[^>]*><\/script>\s*/, "").replace(/<link rel="stylesheet"[^>]*>\s*/, "")
  .replace("</head>", () => `<style>${style[0]}</style>\n</head>`)
  .replace("</body>", () => `<script type="module">${safe}</script>\n</body>`);
for (const [what, count] of [["@@DATA@@", 1]]) {
  if (html.split(what).length !== count + 1) throw new Error(`${what} must stand ${count} times in the page`);
}
writeFileSync(out, html);
