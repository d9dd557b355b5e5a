/** Plots of channels under one time cursor. */

import uPlot from "uplot";
import { clear, download, h, shown } from "./dom";
import type { Clock } from "./clock";
import { decode, indexAt, shownUnit, type Channel, type Scene } from "./scene";
import { plotSvg, type Curve } from "./plot_svg";

const kColours = ["#1f6fb2", "#d9480f", "#2b8a3e", "#7048c6", "#b08900", "#0b7285", "#c2255c", "#5c636a"];
const kHeight = 150;
const kMostCurves = 6; // more are told apart by nobody

function curveOf(scene: Scene, times: Float64Array[], channel: Channel, colour: string): Curve {
  const { factor } = shownUnit(channel.unit);
  const times_s = times[channel.time];
  const y = decode(channel.y).map((v) => v * factor);
  const sd = channel.sd ? decode(channel.sd).map((v) => v * factor) : undefined;
  const motion = channel.motion >= 0 && scene.motions.length > 1 ? ` · ${scene.motions[channel.motion].name}` : "";
  return { name: channel.name + motion, colour, times: times_s, y, sd };
}

class Plot {
  readonly element: HTMLElement;
  private box = h("div", { class: "plotbox" });
  private line = h("div", { class: "now" });
  private head = h("div", { class: "plothead" });
  private values: HTMLElement[] = [];
  private curves: Curve[] = [];
  private drawn: uPlot | null = null;
  channels: number[] = [];

  constructor(private owner: Plots, channels: number[]) {
    this.element = h("section", { class: "plot" }, this.head, this.box);
    this.set(channels);
  }

  set(channels: number[]): void {
    this.channels = channels;
    const { scene, times } = this.owner;
    this.curves = channels.map((c, i) => curveOf(scene, times, scene.channels[c], kColours[i % kColours.length]));
    this.build();
  }
  unit(): string {
    return this.channels.length ? shownUnit(this.owner.scene.channels[this.channels[0]].unit).unit : "";
  }
  title(): string {
    return this.channels.map((c) => this.owner.scene.channels[c].name).join(", ");
  }

  private buildHead(): void {
    clear(this.head);
    this.values = [];
    for (const [i, curve] of this.curves.entries()) {
      const value = h("output", {});
      this.values.push(value);
      this.head.append(h("span", { class: "curve", title: "take this curve away", click: () => {
        const left = this.channels.filter((_, k) => k !== i);
        if (left.length) this.set(left); else this.owner.remove(this);
        this.owner.changed();
      } }, h("i", { style: `background:${curve.colour}` }), `${curve.name} `, value));
    }
    this.head.append(h("span", { class: "unit" }, this.unit()), h("span", { class: "tools" },
      h("button", { title: "this plot as SVG", click: () => download(`${this.title()}.svg`, this.svg(), "image/svg+xml") }, "SVG"),
      h("button", { title: "this plot as PNG", click: () => void this.png() }, "PNG"),
      h("button", { title: "take this plot away", click: () => { this.owner.remove(this); this.owner.changed(); } }, "×")));
  }

