// What others make of our .glb: gltf_peers.mjs NODE_MODULES FILE FRAMES -> {"errors", "warnings", "nodes": {name: [[x, y, z, its Z axis], ...]}, "skins"}
// Khronos' validator, and three's GLTFLoader with its mixer at each of the times.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, file, times] = process.argv.slice(2);
const require = createRequire(join(modules, "x.js"));
const validator = require("gltf-validator");
const bytes = readFileSync(file);
const report = await validator.validateBytes(new Uint8Array(bytes), { maxIssues: 100 });

globalThis.self = globalThis; // the loader asks for it
const three = await import(pathToFileURL(join(modules, "three", "build", "three.module.js")));
const { GLTFLoader } = await import(pathToFileURL(join(modules, "three", "examples", "jsm", "loaders", "GLTFLoader.js")));
const gltf = await new GLTFLoader().parseAsync(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength), "");
const mixer = new three.AnimationMixer(gltf.scene);
for (const clip of gltf.animations) mixer.clipAction(clip).setLoop(three.LoopOnce, 1).play();
for (const clip of gltf.animations) mixer.clipAction(clip).clampWhenFinished = true;
const nodes = {}, skins = {};
for (const t of JSON.parse(times)) {
  mixer.setTime(t);
  gltf.scene.updateMatrixWorld(true);
  gltf.scene.traverse((node) => {
    const e = node.matrixWorld.elements;
    if (node.isSkinnedMesh) { // every 97th vertex, as the loader's bones move it
      const at = new three.Vector3(), list = [];
      for (let v = 0; v < node.geometry.attributes.position.count; v += 97) list.push(...node.getVertexPosition(v, at).applyMatrix4(node.matrixWorld).toArray());
      (skins[node.material.name + " " + node.skeleton.bones[0].name] ??= []).push(list);
    }
    (nodes[node.userData.name ?? node.name] ??= []).push([e[12], e[13], e[14], e[8], e[9], e[10]]);
  });
}
let vertices = 0;
gltf.scene.traverse((node) => { if (node.isMesh) vertices += node.geometry.attributes.position.count; });
process.stdout.write(JSON.stringify({
  errors: report.issues.messages.filter((m) => m.severity === 0).map((m) => `${m.code} ${m.pointer}`),
  warnings: report.issues.messages.filter((m) => m.severity === 1).map((m) => `${m.code} ${m.pointer}`), nodes, skins, vertices,
}));
