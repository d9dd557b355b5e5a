/** A recording that runs: what the recorder said last. Only looks; asks again five times a second. */

import { clear, h, shown } from "./dom";

interface Item { stream: string; what: string; value: number; worst: number; threshold: number; red: boolean; acknowledged: boolean; cause: string }
interface Force { sensor: string; age_s: number; normal_N: number; peak_N: number; f_onObject_W_N: [number, number, number] }
interface Markers { stream: string; seen: number; of: number; occluded: string[] }
export interface LiveState {
  state: string; take: string; recorded_s: number; durable_age_s: number; bytes: number; trouble: string; sequence: number; at_s: number;
  sources: { name: string; connected: boolean; required: boolean; text: string }[];
  items: Item[]; forces: Force[]; markers: Markers[];
}
interface Reply { age_s: number; live: LiveState | null; note?: string }

const kPast_s = 20;

class Trace {
  readonly element = h("div", { class: "trace" });
  private canvas = h("canvas", { width: "800", height: "160" });
  private text = h("output", {});
  private points: { t: number; y: number }[] = [];
  constructor(readonly name: string) {
    this.element.append(h("h3", {}, name), this.text, this.canvas);
  }
  add(t: number, y: number, peak: number): void {
    this.points.push({ t, y });
    while (this.points.length && this.points[0].t < t - kPast_s) this.points.shift();
    this.text.textContent = `${y.toFixed(2)} N   (peak ${peak.toFixed(2)} N)`;
    this.draw();
  }
  private draw(): void {
    const pen = this.canvas.getContext("2d")!, { width, height } = this.canvas;
    pen.clearRect(0, 0, width, height);
    const last = this.points[this.points.length - 1]?.t ?? 0;
    const high = Math.max(0.5, ...this.points.map((p) => p.y)) * 1.1, low = Math.min(-0.1, ...this.points.map((p) => p.y));
    const y = (v: number) => height - ((v - low) / (high - low)) * height;
    pen.strokeStyle = "#e3e6e9";
    pen.strokeRect(0, y(0), width, 0);
    pen.strokeStyle = "#1f6fb2";
    pen.lineWidth = 2;
    pen.beginPath();
    this.points.forEach((p, i) => {
      const x = width * (1 - (last - p.t) / kPast_s);
      if (i === 0) pen.moveTo(x, y(p.y)); else pen.lineTo(x, y(p.y));
    });
    pen.stroke();
    pen.fillStyle = "#6c757d";
    pen.fillText(`${high.toFixed(1)} N`, 4, 12);
  }
}

export class Live {
  readonly element: HTMLElement;
  private head = h("h1", {}, "Live");
  private note = h("p", { class: "failure", role: "status" });
  private facts = h("dl", {});
  private sources = h("div", { class: "lights" });
  private markers = h("div", { class: "section" });
  private forces = h("div", { class: "traces" });
  private health = h("tbody", {});
  private traces = new Map<string, Trace>();
  private sequence = -1;

  constructor() {
    this.element = h("main", { class: "live" }, h("header", {}, this.head, h("a", { href: "./" }, "library")), this.note, this.facts,
      this.sources, this.forces, this.markers,
      h("section", { class: "section" }, h("h2", {}, "Health"), h("div", { class: "tablebox" }, h("table", {},
        h("thead", {}, h("tr", {}, ...["", "stream", "figure", "now", "worst", "limit", "cause"].map((t) => h("th", {}, t)))), this.health))));
  }
  start(): void { void this.look(); }

  private async look(): Promise<void> {
    try {
      const reply = (await (await fetch("api/live")).json()) as Reply;
      this.show(reply);
    } catch (error) {
      this.note.textContent = `the server does not answer (${String(error)})`;
    }
    setTimeout(() => void this.look(), 200);
  }

  show(reply: Reply): void {
    const live = reply.live;
    if (!live || reply.age_s > 3) {
      this.note.textContent = live ? `nothing new for ${reply.age_s.toFixed(0)} s: the recorder has ended, or stands still`
        : reply.note ?? "no recorder on this machine says anything: 'handhold live record' does";
    } else this.note.textContent = live.trouble;
    if (!live || live.sequence === this.sequence) return;
    this.sequence = live.sequence;
    this.head.textContent = `${live.state}${live.take ? `: ${live.take}` : ""}`;
    clear(this.facts);
    for (const [k, v] of [["recorded", `${live.recorded_s.toFixed(1)} s`], ["on disk up to", `${live.durable_age_s.toFixed(1)} s ago`],
      ["file", `${(live.bytes / 1e6).toFixed(1)} MB`]]) this.facts.append(h("dt", {}, k), h("dd", {}, v));
    clear(this.sources);
    for (const s of live.sources)
      this.sources.append(h("span", { class: s.connected ? "light good" : s.required ? "light bad" : "light", title: s.text }, `${s.name}: ${s.connected ? "connected" : s.text || "away"}`));
    for (const f of live.forces) {
      let trace = this.traces.get(f.sensor);
      if (!trace) { trace = new Trace(f.sensor); this.traces.set(f.sensor, trace); this.forces.append(trace.element); }
      trace.add(live.at_s, f.normal_N, f.peak_N);
    }
    clear(this.markers);
    for (const m of live.markers)
      this.markers.append(h("p", {}, `${m.stream}: ${m.seen} of ${m.of} markers seen`, m.occluded.length ? h("strong", { class: "bad" }, `  hidden: ${m.occluded.join(", ")}`) : null));
    clear(this.health);
    for (const i of [...live.items].sort((a, b) => Number(b.red) - Number(a.red)))
      this.health.append(h("tr", { class: i.red && !i.acknowledged ? "red" : "" }, h("td", {}, i.red ? "●" : "○"), h("td", {}, i.stream || "recorder"), h("td", {}, i.what),
        h("td", { class: "number" }, shown(i.value)), h("td", { class: "number" }, shown(i.worst)), h("td", { class: "number" }, shown(i.threshold)), h("td", {}, i.cause)));
  }
}