  private build(): void {
    this.buildHead();
    this.drawn?.destroy();
    clear(this.box);
    if (!this.curves.length) return;
    const list = (a: Float64Array) => Array.from(a, (v) => (Number.isFinite(v) ? v : null));
    const series: uPlot.Series[] = [{}];
    const bands: uPlot.Band[] = [];
    const tables: uPlot.AlignedData[] = [];
    for (const curve of this.curves) {
      const columns: (number | null)[][] = [list(curve.y)];
      series.push({ stroke: curve.colour, width: 1.4, points: { show: false } });
      if (curve.sd) {
        const sd = curve.sd;
        columns.push(list(curve.y.map((v, i) => v + 2 * sd[i])), list(curve.y.map((v, i) => v - 2 * sd[i])));
        const at = series.length;
        series.push({ stroke: "transparent", points: { show: false } }, { stroke: "transparent", points: { show: false } });
        bands.push({ series: [at, at + 1], fill: curve.colour + "38" });
      }
      tables.push([Array.from(curve.times), ...columns] as uPlot.AlignedData);
    }
    const data = tables.length === 1 ? tables[0] : uPlot.join(tables, tables.map((t) => t.map(() => 2)));
    const style = getComputedStyle(document.documentElement);
    const ink = style.getPropertyValue("--faint").trim(), rule = style.getPropertyValue("--rule").trim();
    const axis = { stroke: ink, grid: { stroke: rule, width: 1 }, ticks: { stroke: rule, width: 1 }, font: "11px system-ui" };
    const { from, to } = this.owner.range;
    this.drawn = new uPlot({
      width: Math.max(120, this.box.clientWidth || this.owner.width), height: kHeight, legend: { show: false },
      padding: [6, 10, 0, 0], series, bands,
      scales: { x: { time: false, min: from, max: to } },
      axes: [{ ...axis, size: 26 }, { ...axis, size: 46 }],
      cursor: { y: false, drag: { x: true, y: false }, points: { show: false } },
      hooks: { setScale: [(u, key) => { if (key === "x") this.owner.zoomed(this, u.scales.x.min!, u.scales.x.max!); }] },
    }, data, this.box);
    const over = this.drawn.over;
    over.append(this.line);
    let down = 0;
    over.addEventListener("pointerdown", (e) => (down = e.clientX));
    over.addEventListener("pointerup", (e) => {
      if (Math.abs(e.clientX - down) < 4) this.owner.clock.seek(this.drawn!.posToVal(e.clientX - over.getBoundingClientRect().left, "x"));
    });
    over.addEventListener("dblclick", () => this.owner.showAll());
    this.follow();
  }

  follow(): void {
    if (!this.drawn) return;
    const t = this.owner.clock.t;
    const x = this.drawn.valToPos(t, "x");
    const inside = x >= 0 && x <= this.drawn.over.clientWidth + 1;
    this.line.style.transform = `translateX(${x}px)`;
    this.line.style.visibility = inside ? "visible" : "hidden";
    this.curves.forEach((curve, i) => {
      const k = indexAt(curve.times, t);
      const y = k < 0 ? NaN : curve.y[k];
      const sd = curve.sd && k >= 0 ? curve.sd[k] : NaN;
      const text = shown(y) + (Number.isFinite(sd) ? ` ± ${shown(sd, 2)}` : "");
      if (this.values[i].textContent !== text) this.values[i].textContent = text;
    });
  }
  zoom(from: number, to: number): void { this.drawn?.setScale("x", { min: from, max: to }); }
  resize(): void {
    if (this.drawn && this.box.clientWidth > 0) this.drawn.setSize({ width: this.box.clientWidth, height: kHeight });
    this.follow();
  }
  svg(): string {
    const { from, to } = this.owner.range;
    return plotSvg({ curves: this.curves, unit: this.unit(), from, to, now: this.owner.clock.t });
  }
  private async png(): Promise<void> {
    const image = new Image();
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(this.svg());
    await image.decode();
    const canvas = h("canvas", { width: String(image.width * 2), height: String(image.height * 2) });
    canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => blob && download(`${this.title()}.png`, blob));
  }
}

export class Plots {
  readonly element: HTMLElement;
  private list = h("div", { class: "plots" });
  private found = h("div", { class: "found" });
  readonly search: HTMLInputElement;
  private plots: Plot[] = [];
  range: { from: number; to: number };
  width = 400;
  onChange: () => void = () => {};

