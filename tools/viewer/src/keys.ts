/** One table of keys: what they do, the help page and the README's table come from it. */

import { h } from "./dom";

export interface Key {
  keys: string[]; // KeyboardEvent.key, with "Shift+" or "Ctrl+" before
  what: string;
  run: () => void;
}

export function keyName(event: KeyboardEvent): string {
  const name = event.key === " " ? "Space" : event.key;
  // Of a letter or a sign the shift is in the key itself.
  const shift = event.shiftKey && name.length > 1 ? "Shift+" : "";
  return (event.ctrlKey || event.metaKey ? "Ctrl+" : "") + shift + name;
}

/** Keys of the page; with `within`, only while the pointer or the focus is there: the rest of the page scrolls as ever. */
export function listen(table: Key[], within?: HTMLElement): void {
  const by = new Map<string, Key>();
  for (const key of table) {
    for (const name of key.keys) {
      if (by.has(name)) throw new Error(`two meanings of key ${name}`);
      by.set(name, key);
    }
  }
  window.addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) {
      if (event.key === "Escape") target.blur();
      return;
    }
    // What has the focus answers for itself: a button is pressed, a link followed, a dialog closed.
    if (target instanceof Element) {
      if (/^(Enter| )$/.test(event.key) && target.closest("button, a, summary, dialog")) return;
      if (event.key === "Escape" && target.closest("dialog")) return;
    }
    if (within && !within.matches(":hover") && !within.contains(document.activeElement)) return;
    const key = by.get(keyName(event));
    if (!key || event.altKey) return;
    event.preventDefault();
    key.run();
  });
}

const kSigns: Record<string, string> = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓" };
function sign(key: string): string {
  if (key === "+") return key;
  return key.split("+").map((part) => kSigns[part] ?? part).join(" ");
}

export function helpPage(table: Key[]): HTMLDialogElement {
  const dialog = h("dialog", { class: "help", "aria-label": "Keys" },
    h("h2", {}, "Keys"),
    h("table", {}, ...table.map((key) =>
      h("tr", {},
        h("td", {}, ...key.keys.map((name) => h("kbd", {}, sign(name)))),
        h("td", {}, key.what)))),
    h("p", {}, "Mouse: drag turns, right drag or two fingers move, wheel nears; a click on a part selects it; a click in " +
      "a plot goes there, a drag in a plot enlarges, a double click shows all. Shift-drag on the bar sets the loop."),
    h("form", { method: "dialog" }, h("button", {}, "Close")));
  document.body.append(dialog);
  return dialog;
}
