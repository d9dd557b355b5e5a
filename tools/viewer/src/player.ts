/** The player: a scene with view, plots, scrub bar, keys and link under one clock. */

import { Box3, Vector3 } from "three";
import { Clock, kSpeeds, speedName } from "./clock";
import { clear, download, h, shown } from "./dom";
import { helpPage, listen, type Key } from "./keys";
import { read, write, type Place } from "./link";
import { Plots } from "./plots";
import { checkScene, decodeTimes, indexAt, type Scene } from "./scene";
import { makeGeometries, Stage } from "./stage";
import { Timeline } from "./timeline";
import { kPresets, View, type Preset } from "./view";

const kForceScales = [0.002, 0.005, 0.01, 0.02, 0.05]; // m per N

/** Which times one frame of the first motion is counted in: its hand's, else its markers', else of whatever moves. */
function ownTime(scene: Scene): number {
  const motion = scene.motions[0];
  const move = (role?: string) => motion?.nodes.find((n) => n.move && (!role || motion.things[n.thing].role === role))?.move?.time;
  return move("hand") ?? motion?.markers?.time ?? move() ?? motion?.contacts?.time ?? 0;
}

export class Player {
  readonly element: HTMLElement;
  readonly clock: Clock;
  readonly view: View;
  readonly plots: Plots;
  readonly stages: Stage[];
  /** Script time of each drawn frame, ms: what the mark measures. */
  readonly frameTimes: number[] = [];
  frames = 0;
  private timeline: Timeline;
  private selected = "";
  private hidden = new Set<string>();
  private forceScale = 2;
  private shows = { forces: true, points: true, cones: false, ghosts: true, markers: true, transparent: false, onObject: false };
  private status = h("output", { class: "status" });
  private clockText = h("output", { class: "time" });
  private playButton = h("button", { class: "play", title: "play or pause (Space)", click: () => this.clock.toggle() }, "▶");
  private speedText = h("select", { title: "speed ( , and . )", change: () => this.clock.setSpeed(Number(this.speedText.value)) },
    ...kSpeeds.map((s) => h("option", { value: String(s) }, speedName(s))));
  private loopButton = h("button", { title: "loop (l)", click: () => this.clock.setLoop(!this.clock.loop) }, "⟳");
  private camera = h("select", { title: "camera (1 to 7)", change: () => this.setCamera(this.camera.value as Preset) },
    ...kPresets.map((p) => h("option", { value: p }, p)), h("option", { value: "", hidden: true }, "free"));
  private menu = h("details", { class: "menu" }, h("summary", { title: "what is shown (v)" }, "☰"));
  private presetPlace = ""; // where the camera that the list names stands
  private frameTimes_s: Float64Array; // of the first motion: what one frame is
  private scaleText = h("span", { class: "scale" });
  private keys: Key[];
  private help: HTMLDialogElement;
  private linkTimer = 0;
  private restoring = false;
  private last = 0;

  constructor(readonly scene: Scene, options: { compact?: boolean } = {}) {
    checkScene(scene);
    const times = scene.times.map(decodeTimes);
    const geometries = makeGeometries(scene);
    this.clock = new Clock(scene.begin_s, scene.end_s);
    this.stages = scene.motions.map((motion, i) => new Stage(motion, i, geometries, times));
    this.view = new View(this.stages);
    this.frameTimes_s = times[ownTime(scene)] ?? new Float64Array();
    this.plots = new Plots(scene, times, this.clock);
    this.timeline = new Timeline(this.clock, scene.events);
    this.keys = this.makeKeys();
    this.help = helpPage(this.keys);
    this.element = this.layout(options.compact ?? false);
    listen(this.keys, options.compact ? this.element : undefined);
    this.view.onSelect = (name) => this.select(name);
    this.plots.onChange = () => this.remember();
    this.clock.onChange(() => { this.view.dirty = true; this.showClock(); this.remember(); });
    this.view.controls.addEventListener("end", () => this.moved());
    window.addEventListener("hashchange", () => this.restore());
    for (const plot of scene.plots ?? []) this.plots.add(plot);
    this.setGhosts();
  }

