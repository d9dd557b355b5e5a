/** A plot as SVG for papers: axes with ticks and units, curves, bands, the cursor. */

export interface Curve { name: string; colour: string; times: Float64Array; y: Float64Array; sd?: Float64Array }
export interface Figure { curves: Curve[]; unit: string; from: number; to: number; now?: number }

const kWidth = 640, kHeight = 300, kLeft = 62, kRight = 14, kTop = 26, kBottom = 44;

export function ticks(from: number, to: number, about: number): number[] {
  const rough = (to - from) / about;
  if (!(rough > 0)) return [from];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough)!;
  const list: number[] = [];
  for (let k = Math.ceil(from / step - 1e-9); k * step <= to + 1e-9 * step; ++k) list.push(Number((k * step).toPrecision(12)));
  return list;
}

const escaped = (text: string) => text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]!);

export function plotSvg(figure: Figure): string {
  let low = Infinity, high = -Infinity;
  for (const { times, y, sd } of figure.curves) {
    for (let i = 0; i < y.length; ++i) {
      if (times[i] < figure.from || times[i] > figure.to || !Number.isFinite(y[i])) continue;
      const s = sd && Number.isFinite(sd[i]) ? 2 * sd[i] : 0;
      low = Math.min(low, y[i] - s); high = Math.max(high, y[i] + s);
    }
  }
  if (!(high > low)) { low = (Number.isFinite(low) ? low : 0) - 1; high = low + 2; }
  const room = 0.05 * (high - low);
  low -= room; high += room;
  const x = (t: number) => kLeft + ((t - figure.from) / (figure.to - figure.from)) * (kWidth - kLeft - kRight);
  const y = (v: number) => kHeight - kBottom - ((v - low) / (high - low)) * (kHeight - kTop - kBottom);
  const n = (v: number) => v.toFixed(2);
  const out: string[] = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${kWidth}" height="${kHeight}" viewBox="0 0 ${kWidth} ${kHeight}" font-family="system-ui, sans-serif" font-size="12">`,
    `<rect width="100%" height="100%" fill="#fff"/>`,
    `<clipPath id="c"><rect x="${kLeft}" y="${kTop}" width="${kWidth - kLeft - kRight}" height="${kHeight - kTop - kBottom}"/></clipPath>`,
  ];
  for (const t of ticks(figure.from, figure.to, 7))
    out.push(`<path d="M${n(x(t))} ${kTop}V${kHeight - kBottom}" stroke="#e3e6e9"/><text x="${n(x(t))}" y="${kHeight - kBottom + 16}" text-anchor="middle" fill="#495057">${t}</text>`);
  for (const v of ticks(low, high, 5))
    out.push(`<path d="M${kLeft} ${n(y(v))}H${kWidth - kRight}" stroke="#e3e6e9"/><text x="${kLeft - 6}" y="${n(y(v) + 4)}" text-anchor="end" fill="#495057">${v}</text>`);
  out.push(`<text x="${(kLeft + kWidth - kRight) / 2}" y="${kHeight - 8}" text-anchor="middle" fill="#212529">time [s]</text>`,
    `<text transform="translate(14 ${(kTop + kHeight - kBottom) / 2}) rotate(-90)" text-anchor="middle" fill="#212529">[${escaped(figure.unit)}]</text>`,
    `<g clip-path="url(#c)" fill="none">`);
  for (const curve of figure.curves) {
    let path = "", pen = false;
    const upper: string[] = [], lower: string[] = [];
    for (let i = 0; i < curve.y.length; ++i) {
      const at = curve.times[i], v = curve.y[i];
      const far = (i + 1 < curve.y.length && curve.times[i + 1] < figure.from) || (i > 0 && curve.times[i - 1] > figure.to);
      if (far || !Number.isFinite(v)) { pen = false; continue; }
      path += `${pen ? "L" : "M"}${n(x(at))} ${n(y(v))}`;
      pen = true;
      if (curve.sd && Number.isFinite(curve.sd[i])) {
        upper.push(`${n(x(at))} ${n(y(v + 2 * curve.sd[i]))}`);
        lower.push(`${n(x(at))} ${n(y(v - 2 * curve.sd[i]))}`);
      }
    }
    if (upper.length) out.push(`<path d="M${upper.join("L")}L${lower.reverse().join("L")}Z" fill="${curve.colour}" fill-opacity="0.2"/>`);
    out.push(`<path d="${path}" stroke="${curve.colour}" stroke-width="1.4"/>`);
  }
  if (figure.now !== undefined && figure.now >= figure.from && figure.now <= figure.to)
    out.push(`<path d="M${n(x(figure.now))} ${kTop}V${kHeight - kBottom}" stroke="#868e96" stroke-dasharray="3 3"/>`);
  out.push(`</g>`);
  let at = kLeft;
  for (const curve of figure.curves) {
    out.push(`<rect x="${at}" y="${kTop - 15}" width="10" height="3" fill="${curve.colour}"/><text x="${at + 14}" y="${kTop - 9}" fill="#212529">${escaped(curve.name)}</text>`);
    at += 30 + 6.4 * curve.name.length;
  }
  out.push(`</svg>`);
  return out.join("\n");
}
