/** Entry: what the page holds decides what it is. */

import "uplot/dist/uPlot.min.css";
import "./style.css";
import { pageData } from "./data";
import { h } from "./dom";
import { HandLive } from "./hand";
import { Library } from "./library";
import { Live } from "./live";
import { Player } from "./player";
import { reportPage } from "./report";

declare global { interface Window { handhold?: { player?: Player; live?: Live; hand?: HandLive; ready: boolean } } }

async function main(): Promise<void> {
  const data = await pageData();
  window.handhold = { ready: false };
  if (data.page === "scene") {
    document.title = data.scene.title;
    const player = new Player(data.scene);
    document.body.append(player.element);
    player.start();
    window.handhold.player = player;
  } else if (data.page === "report") {
    document.title = data.report.title;
    const player = data.scene ? new Player(data.scene, { compact: true }) : null;
    document.body.append(reportPage(data.report, player?.element ?? null, data.library));
    player?.start();
    window.handhold.player = player ?? undefined;
  } else if (data.page === "library") {
    const library = new Library();
    document.body.append(library.element);
    await library.start();
  } else if (data.page === "hand") {
    const hand = new HandLive();
    document.body.append(hand.element);
    hand.start();
    window.handhold.hand = hand;
  } else if (data.page === "live") {
    document.title = "Live";
    const live = new Live();
    document.body.append(live.element);
    live.start();
    window.handhold.live = live;
  } else {
    throw new Error(`this page does not know '${(data as { page: string }).page}'`);
  }
  window.handhold.ready = true;
}

main().catch((error: unknown) => {
  document.body.append(h("p", { class: "failure", role: "alert" }, String(error instanceof Error ? error.message : error)));
  console.error(error);
});