  /** After the element is in the page: cameras need its size. */
  start(): void {
    if (this.scene.beside) this.setSide(true);
    this.frameHome();
    this.setCamera("oblique");
    if (this.scene.open_s !== undefined) this.clock.seek(this.scene.open_s);
    clearTimeout(this.linkTimer); // nothing was chosen yet
    this.restore();
    this.showClock();
    const loop = (now: number) => { this.step(now); requestAnimationFrame(loop); };
    requestAnimationFrame(loop);
  }

  /** One frame of the wall clock; draws only when something changed. */
  step(now: number): void {
    const began = performance.now();
    const dt = this.last ? Math.min(0.1, (now - this.last) / 1000) : 0;
    this.last = now;
    this.clock.advance(dt);
    if (!this.view.dirty) return;
    this.draw();
    this.frameTimes.push(performance.now() - began);
    if (this.frameTimes.length > 600) this.frameTimes.shift();
    ++this.frames;
  }
  draw(): void {
    for (const stage of this.stages) stage.move(this.clock.t);
    this.view.render();
  }

  private frameHome(): void {
    const box = new Box3(), all = new Box3(), one = new Box3(), cloud = new Box3();
    let hand = false;
    for (let k = 0; k <= 10; ++k) {
      const t = this.scene.begin_s + ((this.scene.end_s - this.scene.begin_s) * k) / 10;
      for (const stage of this.stages) {
        stage.move(t);
        stage.root.updateMatrixWorld(true);
        for (const [i, node] of stage.motion.nodes.entries()) {
          if (!node.shapes?.length) continue;
          for (const child of stage.nodes[i].children) {
            if (!("isMesh" in child)) continue;
            one.setFromObject(child);
            if (!Number.isFinite(one.min.x)) continue; // a frame that is missing
            all.union(one);
            const role = stage.motion.things[node.thing].role;
            hand ||= role === "hand";
            // A plate or a table is where things happen, not what is looked at; nor are a sensor's axes.
            if (role !== "lab" && role !== "sensor" && one.getSize(new Vector3()).length() < 0.35) box.union(one);
          }
        }
        if (stage.markers) {
          stage.markers.box(one.makeEmpty());
          if (one.getSize(new Vector3()).length() < 3) cloud.union(one);
        }
      }
    }
    if (!hand) box.union(cloud); // the markers are all there is to see of it
    if (box.isEmpty()) box.copy(all);
    this.view.setHome(box, box.isEmpty() ? -0.1 : Math.min(all.min.z, box.min.z) - 0.001);
  }

  private setGhosts(): void {
    const overlay = !this.view.side && this.stages.length > 1;
    this.stages.forEach((stage, i) => {
      stage.root.visible = !this.hidden.has(`motion:${i}`) && (i === 0 || this.view.side || this.shows.ghosts);
      stage.setGhost(overlay && i > 0);
      stage.contacts?.showForces(this.shows.forces);
      stage.contacts?.setOnObject(this.shows.onObject);
      stage.contacts?.showPoints(this.shows.points);
      stage.contacts?.showCones(this.shows.cones);
      if (stage.markers) stage.markers.mesh.visible = this.shows.markers;
      if (i === 0 || this.view.side) stage.setTransparent(this.shows.transparent);
      stage.motion.things.forEach((thing, k) => stage.showThing(k, !this.hidden.has(`${i}:${thing.name}`)));
    });
    this.view.dirty = true;
  }
  private toggle(what: keyof Player["shows"]): void {
    this.shows[what] = !this.shows[what];
    this.setGhosts();
    this.buildThings();
  }
  setSide(side: boolean): void {
    const before = this.view.homeDistance;
    this.view.side = side && this.stages.length > 1;
    this.view.zoom(this.view.homeDistance / before); // the same look, in panes of another width
    this.setGhosts();
    this.buildThings();
    this.remember();
  }
  setCamera(preset: Preset): void {
    this.view.preset(preset);
    this.presetPlace = this.view.place.join();
    this.camera.value = preset;
    this.remember();
  }
  /** After the camera was moved by hand: the list says so. */
  private moved(): void {
    if (this.view.place.join() !== this.presetPlace) this.camera.value = "";
    this.remember();
  }
  select(name: string): void {
    this.selected = name;
    for (const stage of this.stages) stage.select(name);
    this.status.textContent = name;
    this.view.dirty = true;
    this.remember();
  }

