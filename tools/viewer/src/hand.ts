/** A hand that is simulated now: its newest frame, asked for thirty times a second. Only looks. */

import { Box3, Vector3 } from "three";
import { clear, h } from "./dom";
import { checkScene, decodeTimes, type Coded, type Contacts, type Scene } from "./scene";
import { makeGeometries, Stage, type Placed } from "./stage";
import { View } from "./view";

interface Frame { number: number; time_s: number; words: [string, string][]; places: Placed[]; contacts: Contacts }

const kAsk_ms = 33;
const kNone: Coded = { scale: 1, offset: 0, d: [] };

export class HandLive {
  readonly element = h("main", { class: "handlive" });
  stage: Stage | null = null;
  time_s = -1;
  private view: View | null = null;
  private note = h("p", { class: "failure", role: "status" });
  private words = h("dl", { class: "words" });
  private number = -1;
  private still = 0; // asked without anything new

  constructor() { this.element.append(this.words, this.note); }

  start(): void { void this.look(); }

  private async look(): Promise<void> {
    try {
      if (!this.view) await this.begin();
      else this.show((await (await fetch("api/frame")).json()) as Frame);
    } catch (error) {
      this.note.textContent = this.view ? "the simulation has ended: what is shown is its last frame" : `the program does not answer (${String(error)})`;
    }
    setTimeout(() => void this.look(), kAsk_ms);
  }

  private async begin(): Promise<void> {
    const scene = (await (await fetch("api/scene")).json()) as Scene | null;
    if (!scene) return;
    checkScene(scene);
    document.title = scene.title;
    const times = scene.times.map(decodeTimes);
    scene.motions[0].contacts = { time: 0, frame: kNone, p: [kNone, kNone, kNone], n: [kNone, kNone, kNone], f: [kNone, kNone, kNone], touches: [] };
    this.stage = new Stage(scene.motions[0], 0, makeGeometries(scene), times);
    this.view = new View([this.stage]);
    this.element.prepend(this.view.element);
    this.stage.move(0);
    this.stage.root.updateMatrixWorld(true);
    const box = new Box3(), one = new Box3(), all = new Box3();
    for (const node of this.stage.nodes) {
      for (const child of node.children) {
        if (!("isMesh" in child)) continue;
        one.setFromObject(child);
        all.union(one);
        if (one.getSize(new Vector3()).length() < 0.35) box.union(one); // a table is where it happens
      }
    }
    this.view.setHome(box, Math.min(all.min.z, box.min.z) - 0.001);
    this.view.preset("oblique");
    const draw = () => { if (this.view!.dirty) this.view!.render(); requestAnimationFrame(draw); };
    requestAnimationFrame(draw);
  }

  private show(frame: Frame): void {
    this.still = frame.number === this.number ? this.still + 1 : 0;
    this.note.textContent = this.still > 1000 / kAsk_ms ? "nothing new for a second: the simulation stands still" : "";
    if (frame.number === this.number) return;
    this.number = frame.number;
    this.time_s = frame.time_s;
    this.stage!.place(frame.places, frame.contacts);
    this.view!.dirty = true;
    clear(this.words);
    for (const [name, value] of [["time", `${frame.time_s.toFixed(2)} s`], ...frame.words]) this.words.append(h("dt", {}, name), h("dd", {}, value));
  }
}