  constructor(readonly scene: Scene, readonly times: Float64Array[], readonly clock: Clock) {
    this.range = { from: clock.begin, to: clock.end };
    this.search = h("input", { type: "search", placeholder: `plot one of ${scene.channels.length} channels  ( / )`,
      "aria-label": "channels", input: () => this.suggest(), focus: () => this.suggest(),
      blur: () => setTimeout(() => clear(this.found), 250) });
    this.element = h("div", { class: "plotside" },
      scene.channels.length ? h("div", { class: "search" }, this.search, this.found) : null, this.list);
    clock.onChange(() => this.plots.forEach((plot) => plot.follow()));
    new ResizeObserver(() => {
      this.width = this.list.clientWidth;
      this.plots.forEach((plot) => plot.resize());
    }).observe(this.list);
  }

  get count(): number { return this.plots.length; }
  add(channels: number[]): void {
    const plot = new Plot(this, channels.filter((c) => c >= 0 && c < this.scene.channels.length));
    this.plots.push(plot);
    this.list.append(plot.element);
  }
  remove(plot: Plot): void {
    this.plots = this.plots.filter((p) => p !== plot);
    plot.element.remove();
  }
  changed(): void { this.onChange(); }
  clear(): void { for (const plot of [...this.plots]) this.remove(plot); }

  /** "force~normal force": what the link holds; names, since positions change between versions. */
  names(): string[] {
    return this.plots.map((plot) => plot.channels.map((c) => this.nameOf(this.scene.channels[c])).join("~"));
  }
  private nameOf(channel: Channel): string { return (channel.motion > 0 ? `${channel.motion}:` : "") + channel.name; }
  restore(names: string[]): void {
    this.clear();
    for (const plot of names) {
      const channels = plot.split("~").map((name) => this.scene.channels.findIndex((c) => this.nameOf(c) === name)).filter((c) => c >= 0);
      if (channels.length) this.add(channels);
    }
  }
  /** A plot per unit of the channels that are of the part called so, unless there is one; false: nothing is known of it. */
  showPart(part: string): boolean {
    const units = new Map<string, number[]>();
    this.scene.channels.forEach((c, i) => {
      if (c.parts?.includes(part)) units.set(c.unit, [...(units.get(c.unit) ?? []), i]);
    });
    for (const all of units.values()) {
      const channels = all.slice(0, kMostCurves);
      if (!this.plots.some((p) => p.channels.join() === channels.join())) { this.add(channels); this.changed(); }
    }
    return units.size > 0;
  }

  private suggest(): void {
    clear(this.found);
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const hits = this.scene.channels.map((c, i) => ({ c, i, text: `${c.group} ${c.name} ${c.motion >= 0 ? this.scene.motions[c.motion].name : ""}` }))
      .filter(({ text }) => words.every((w) => text.toLowerCase().includes(w))).slice(0, 40);
    for (const { c, i, text } of hits) {
      const last = this.plots[this.plots.length - 1];
      const joins = last && last.unit() === shownUnit(c.unit).unit;
      this.found.append(h("div", { class: "hit" },
        h("button", { mousedown: (e: Event) => { e.preventDefault(); this.add([i]); this.changed(); } }, `${text} [${shownUnit(c.unit).unit}]`),
        joins ? h("button", { title: "into the last plot", mousedown: (e: Event) => {
          e.preventDefault(); last.set([...last.channels, i]); this.changed(); } }, "+") : null));
    }
    if (!hits.length) this.found.append(h("div", { class: "hit" }, "no such channel"));
  }

  private zooming = false;
  /** One plot was enlarged: all show the same time. */
  zoomed(from: Plot, min: number, max: number): void {
    if (this.zooming || min === this.range.from && max === this.range.to) return;
    this.zooming = true;
    this.range = { from: min, to: max };
    for (const plot of this.plots) if (plot !== from) plot.zoom(min, max);
    this.plots.forEach((plot) => plot.follow());
    this.zooming = false;
  }
  show(from: number, to: number): void {
    this.zooming = true;
    this.range = { from, to };
    for (const plot of this.plots) plot.zoom(from, to);
    this.plots.forEach((plot) => plot.follow());
    this.zooming = false;
  }
  showAll(): void { this.show(this.clock.begin, this.clock.end); }
}
