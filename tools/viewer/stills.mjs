// Six stills of a page in one picture, from EYE towards AT (default: where scripted grips lift, 0.3,0.1,0.11):
//   ~/.cache/handhold/prefix/node/bin/node tools/viewer/stills.mjs PAGE.html OUT.png T1,...,T6 EYE_X,EYE_Y,EYE_Z [AT_X,AT_Y,AT_Z]
import { writeFileSync } from "node:fs";
import { openPage } from "./open_page.mjs";

const [page, out, times, look, towards = "0.3,0.1,0.11"] = process.argv.slice(2);
const width = 300, height = 270;
const { browser, tab } = await openPage(page, width, height);
const data = await tab.evaluate(async ({ times, eye, at, width, height }) => {
  const player = window.handhold.player, view = player.view;
  view.preset("oblique"); view.showGrid(false);
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
}, { times: times.split(",").map(Number), eye: look.split(",").map(Number), at: towards.split(",").map(Number), width, height });
writeFileSync(out, Buffer.from(data, "base64"));
await browser.close();
