/** The page of a take: what was recorded and made of it, in sections of words and tables; the player stands first. */

import { h } from "./dom";

export interface Table { caption?: string; head: string[]; rows: (string | number | null)[][]; red?: number[] }
export interface Section { id: string; title: string; lines?: string[]; tables?: Table[]; folded?: boolean }
/** Every word and figure is made in C++ (tools/report/take_page.h); here it is only laid out. */
export interface Report {
  format: "handhold.report"; version: 1;
  title: string; subtitle: string; facts: [string, string][]; verdict?: { good: boolean; text: string };
  sections: Section[];
}

function cell(value: string | number | null): HTMLElement {
  if (typeof value === "number") return h("td", { class: "number" }, String(value));
  return h("td", {}, value ?? "–");
}

function table(data: Table): HTMLElement {
  const red = new Set(data.red ?? []);
  return h("div", { class: "tablebox" }, h("table", {},
    data.caption ? h("caption", {}, data.caption) : null,
    h("thead", {}, h("tr", {}, ...data.head.map((text) => h("th", {}, text)))),
    h("tbody", {}, ...data.rows.map((row, i) => h("tr", { class: red.has(i) ? "red" : "" }, ...row.map(cell))))));
}

function section(data: Section): HTMLElement {
  const body = [...(data.lines ?? []).map((line) => h("p", {}, line)), ...(data.tables ?? []).map(table)];
  if (data.folded) return h("details", { id: data.id, class: "section" }, h("summary", {}, h("h2", {}, data.title)), ...body);
  return h("section", { id: data.id, class: "section" }, h("h2", {}, data.title), ...body);
}

export function reportPage(report: Report, player: HTMLElement | null, library?: string): HTMLElement {
  if (report.format !== "handhold.report" || report.version !== 1) throw new Error("this page does not know the report's form");
  return h("div", { class: "report" },
    h("header", {}, library ? h("a", { href: library }, "← library") : null, h("h1", {}, report.title), h("p", {}, report.subtitle),
      report.verdict ? h("p", { class: report.verdict.good ? "good" : "bad" }, report.verdict.text) : null,
      h("dl", {}, ...report.facts.flatMap(([k, v]) => [h("dt", {}, k), h("dd", {}, v)])),
      h("nav", {}, ...report.sections.map((s) => h("a", { href: `#${s.id}`, click: (e: Event) => {
        e.preventDefault(); // '#' is the player's link
        const target = document.getElementById(s.id)!;
        if (target instanceof HTMLDetailsElement) target.open = true;
        target.scrollIntoView({ behavior: "smooth" });
      } }, s.title)))),
    player, ...report.sections.map(section));
}
