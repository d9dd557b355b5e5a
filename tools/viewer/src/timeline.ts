/** The scrub bar: lanes of touches, gaps and marks above one cursor. */

import { h } from "./dom";
import type { Clock } from "./clock";
import type { SceneEvent } from "./scene";

const kLane = 14;

export class Timeline {
  readonly element: HTMLElement;
  private canvas = h("canvas", { tabindex: "-1" });
  private cursor = h("div", { class: "cursor" });
  private range = h("div", { class: "range" });
  private tip = h("div", { class: "tip" });
  private lanes: string[];
  private width = 0;

  constructor(private clock: Clock, private events: SceneEvent[]) {
    const lane = (e: SceneEvent) => e.lane ?? (e.kind === "touch" ? "touches" : e.kind === "gap" ? "gaps" : "marks");
    this.lanes = [...new Set(events.map(lane))];
    if (this.lanes.length === 0) this.lanes = [""];
    this.laneOf = lane;
    this.element = h("div", { class: "timeline", role: "slider", "aria-label": "time", tabindex: "0" },
      this.canvas, this.range, this.cursor, this.tip);
    this.element.style.height = `${this.lanes.length * kLane + 18}px`;
    new ResizeObserver(() => this.draw()).observe(this.element);
    this.element.addEventListener("pointerdown", (event) => this.down(event));
    this.element.addEventListener("pointermove", (event) => this.hover(event));
    this.element.addEventListener("pointerleave", () => (this.tip.style.display = "none"));
    clock.onChange(() => this.follow());
  }
  private laneOf: (e: SceneEvent) => string;

  private x(t: number): number {
    return ((t - this.clock.begin) / (this.clock.end - this.clock.begin || 1)) * this.width;
  }
  private t(x: number): number {
    return this.clock.begin + (x / (this.width || 1)) * (this.clock.end - this.clock.begin);
  }

  private down(event: PointerEvent): void {
    this.element.setPointerCapture(event.pointerId);
    const left = this.element.getBoundingClientRect().left;
    const begin = this.t(event.clientX - left);
    const loop = event.shiftKey;
    if (!loop) this.clock.seek(begin);
    const move = (e: PointerEvent) => {
      const t = this.t(e.clientX - left);
      if (loop) this.clock.setRange(begin, t); else this.clock.seek(t);
    };
    const up = () => {
      this.element.removeEventListener("pointermove", move);
      this.element.removeEventListener("pointerup", up);
    };
    this.element.addEventListener("pointermove", move);
    this.element.addEventListener("pointerup", up);
    if (loop) this.clock.setRange(begin, begin);
  }

  private hover(event: PointerEvent): void {
    const box = this.element.getBoundingClientRect();
    const lane = this.lanes[Math.floor((event.clientY - box.top - 2) / kLane)];
    const near = this.events.filter((e) => this.laneOf(e) === lane &&
      this.x(e.begin_s) - 3 <= event.clientX - box.left && event.clientX - box.left <= this.x(e.end_s) + 3);
    this.tip.style.display = near.length ? "block" : "none";
    if (!near.length) return;
    this.tip.textContent = near.slice(0, 4).map((e) => `${e.label} (${e.begin_s.toFixed(3)} s)`).join("\n");
    this.tip.style.left = `${Math.min(event.clientX - box.left + 8, this.width - 150)}px`;
  }

  private follow(): void {
    this.cursor.style.transform = `translateX(${this.x(this.clock.t)}px)`;
    this.element.setAttribute("aria-valuenow", this.clock.t.toFixed(3));
    const whole = this.clock.from <= this.clock.begin && this.clock.to >= this.clock.end;
    this.range.style.display = whole ? "none" : "block";
    this.range.style.left = `${this.x(this.clock.from)}px`;
    this.range.style.width = `${this.x(this.clock.to) - this.x(this.clock.from)}px`;
  }

  draw(): void {
    const ratio = window.devicePixelRatio || 1;
    this.width = this.element.clientWidth;
    const height = this.element.clientHeight;
    this.canvas.width = this.width * ratio;
    this.canvas.height = height * ratio;
    const pen = this.canvas.getContext("2d")!;
    const style = getComputedStyle(this.element);
    const colour = (name: string) => style.getPropertyValue(name).trim();
    pen.scale(ratio, ratio);
    pen.clearRect(0, 0, this.width, height);
    pen.font = "10px system-ui, sans-serif";
    this.lanes.forEach((lane, i) => {
      for (const e of this.events) {
        if (this.laneOf(e) !== lane) continue;
        const x = this.x(e.begin_s), w = Math.max(2, this.x(e.end_s) - x);
        pen.fillStyle = colour(e.kind === "gap" ? "--bad" : e.kind === "touch" ? "--touch" : "--mark");
        pen.fillRect(x, 3 + i * kLane, w, kLane - 4);
      }
      pen.fillStyle = colour("--faint");
      pen.fillText(lane, 4, 3 + i * kLane + 8);
    });
    const length = this.clock.end - this.clock.begin;
    const rough = length / Math.max(2, this.width / 80);
    const power = 10 ** Math.floor(Math.log10(rough || 1));
    const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough) ?? rough;
    pen.fillStyle = colour("--faint");
    for (let t = Math.ceil(this.clock.begin / step) * step; t <= this.clock.end + 1e-9; t += step) {
      const x = this.x(t);
      pen.fillRect(x, height - 14, 1, 4);
      pen.fillText(`${Number(t.toPrecision(6))} s`, Math.min(x + 3, this.width - 30), height - 4);
    }
    this.follow();
  }
}
