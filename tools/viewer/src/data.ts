/** What the page was made with: its data, packed into the page itself or asked of the server that gave the page. */

import type { Report } from "./report";
import type { Scene } from "./scene";

export type PageData =
  | { page: "scene"; scene: Scene }
  | { page: "report"; report: Report; scene: Scene | null; library?: string }
  | { page: "library" }
  | { page: "hand" }
  | { page: "live" };

/** base64 of zlib bytes of JSON. */
export async function unpack(text: string): Promise<unknown> {
  const binary = atob(text);
  const bytes = Uint8Array.from(binary, (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

export async function pageData(): Promise<PageData> {
  const element = document.getElementById("handhold-data");
  const text = element?.textContent?.trim() ?? "";
  if (text === "" || text.startsWith("@@")) throw new Error("this page holds no data: 'handhold show' makes pages that do");
  return (await unpack(text)) as PageData;
}