  private plotSelected(): void {
    if (this.selected === "") this.status.textContent = "select a part first: click on it";
    else if (!this.plots.showPart(this.selected)) this.status.textContent = `nothing is known of ${this.selected} over time`;
  }

  private event(direction: 1 | -1): void {
    const times = this.scene.events.flatMap((e) => [e.begin_s]).sort((a, b) => a - b);
    const next = direction > 0 ? times.find((t) => t > this.clock.t + 1e-4) : times.reverse().find((t) => t < this.clock.t - 1e-4);
    if (next !== undefined) { this.clock.pause(); this.clock.seek(next); }
  }
  private frame(steps: number): void {
    const times = this.frameTimes_s, t = this.clock.t;
    this.clock.pause();
    if (times.length === 0) { this.clock.seek(t + (steps * (this.clock.end - this.clock.begin)) / 1000); return; }
    let at = indexAt(times, t + 1e-9);
    if (steps < 0 && !(Math.abs(times[at] - t) <= 1e-9)) ++at; // from between two frames, back to the first of them
    const next = times[Math.min(times.length - 1, Math.max(0, at + steps))];
    if ((next - t) * steps > 0) this.clock.seek(next);
  }
  private scaleForces(direction: 1 | -1): void {
    this.forceScale = Math.min(kForceScales.length - 1, Math.max(0, this.forceScale + direction));
    for (const stage of this.stages) stage.contacts?.setScale(kForceScales[this.forceScale]);
    this.view.dirty = true;
    this.showClock();
  }

