/** The clips of a library: quality first, facets with counts, and the query language. */

import { clear, h } from "./dom";

interface Clip {
  id: string; name: string; subject: string; session: string; task: string; prop: string; utc: string; length_s: number;
  keep: boolean; closed: boolean; red: number; gaps: number; lost: number; rating: number | null; tags: string[];
}
interface Listing { library: string; clips: Clip[]; total: number; recording: boolean }
interface Answer { columns: string[]; rows: (string | number | null)[][]; clips: string[]; error?: string; more?: boolean }

const kFacets: { name: string; of: (clip: Clip) => string[] }[] = [
  { name: "quality", of: (c) => [quality(c).word] },
  { name: "subject", of: (c) => [c.subject || "–"] },
  { name: "task", of: (c) => [c.task || "–"] },
  { name: "prop", of: (c) => c.prop ? c.prop.split(", ") : ["–"] },
  { name: "session", of: (c) => [c.session || "–"] },
  { name: "tag", of: (c) => c.tags },
  { name: "rating", of: (c) => [c.rating === null ? "–" : "★".repeat(c.rating)] },
];

function quality(c: Clip): { word: string; text: string } {
  const text = `${c.gaps} gaps, ${c.lost} samples lost, ${c.red} red`;
  if (!c.closed) return { word: "not closed", text };
  if (!c.keep) return { word: "not to keep", text };
  return { word: c.red > 0 ? "red" : c.gaps > 0 ? "with gaps" : "whole", text };
}

export class Library {
  readonly element: HTMLElement;
  private chosen = new Map<string, Set<string>>(); // facet -> values; empty: any
  private found: Set<string> | null = null; // ids that the query answered
  private listing: Listing = { library: "", clips: [], total: 0, recording: false };
  private facets = h("aside", { class: "facets" });
  private rows = h("tbody", {});
  private count = h("output", { class: "count" });
  private answer = h("div", { class: "answer", role: "status" });
  private query = h("input", { type: "search", "aria-label": "query", spellcheck: false,
    placeholder: "peak(normal_force) > 1 N within 0.2 s of contact_on" });
  private title = h("h1", {}, "Library");
  private live = h("a", { href: "live" }, "live");

  constructor() {
    this.element = h("main", { class: "library" },
      h("header", {}, this.title, this.live,
        h("form", { submit: (e: Event) => { e.preventDefault(); void this.ask(); } }, this.query, h("button", {}, "Ask"))),
      this.answer,
      h("div", { class: "columns" }, this.facets,
        h("div", { class: "tablebox" }, this.count, h("table", { class: "clips" },
          h("thead", {}, h("tr", {}, ...["", "quality", "clip", "subject", "task", "prop", "length", "recorded", "rating", "tags"].map((t) => h("th", {}, t)))),
          this.rows))));
    window.addEventListener("hashchange", () => void this.restore());
  }

  async start(): Promise<void> {
    const response = await fetch("api/clips");
    if (!response.ok) throw new Error(await response.text());
    this.listing = (await response.json()) as Listing;
    this.title.textContent = this.listing.library;
    document.title = this.listing.library;
    await this.restore();
  }

  // The address holds what is chosen, so that it can be sent to a colleague.
  private remember(): void {
    const words = new URLSearchParams();
    if (this.query.value) words.set("q", this.query.value);
    for (const [facet, values] of this.chosen) for (const value of values) words.append(facet, value);
    history.replaceState(null, "", "#" + words.toString());
  }
  private async restore(): Promise<void> {
    const words = new URLSearchParams(location.hash.slice(1));
    this.chosen.clear();
    for (const { name } of kFacets) if (words.has(name)) this.chosen.set(name, new Set(words.getAll(name)));
    this.query.value = words.get("q") ?? "";
    if (this.query.value) await this.ask(); else { this.found = null; this.draw(); }
  }

  private async ask(): Promise<void> {
    clear(this.answer);
    this.found = null;
    const text = this.query.value.trim();
    if (text) {
      const response = await fetch(`api/query?q=${encodeURIComponent(text)}`);
      const answer = (await response.json()) as Answer;
      if (answer.error) this.answer.append(h("p", { class: "failure" }, answer.error));
      else {
        this.found = new Set(answer.clips);
        this.answer.append(h("details", {}, h("summary", {}, `${answer.rows.length}${answer.more ? " and more" : ""} answers`),
          h("div", { class: "tablebox" }, h("table", {},
            h("thead", {}, h("tr", {}, ...answer.columns.map((c) => h("th", {}, c)))),
            h("tbody", {}, ...answer.rows.slice(0, 200).map((row) => h("tr", {}, ...row.map((v) => h("td", {}, v === null ? "–" : String(v)))))))) ));
      }
    }
    this.remember();
    this.draw();
  }

  private passes(clip: Clip, but?: string): boolean {
    if (this.found && !this.found.has(clip.id)) return false;
    return kFacets.every(({ name, of }) => {
      const chosen = this.chosen.get(name);
      return name === but || !chosen?.size || of(clip).some((value) => chosen.has(value));
    });
  }

  private draw(): void {
    this.live.className = this.listing.recording ? "recording" : "";
    clear(this.facets);
    for (const { name, of } of kFacets) {
      // Counts of what each choice would leave: the facet's own choices do not count against it.
      const counts = new Map<string, number>();
      for (const clip of this.listing.clips) if (this.passes(clip, name)) for (const v of of(clip)) counts.set(v, (counts.get(v) ?? 0) + 1);
      const chosen = this.chosen.get(name) ?? new Set<string>();
      if (counts.size < 2 && chosen.size === 0) continue;
      this.facets.append(h("fieldset", {}, h("legend", {}, name),
        ...[...counts].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0])).slice(0, 20).map(([value, n]) =>
          h("label", {}, h("input", { type: "checkbox", checked: chosen.has(value), change: () => {
            const set = this.chosen.get(name) ?? new Set<string>();
            if (set.has(value)) set.delete(value); else set.add(value);
            this.chosen.set(name, set);
            this.remember();
            this.draw();
          } }), `${value} `, h("small", {}, String(n))))));
    }
    clear(this.rows);
    const shown = this.listing.clips.filter((clip) => this.passes(clip));
    this.count.textContent = `${shown.length} of ${this.listing.total} clips`;
    if (this.listing.total === 0) {
      this.rows.append(h("tr", {}, h("td", { colspan: "10" },
        "No clips yet. 'handhold live record' records one, 'handhold clip import' brings one in; then load this page again.")));
    }
    for (const clip of shown.slice(0, 500)) {
      const q = quality(clip);
      this.rows.append(h("tr", {},
        h("td", {}, h("img", { src: `thumb/${clip.id}`, alt: "", loading: "lazy", width: "96", height: "60" })),
        h("td", {}, h("span", { class: `quality ${q.word.replaceAll(" ", "_")}`, title: q.text }, q.word), h("small", {}, q.text)),
        h("td", {}, h("a", { href: `clip/${clip.id}` }, clip.name)),
        h("td", {}, clip.subject), h("td", {}, clip.task), h("td", {}, clip.prop),
        h("td", { class: "number" }, `${clip.length_s.toFixed(1)} s`), h("td", {}, clip.utc),
        h("td", {}, clip.rating === null ? "" : "★".repeat(clip.rating)), h("td", {}, clip.tags.join(", "))));
    }
  }
}
