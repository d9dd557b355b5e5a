// One still of a page, its motions side by side:
//   ~/.cache/handhold/prefix/node/bin/node tools/viewer/still.mjs PAGE.html OUT.png [--width 900] [--height 300] [--near 1]
//     [--eye X,Y,Z] [--up X,Y,Z]    from where, seen from what is looked at, and what is up; default: oblique, z
//     [--at SECONDS]                when; default: where it opens; end: its end
import { writeFileSync } from "node:fs";
import { openPage, optionsOf } from "./open_page.mjs";

const [page, out, ...rest] = process.argv.slice(2);
const option = optionsOf(rest);
const vector = (name) => option(name, "").split(",").filter(Boolean).map(Number);
const { browser, tab } = await openPage(page, Number(option("width", 900)), Number(option("height", 300)));
await tab.evaluate(({ eye, up, near, at }) => {
  const player = window.handhold.player, view = player.view;
  view.showGrid(false);
  if (at) player.clock.seek(at === "end" ? player.clock.end : player.clock.begin + Number(at));
  player.setSide(player.scene.motions.length > 1);
  view.preset("oblique");
  const away = view.camera.position.clone().sub(view.controls.target);
  if (eye.length === 3) away.fromArray(eye).setLength(view.camera.position.distanceTo(view.controls.target));
  if (up.length === 3) view.camera.up.fromArray(up);
  view.camera.position.copy(view.controls.target).addScaledVector(away, 1 / near);
  view.camera.lookAt(view.controls.target);
  view.dirty = true;
  player.draw();
}, { eye: vector("eye"), up: vector("up"), near: Number(option("near", 1)), at: option("at") });
await tab.waitForTimeout(500);
// What was sized anew meanwhile is empty until it is drawn again.
await tab.evaluate(() => new Promise((done) => { const { player } = window.handhold; player.view.dirty = true; player.draw(); requestAnimationFrame(done); }));
writeFileSync(out, await tab.screenshot({ type: "png" }));
await browser.close();