  private makeKeys(): Key[] {
    const c = this.clock;
    return [
      { keys: ["Space"], what: "play or pause", run: () => c.toggle() },
      { keys: ["ArrowLeft"], what: "one frame back", run: () => this.frame(-1) },
      { keys: ["ArrowRight"], what: "one frame on", run: () => this.frame(1) },
      { keys: ["Shift+ArrowLeft"], what: "ten frames back", run: () => this.frame(-10) },
      { keys: ["Shift+ArrowRight"], what: "ten frames on", run: () => this.frame(10) },
      { keys: ["Ctrl+ArrowLeft", "p"], what: "the touch, gap or mark before", run: () => this.event(-1) },
      { keys: ["Ctrl+ArrowRight", "n"], what: "the next touch, gap or mark", run: () => this.event(1) },
      { keys: ["Home"], what: "to the beginning of the loop", run: () => c.seek(c.from) },
      { keys: ["End"], what: "to the end of the loop", run: () => c.seek(c.to) },
      { keys: [","], what: "slower (to 1/20)", run: () => c.changeSpeed(-1) },
      { keys: ["."], what: "faster (to 4)", run: () => c.changeSpeed(1) },
      { keys: ["l"], what: "loop on or off", run: () => c.setLoop(!c.loop) },
      { keys: ["["], what: "the loop begins here", run: () => c.setRange(c.t, c.to > c.t ? c.to : c.end) },
      { keys: ["]"], what: "the loop ends here", run: () => c.setRange(c.from < c.t ? c.from : c.begin, c.t) },
      { keys: ["\\"], what: "loop over everything", run: () => c.setRange(c.begin, c.end) },
      { keys: ["f"], what: "forces", run: () => this.toggle("forces") },
      { keys: ["c"], what: "contact points", run: () => this.toggle("points") },
      { keys: ["k"], what: "friction cones", run: () => this.toggle("cones") },
      { keys: ["o"], what: "arrows: force on the hand, or of the hand", run: () => { this.toggle("onObject"); this.showClock(); } },
      { keys: ["+", "="], what: "longer arrows", run: () => this.scaleForces(1) },
      { keys: ["-"], what: "shorter arrows", run: () => this.scaleForces(-1) },
      { keys: ["g"], what: "ghosts: the other motions", run: () => this.toggle("ghosts") },
      { keys: ["m"], what: "markers", run: () => this.toggle("markers") },
      { keys: ["t"], what: "hand see-through", run: () => this.toggle("transparent") },
      { keys: ["b"], what: "motions side by side, or one over the other", run: () => this.setSide(!this.view.side) },
      { keys: ["#"], what: "floor: squares of 1 cm", run: () => { this.view.showGrid(!this.view.gridShown); } },
      ...kPresets.map((preset, i) => ({ keys: [String(i + 1)], what: `camera: ${preset}`, run: () => this.setCamera(preset) })),
      { keys: ["ArrowUp"], what: "camera: up", run: () => { this.view.tilt(0.1); this.moved(); } },
      { keys: ["ArrowDown"], what: "camera: down", run: () => { this.view.tilt(-0.1); this.moved(); } },
      { keys: ["q"], what: "camera: around to the left", run: () => { this.view.turn(-0.1); this.moved(); } },
      { keys: ["e"], what: "camera: around to the right", run: () => { this.view.turn(0.1); this.moved(); } },
      { keys: ["Shift+ArrowUp", "i"], what: "camera: nearer", run: () => { this.view.zoom(1 / 1.1); this.moved(); } },
      { keys: ["Shift+ArrowDown", "u"], what: "camera: farther", run: () => { this.view.zoom(1.1); this.moved(); } },
      { keys: ["v"], what: "☰: what is shown", run: () => { this.menu.open = !this.menu.open; } },
      { keys: ["z"], what: "plots: enlarge to the loop", run: () => this.plots.show(c.from, c.to) },
      { keys: ["a"], what: "plots: show all", run: () => this.plots.showAll() },
      { keys: ["Enter"], what: "plot what is selected", run: () => this.plotSelected() },
      { keys: ["Escape"], what: "select nothing", run: () => this.select("") },
      { keys: ["/"], what: "look for a channel", run: () => this.plots.search.focus() },
      { keys: ["s"], what: "save the view as PNG", run: () => this.save() },
      { keys: ["y"], what: "copy the link to what is seen", run: () => this.copyLink() },
      { keys: ["?", "h"], what: "these keys", run: () => (this.help.open ? this.help.close() : this.help.showModal()) },
    ];
  }
  async savePng(): Promise<void> { download(`${this.scene.title} ${this.clock.t.toFixed(3)} s.png`, await this.view.png()); }
  private save(): void { this.savePng().catch((error: Error) => (this.status.textContent = error.message)); }
  private copyLink(): void {
    this.writeLink();
    const done = () => (this.status.textContent = "link copied");
    if (navigator.clipboard) navigator.clipboard.writeText(location.href).then(done, () => (this.status.textContent = location.href));
    else this.status.textContent = location.href;
  }

  // ---- link ----
  place(): Place {
    const whole = this.clock.from === this.clock.begin && this.clock.to === this.clock.end;
    return {
      t: this.clock.t, speed: this.clock.speed, camera: this.view.place, selected: this.selected, side: this.view.side,
      ...(whole ? {} : { from: this.clock.from, to: this.clock.to }), hidden: [...this.hidden], plots: this.plots.names(),
    };
  }
  private writeLink(): void { history.replaceState(null, "", write(this.place())); }
  /** While it plays the address stays: a link is of what stands still. */
  private remember(): void {
    if (this.restoring || this.clock.playing) return;
    clearTimeout(this.linkTimer);
    this.linkTimer = window.setTimeout(() => this.writeLink(), 250);
  }
  private restore(): void {
    if (!location.hash.includes("=")) return; // a report's chapter is no place
    this.restoring = true;
    const place = read(location.hash);
    if (place.speed !== undefined) this.clock.setSpeed(place.speed);
    // A link has four decimals: an end that is as near as that is the end.
    const edge = (x: number | undefined, end: number) => x === undefined || Math.abs(x - end) < 1e-4 ? end : x;
    this.clock.setRange(edge(place.from, this.clock.begin), edge(place.to, this.clock.end));
    if (place.hidden) this.hidden = new Set(place.hidden);
    if (place.side !== this.view.side) this.setSide(place.side ?? false);
    if (place.t !== undefined) this.clock.seek(place.t);
    if (place.plots) this.plots.restore(place.plots);
    this.select(place.selected ?? "");
    if (place.camera) { this.view.place = place.camera; this.moved(); }
    this.setGhosts();
    this.buildThings();
    this.restoring = false;
  }

