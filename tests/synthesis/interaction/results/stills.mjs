// Six stills of a page in one picture, seen from the side of the fingers:
//   ~/.cache/handhold/prefix/node/bin/node stills.mjs PAGE.html OUT.png T1,...,T6 EYE_X,EYE_Y,EYE_Z
import { writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
const [page, out, times, look] = process.argv.slice(2);
const width = 300, height = 270;
const modules = join(homedir(), ".cache/handhold/prefix/viewer/node_modules");
const { chromium } = await import(pathToFileURL(join(modules, "playwright-core", "index.mjs")));
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", headless: true,
  args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-background-networking"] });
const tab = await browser.newPage({ viewport: { width, height } });
await tab.goto(pathToFileURL(resolve(page)).href);
await tab.waitForFunction(() => window.handhold?.ready, null, { timeout: 30_000 });
await tab.addStyleTag({ content: `.player > header, .plotside, .foot, .menu, .legend { display: none !important } .middle { display: block !important } .view { height: 100vh !important }` });
await tab.waitForTimeout(400);
const data = await tab.evaluate(async ({ times, look, width, height }) => {
  const player = window.handhold.player, view = player.view;
  view.preset("oblique"); view.showGrid(false);
  const at = [0.3, 0.1, 0.11], eye = look;
  view.controls.target.fromArray(at); view.camera.position.fromArray(eye); view.camera.up.set(0, 0, 1); view.controls.update?.();
  player.shows.markers = false; player.scaleForces(1); player.setGhosts();
  const sheet = document.createElement("canvas"); sheet.width = 3 * width; sheet.height = 2 * height;
  const g = sheet.getContext("2d");
  for (let i = 0; i < 6; ++i) {
    player.clock.seek(player.clock.begin + times[i]); player.draw();
    const blob = await new Promise((done) => view.renderer.domElement.toBlob(done, "image/png"));
    const image = await createImageBitmap(blob);
    g.drawImage(image, (i % 3) * width, Math.floor(i / 3) * height, width, height);
    g.fillStyle = "#333"; g.font = "16px sans-serif"; g.fillText(times[i].toFixed(2) + " s", (i % 3) * width + 10, Math.floor(i / 3) * height + 22);
  }
  return sheet.toDataURL("image/png").split(",")[1];
}, { times: times.split(",").map(Number), look: look?.split(",").map(Number), width, height });
writeFileSync(out, Buffer.from(data, "base64"));
await browser.close();
