/** The address says what is seen: time, camera, selection and the rest, behind '#'. */

export interface Place {
  t?: number; speed?: number;
  from?: number; to?: number; // the loop, when it is not the whole
  camera?: number[]; // eye x y z, target x y z
  selected?: string;
  side?: boolean; // motions side by side
  hidden?: string[];
  plots?: string[]; // "name|name" per plot
}

const short = (x: number) => String(Number(x.toPrecision(7)));

export function write(place: Place): string {
  const words = new URLSearchParams();
  if (place.t !== undefined) words.set("t", place.t.toFixed(4));
  if (place.from !== undefined && place.to !== undefined) words.set("loop", `${place.from.toFixed(4)},${place.to.toFixed(4)}`);
  if (place.speed !== undefined && place.speed !== 1) words.set("speed", short(place.speed));
  if (place.camera) words.set("cam", place.camera.map((x) => short(Math.round(x * 1e5) / 1e5)).join(","));
  if (place.selected) words.set("sel", place.selected);
  if (place.side) words.set("side", "1");
  if (place.hidden?.length) words.set("hide", place.hidden.join("~"));
  if (place.plots) for (const plot of place.plots) words.append("plot", plot);
  return "#" + words.toString();
}

function numbers(text: string | null, count: number): number[] | undefined {
  const list = text?.split(",").map(Number);
  return list?.length === count && list.every(Number.isFinite) ? list : undefined;
}

export function read(hash: string): Place {
  const words = new URLSearchParams(hash.replace(/^#/, ""));
  const place: Place = {};
  place.t = numbers(words.get("t"), 1)?.[0];
  const loop = numbers(words.get("loop"), 2);
  if (loop) [place.from, place.to] = loop;
  place.speed = numbers(words.get("speed"), 1)?.[0];
  place.camera = numbers(words.get("cam"), 6);
  place.selected = words.get("sel") ?? undefined;
  place.side = words.get("side") === "1";
  place.hidden = words.get("hide")?.split("~");
  if (words.has("plot")) place.plots = words.getAll("plot");
  return place;
}