  // ---- layout ----
  private things = h("div", { class: "things" });
  private buildThings(): void {
    clear(this.things);
    const box = (label: string, on: boolean, change: () => void) =>
      h("label", {}, h("input", { type: "checkbox", checked: on, change }), label);
    const of = (key: string) => () => {
      if (this.hidden.has(key)) this.hidden.delete(key); else this.hidden.add(key);
      this.setGhosts();
      this.remember();
    };
    this.scene.motions.forEach((motion, i) => {
      const many = this.scene.motions.length > 1;
      this.things.append(h("fieldset", {},
        many ? h("legend", {}, box(motion.name, !this.hidden.has(`motion:${i}`), of(`motion:${i}`))) : null,
        ...motion.things.map((thing) => box(thing.name, !this.hidden.has(`${i}:${thing.name}`), of(`${i}:${thing.name}`))),
        motion.verdict ? h("p", { class: "verdict" }, motion.verdict) : null,
        motion.note ? h("p", { class: "note" }, motion.note) : null));
    });
    this.things.append(h("fieldset", {},
      box("forces", this.shows.forces, () => this.toggle("forces")), box("contact points", this.shows.points, () => this.toggle("points")),
      box("friction cones", this.shows.cones, () => this.toggle("cones")), box("markers", this.shows.markers, () => this.toggle("markers")),
      this.stages.length > 1 ? box("ghosts", this.shows.ghosts, () => this.toggle("ghosts")) : null,
      this.stages.length > 1 ? box("side by side", this.view.side, () => this.setSide(!this.view.side)) : null));
    if (this.scene.facts?.length) {
      this.things.append(h("details", {}, h("summary", {}, "where it comes from"),
        h("table", {}, ...this.scene.facts.map(([k, v]) => h("tr", {}, h("th", {}, k), h("td", {}, v))))));
    }
  }
  private layout(compact: boolean): HTMLElement {
    this.buildThings();
    this.menu.append(this.things);
    const bar = h("div", { class: "bar" }, this.playButton, this.clockText, this.speedText, this.loopButton, this.camera,
      h("button", { title: "save the view as PNG (s)", click: () => this.save() }, "PNG"),
      h("button", { title: "copy the link to what is seen (y)", click: () => this.copyLink() }, "link"),
      h("button", { title: "keys (?)", click: () => this.help.showModal() }, "?"), this.status);
    const legend = h("div", { class: "legend" }, this.scaleText);
    this.view.element.append(this.menu, legend);
    const head = compact ? null : h("header", {}, h("h1", {}, this.scene.title), h("p", {}, this.scene.subtitle ?? ""));
    return h("main", { class: compact ? "player compact" : "player" }, head,
      h("div", { class: "middle" }, this.view.element, this.plots.element), h("div", { class: "foot" }, this.timeline.element, bar));
  }
  private showClock(): void {
    const c = this.clock;
    this.playButton.textContent = c.playing ? "❚❚" : "▶";
    const text = `${c.t.toFixed(3)} s`;
    if (this.clockText.textContent !== text) this.clockText.textContent = text;
    this.speedText.value = String(kSpeeds.reduce((a, b) => Math.abs(b - c.speed) < Math.abs(a - c.speed) ? b : a));
    this.loopButton.setAttribute("aria-pressed", String(c.loop));
    this.loopButton.classList.toggle("on", c.loop);
    const scaled = this.stages.some((s) => s.contacts);
    const scale = kForceScales[this.forceScale];
    this.scaleText.textContent = scaled ? `arrow: ${shown(scale * 1000)} mm = 1 N ${this.shows.onObject ? "of" : "on"} the hand` : "";
  }
}
