/**
 * The scene: what a page plays. JSON made in C++ (tools/report/scene.h says what each member means; README.md here is
 * the contract). SI and radians; Z up; forces act on the hand.
 */

/** Numbers as whole steps of `scale`, each told as the difference to the last one that was not missing. */
export interface Coded { scale: number; offset: number; d: (number | null)[] }
/** Times, ascending: told one by one, or even. */
export type CodedTimes = Coded | { begin_s: number; step_s: number; n: number };

export type Vec = [number, number, number];
export type Quat = [number, number, number, number]; // w x y z

export type Shape =
  | { kind: "sphere"; r: number }
  | { kind: "capsule" | "cylinder"; r: number; l: number } // along Z; a capsule's l is without its caps
  | { kind: "box"; size: Vec }
  | { kind: "mesh"; mesh: number };
export interface Mesh { p: Coded; i: Coded } // x y z of vertex after vertex; three indices of triangle after triangle

export interface Track { time: number; p?: Coded[]; q?: Coded[] } // 3 and 4 of them
export interface SceneNode {
  name: string;
  parent: number; // an earlier node, -1: the world
  thing: number;
  p?: Vec; q?: Quat; // pose in the parent
  move?: Track; // after it
  shapes?: { shape: number; p?: Vec; q?: Quat }[];
}
export interface Thing { name: string; role: "hand" | "prop" | "lab" | "sensor" }
export interface Markers { time: number; names: string[]; p: Coded[] } // 3 per marker
export interface Contacts {
  time: number;
  frame: Coded; // of each row, ascending
  p: Coded[]; n: Coded[]; f: Coded[]; // 3 each: point, normal into the hand, force on the hand
  friction?: Coded; slip?: Coded; touch?: Coded;
  touches: string[];
}
export type Source = "captured" | "fitted" | "synthesised" | "reference";
export interface Motion {
  name: string; source: Source; hash?: string; note?: string;
  verdict?: string; // "held", "slipped at 1.2 s: ..."
  things: Thing[]; nodes: SceneNode[];
  markers?: Markers; contacts?: Contacts;
}
export interface Channel {
  name: string; // "R.index.pip.flex"
  group: string; // "angle", "force", "torque", "slip"
  unit: string; // "rad", "N", "N m", "m", "1"
  motion: number; // -1: of the recording
  time: number;
  y: Coded; sd?: Coded;
  parts?: string[]; // nodes, markers or things that it is of, by name
}
export interface SceneEvent {
  kind: "touch" | "gap" | "mark" | "note";
  begin_s: number; end_s: number; label: string; lane?: string;
}
export interface Scene {
  format: "handhold.scene"; version: 1;
  title: string; subtitle?: string; facts?: [string, string][];
  begin_s: number; end_s: number;
  times: CodedTimes[]; shapes: Shape[]; meshes: Mesh[];
  motions: Motion[]; channels: Channel[]; events: SceneEvent[];
  plots?: number[][]; // channels that are plotted first
  beside?: boolean; // opens with its motions side by side
  open_s?: number; // where the page opens, if not at its beginning
}

export function decode(coded: Coded): Float64Array {
  const out = new Float64Array(coded.d.length);
  let steps = 0;
  for (let i = 0; i < out.length; ++i) {
    const d = coded.d[i];
    if (d === null) { out[i] = NaN; continue; }
    steps += d;
    out[i] = coded.offset + coded.scale * steps;
  }
  return out;
}

export function decodeTimes(coded: CodedTimes): Float64Array {
  if ("d" in coded) return decode(coded);
  return Float64Array.from({ length: coded.n }, (_, i) => coded.begin_s + i * coded.step_s);
}

/** Index of the last time at or before `t`; -1 before the first. */
export function indexAt(times: ArrayLike<number>, t: number): number {
  let low = -1, high = times.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] <= t) low = middle; else high = middle;
  }
  return low;
}

/** Where `t` lies between frames: frame `i`, share `u` of the way to i + 1; held at both ends. */
export function between(times: ArrayLike<number>, t: number): { i: number; u: number } {
  const i = indexAt(times, t);
  if (i < 0) return { i: 0, u: 0 };
  if (i >= times.length - 1) return { i: Math.max(0, times.length - 1), u: 0 };
  return { i, u: (t - times[i]) / (times[i + 1] - times[i]) };
}

/** The units that people read: angles in degrees, small lengths in millimetres. */
export function shownUnit(unit: string): { unit: string; factor: number } {
  if (unit === "rad") return { unit: "deg", factor: 180 / Math.PI };
  if (unit === "m") return { unit: "mm", factor: 1000 };
  if (unit === "N m") return { unit: "mN m", factor: 1000 };
  if (unit === "m/s") return { unit: "mm/s", factor: 1000 };
  return { unit, factor: 1 };
}

/** kInvalid of the page: a scene of another form is refused in words, not drawn wrongly. */
export function checkScene(scene: Scene): void {
  if (scene.format !== "handhold.scene") throw new Error(`no scene: its format is '${scene.format}'`);
  if (scene.version !== 1) throw new Error(`scene version ${scene.version}: this page plays version 1`);
}
