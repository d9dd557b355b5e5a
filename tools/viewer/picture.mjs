// A moving picture of a page, as one animated WebP: what the top README shows is made by it.
//
//   ~/.cache/handhold/prefix/node/bin/node tools/viewer/picture.mjs PAGE.html OUT.webp [--from S] [--to S] [--frames 36]
//     [--turn DEGREES] [--width 640] [--height 360] [--near 1] [--look x,y,z] [--ms 60] [--hide name,...]
//
// The player of the page is drawn frame by frame in Chromium, from time to time, while the camera turns; each frame is encoded
// by the browser, and put here into the container of Google's WebP specification (RIFF, VP8X, ANIM, ANMF).
import { writeFileSync } from "node:fs";
import { openPage, optionsOf } from "./open_page.mjs";

const [page, out, ...rest] = process.argv.slice(2);
const option = optionsOf(rest);
const frames = Number(option("frames", 36)), width = Number(option("width", 640)), height = Number(option("height", 360));
const { browser, tab } = await openPage(page, width, height);
const stills = [];
for (let k = 0; k < frames; ++k) {
  const base64 = await tab.evaluate(async ({ k, frames, from, to, turn, near, look, hide }) => {
    const player = window.handhold.player, view = player.view;
    if (k === 0) {
      view.preset("oblique");
      view.showGrid(false);
      for (const name of hide) player.hidden.add(name);
      player.setGhosts();
      if (look) { const d = view.camera.position.clone().sub(view.controls.target); view.controls.target.fromArray(look); view.camera.position.copy(view.controls.target).add(d); }
      view.camera.position.sub(view.controls.target).multiplyScalar(1 / near).add(view.controls.target);
      player.shows.markers = false; player.scaleForces(1); player.setGhosts();
      view.turn((-turn / 2) * (Math.PI / 180));
    }
    // There and back again, so that the loop has no seam.
    const share = 0.5 - 0.5 * Math.cos((2 * Math.PI * k) / frames), before = 0.5 - 0.5 * Math.cos((2 * Math.PI * Math.max(0, k - 1)) / frames);
    view.turn(turn * (share - before) * (Math.PI / 180));
    const begin = from ?? player.clock.begin, end = to ?? player.clock.end;
    player.clock.seek(begin + ((end - begin) * k) / frames);
    player.draw();
    const blob = await new Promise((done) => view.renderer.domElement.toBlob(done, "image/webp", 0.82));
    const bytes = new Uint8Array(await blob.arrayBuffer());
    let text = "";
    for (const b of bytes) text += String.fromCharCode(b);
    return btoa(text);
  }, { k, frames, from: option("from") && Number(option("from")), to: option("to") && Number(option("to")), turn: Number(option("turn", 40)),
    near: Number(option("near", 1)), look: option("look")?.split(",").map(Number), hide: (option("hide", "") || "").split(",").filter(Boolean) });
  stills.push(Buffer.from(base64, "base64"));
}
await browser.close();

const chunk = (name, data) => { // padded to even length
  const head = Buffer.alloc(8);
  head.write(name, 0, "latin1");
  head.writeUInt32LE(data.length, 4);
  return Buffer.concat([head, data, Buffer.alloc(data.length % 2)]);
};
const u24 = (value) => Buffer.from([value & 255, (value >> 8) & 255, (value >> 16) & 255]);
function picture(still) { // the VP8 (or VP8L) chunk of a still WebP
  for (let at = 12; at + 8 <= still.length;) {
    const name = still.toString("latin1", at, at + 4), size = still.readUInt32LE(at + 4);
    if (name === "VP8 " || name === "VP8L") return chunk(name, still.subarray(at + 8, at + 8 + size));
    at += 8 + size + (size % 2);
  }
  throw new Error("no picture in a still");
}
const ms = Number(option("ms", 60));
const body = [chunk("VP8X", Buffer.concat([Buffer.from([0x02, 0, 0, 0]), u24(width - 1), u24(height - 1)])),
  chunk("ANIM", Buffer.from([255, 255, 255, 255, 0, 0])),
  ...stills.map((still) => chunk("ANMF", Buffer.concat([u24(0), u24(0), u24(width - 1), u24(height - 1), u24(ms), Buffer.from([0x02]), picture(still)])))];
const size = body.reduce((sum, part) => sum + part.length, 4);
const riff = Buffer.alloc(12);
riff.write("RIFF", 0, "latin1");
riff.writeUInt32LE(size, 4);
riff.write("WEBP", 8, "latin1");
writeFileSync(out, Buffer.concat([riff, ...body]));
console.log(`${out}: ${frames} frames, ${size + 8} bytes`);
