/** The picture: stages, light, floor, cameras; one view of all motions, or one beside the other. */

import {
  AmbientLight, Box3, Color, DirectionalLight, GridHelper, HemisphereLight, InstancedMesh, Mesh, Object3D,
  PerspectiveCamera, Raycaster, Scene, Spherical, Vector2, Vector3, WebGLRenderer,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { h } from "./dom";
import type { Stage } from "./stage";

export const kPresets = ["front", "back", "left", "right", "top", "below", "oblique"] as const;
export type Preset = (typeof kPresets)[number];
const kDirections: Record<Preset, [number, number, number]> = {
  front: [1, 0, 0.15], back: [-1, 0, 0.15], left: [0, 1, 0.15], right: [0, -1, 0.15],
  top: [-0.001, 0, 1], below: [-0.001, 0, -1], oblique: [0.55, -1, 0.6],
};

export class View {
  readonly element = h("div", { class: "view" });
  readonly camera = new PerspectiveCamera(30, 1, 0.005, 20);
  readonly controls: OrbitControls;
  readonly renderer: WebGLRenderer | null; // null: the browser has no WebGL
  private surface: HTMLElement; // what is dragged and clicked
  private scene = new Scene();
  private labels: HTMLElement[] = [];
  private grid: GridHelper;
  private home = new Box3(new Vector3(-0.1, -0.1, -0.1), new Vector3(0.1, 0.1, 0.1));
  side = false;
  dirty = true;
  onSelect: (name: string) => void = () => {};

  constructor(readonly stages: Stage[]) {
    this.renderer = makeRenderer();
    this.surface = this.renderer?.domElement ?? h("p", { class: "nopicture", role: "alert" },
      "No picture: this browser has no WebGL. Plots, timeline and tables work without it.");
    this.element.append(this.surface);
    this.camera.up.set(0, 0, 1);
    this.camera.layers.enableAll();
    this.scene.background = new Color("#e9ecef");
    this.scene.add(new HemisphereLight("#ffffff", "#8d99a6", 1.6), new AmbientLight("#ffffff", 0.35));
    const sun = new DirectionalLight("#ffffff", 2.2);
    sun.position.set(0.4, -0.6, 1);
    this.scene.add(sun);
    this.grid = new GridHelper(0.5, 50, "#adb5bd", "#d3d8dd"); // centimetres
    this.grid.rotation.x = Math.PI / 2;
    this.scene.add(this.grid);
    for (const stage of stages) this.scene.add(stage.root);
    this.scene.traverse((object) => { if ((object as any).isLight) object.layers.enableAll(); });
    this.grid.layers.enableAll();
    this.controls = new OrbitControls(this.camera, this.surface);
    this.controls.enableDamping = false;
    this.controls.addEventListener("change", () => (this.dirty = true));
    if (stages.length > 1) {
      for (const stage of stages) {
        const label = h("div", { class: "label" }, stage.motion.name);
        this.labels.push(label);
        this.element.append(label);
      }
    }
    new ResizeObserver(() => this.resize()).observe(this.element);
    this.listenForSelection();
  }

  private resize(): void {
    const { clientWidth: w, clientHeight: hgt } = this.element;
    if (w === 0 || hgt === 0) return;
    this.renderer?.setPixelRatio(Math.min(2, window.devicePixelRatio || 1));
    this.renderer?.setSize(w, hgt);
    this.dirty = true;
  }

  private listenForSelection(): void {
    let from = { x: 0, y: 0 };
    const canvas = this.surface;
    canvas.addEventListener("pointerdown", (e) => (from = { x: e.clientX, y: e.clientY }));
    canvas.addEventListener("pointerup", (e) => {
      if (Math.hypot(e.clientX - from.x, e.clientY - from.y) < 4) this.onSelect(this.pick(e.clientX, e.clientY));
    });
  }

  /** Rectangles of the views: x, y from the bottom, width, height, in CSS pixels. */
  private panes(): { x: number; y: number; w: number; h: number; stages: Stage[] }[] {
    const { clientWidth: w, clientHeight: hgt } = this.element;
    if (!this.side || this.stages.length < 2) return [{ x: 0, y: 0, w, h: hgt, stages: this.stages }];
    const n = this.stages.length, wide = w >= hgt;
    return this.stages.map((stage, i) => wide
      ? { x: (w * i) / n, y: 0, w: w / n, h: hgt, stages: [stage] }
      : { x: 0, y: hgt - (hgt * (i + 1)) / n, w, h: hgt / n, stages: [stage] });
  }

  pick(clientX: number, clientY: number): string {
    const box = this.element.getBoundingClientRect();
    const x = clientX - box.left, y = box.bottom - clientY;
    const pane = this.panes().find((p) => x >= p.x && x < p.x + p.w && y >= p.y && y < p.y + p.h);
    if (!pane) return "";
    const ray = new Raycaster();
    ray.layers.enableAll();
    this.camera.aspect = pane.w / pane.h;
    this.camera.updateProjectionMatrix();
    ray.setFromCamera(new Vector2(((x - pane.x) / pane.w) * 2 - 1, ((y - pane.y) / pane.h) * 2 - 1), this.camera);
    for (const hit of ray.intersectObjects(pane.stages.map((s) => s.root), true)) {
      if (!shownInTree(hit.object)) continue;
      if (hit.object instanceof InstancedMesh) {
        const name = hit.object.userData.names?.[hit.instanceId ?? -1];
        if (name) return name;
      } else if (hit.object instanceof Mesh && hit.object.userData.name) return hit.object.userData.name;
    }
    return "";
  }

  render(): void {
    const renderer = this.renderer;
    renderer?.setScissorTest(true);
    this.panes().forEach((pane, i) => {
      this.camera.aspect = pane.w / Math.max(1, pane.h);
      this.camera.updateProjectionMatrix();
      renderer?.setViewport(pane.x, pane.y, pane.w, pane.h);
      renderer?.setScissor(pane.x, pane.y, pane.w, pane.h);
      if (this.side) { this.camera.layers.set(0); this.camera.layers.enable(this.stages.indexOf(pane.stages[0]) + 1); }
      else this.camera.layers.enableAll();
      renderer?.clear();
      renderer?.render(this.scene, this.camera);
      const label = this.labels[i];
      if (label) label.style.cssText = `left:${pane.x + 8}px;bottom:${pane.y + 6}px;max-width:${pane.w - 16}px`;
    });
    this.labels.forEach((label, i) => (label.style.display = this.side || i < 0 ? "block" : "none"));
    this.dirty = false;
  }

  /** What fits in the picture from the start: where hands and small things are over the whole motion. */
  setHome(box: Box3, floor: number): void {
    if (!box.isEmpty()) this.home = box;
    const centre = this.home.getCenter(new Vector3());
    this.grid.position.set(Math.round(centre.x * 100) / 100, Math.round(centre.y * 100) / 100, floor);
  }
  /** From where the home box fills a pane, m. */
  get homeDistance(): number {
    const radius = Math.max(0.04, this.home.getSize(new Vector3()).length() / 2);
    const wide = this.element.clientWidth / Math.max(1, this.element.clientHeight) / (this.side ? this.stages.length : 1);
    return (radius * 1.05) / Math.sin((this.camera.fov * Math.PI) / 360) / Math.min(1, Math.max(0.4, wide));
  }
  preset(name: Preset): void {
    const centre = this.home.getCenter(new Vector3());
    const direction = new Vector3(...kDirections[name]).normalize();
    this.controls.target.copy(centre);
    this.camera.position.copy(centre).addScaledVector(direction, this.homeDistance);
    this.controls.update();
    this.dirty = true;
  }
  get place(): number[] { return [...this.camera.position.toArray(), ...this.controls.target.toArray()]; }
  set place(list: number[]) {
    this.camera.position.fromArray(list);
    this.controls.target.fromArray(list, 3);
    this.controls.update();
    this.dirty = true;
  }
  /** Turns about the vertical through the target: the moving picture of the README is made by it. */
  turn(angle: number): void {
    const from = this.camera.position.clone().sub(this.controls.target).applyAxisAngle(new Vector3(0, 0, 1), angle);
    this.camera.position.copy(this.controls.target).add(from);
    this.controls.update();
    this.dirty = true;
  }
  /** Lifts the eye on its circle around the target, short of straight above and straight below. */
  tilt(angle: number): void {
    const from = new Spherical().setFromVector3(upright(this.camera.position.clone().sub(this.controls.target)));
    from.phi = Math.min(Math.PI - 0.01, Math.max(0.01, from.phi - angle));
    this.camera.position.setFromSpherical(from).applyAxisAngle(new Vector3(1, 0, 0), Math.PI / 2).add(this.controls.target);
    this.controls.update();
    this.dirty = true;
  }
  /** The distance to the target, times `factor`. */
  zoom(factor: number): void {
    this.camera.position.sub(this.controls.target).multiplyScalar(factor).add(this.controls.target);
    this.controls.update();
    this.dirty = true;
  }
  showGrid(on: boolean): void { this.grid.visible = on; this.dirty = true; }
  get gridShown(): boolean { return this.grid.visible; }
  setDark(dark: boolean): void { this.scene.background = new Color(dark ? "#1b2127" : "#e9ecef"); this.dirty = true; }
  png(): Promise<Blob> {
    this.render();
    return new Promise((resolve, reject) =>
      this.renderer
        ? this.renderer.domElement.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no picture"))), "image/png")
        : reject(new Error("no picture without WebGL")));
  }
  /** What draws: "ANGLE (Google, Vulkan 1.3.0 (SwiftShader Device ...". */
  rendererName(): string {
    if (!this.renderer) return "none";
    const gl = this.renderer.getContext();
    const info = gl.getExtension("WEBGL_debug_renderer_info");
    return String(gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  }
}

/** Z up, as Spherical has Y. */
function upright(v: Vector3): Vector3 { return v.applyAxisAngle(new Vector3(1, 0, 0), -Math.PI / 2); }

function makeRenderer(): WebGLRenderer | null {
  try {
    const renderer = new WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
    renderer.autoClear = false;
    return renderer;
  } catch (error) {
    console.warn(String(error));
    return null;
  }
}

function shownInTree(object: Object3D): boolean {
  for (let o: Object3D | null = object; o; o = o.parent) if (!o.visible) return false;
  return true;
}
