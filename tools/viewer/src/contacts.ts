/** Contacts of one motion: points, arrows of the forces on the hand, and friction cones. */

import {
  BufferAttribute, BufferGeometry, ConeGeometry, CylinderGeometry, DoubleSide, Group, InstancedMesh, Matrix4,
  MeshBasicMaterial, MeshStandardMaterial, Quaternion, SphereGeometry, Vector3,
} from "three";
import { between, decode, indexAt, type Contacts } from "./scene";

const kShaft_m = 0.0009, kHead_m = 0.0024, kHeadLength_m = 0.006, kCone_m = 0.012, kPoint_m = 0.0016;
const kMost = 64; // rows of one frame that are drawn
const kUp = new Vector3(0, 1, 0);
const kStick = "#0b7285", kSlip = "#d9480f";
const kSlips_m_per_s = 1e-3; // faster is slip, as the published protocols have it

function openCone(): BufferGeometry { // apex at 0, opening along +y, half angle 45 degrees: scaled per row
  const sides = 24, p: number[] = [];
  for (let i = 0; i < sides; ++i) {
    const a = (2 * Math.PI * i) / sides, b = (2 * Math.PI * (i + 1)) / sides;
    p.push(0, 0, 0, Math.cos(a), 1, Math.sin(a), Math.cos(b), 1, Math.sin(b));
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(new Float32Array(p), 3));
  return geometry;
}

export class ContactMarks {
  readonly root = new Group();
  readonly total = new Vector3(); // N, on the hand, of the frame shown
  m_per_N = 0.01; // 1 cm = 1 N
  onObject = false; // arrows show the force of the hand on what it touches, not that on the hand
  private times: Float64Array = new Float64Array();
  private p: Float64Array[] = []; private n: Float64Array[] = []; private f: Float64Array[] = [];
  private friction: Float64Array | null = null; private slip: Float64Array | null = null;
  private first = new Int32Array(1); // of each frame, its first row
  private shafts: InstancedMesh; private heads: InstancedMesh; private cones: InstancedMesh;
  private points: InstancedMesh; private slipping: InstancedMesh;
  private at = -1;

  constructor(contacts: Contacts, times: Float64Array) {
    this.take(contacts, times);
    // Forces lie inside what touches: they are drawn over it.
    const red = new MeshStandardMaterial(
      { color: "#c92a2a", roughness: 0.5, emissive: "#c92a2a", emissiveIntensity: 0.3, depthTest: false, transparent: true });
    const instances = (geometry: BufferGeometry, material: MeshBasicMaterial | MeshStandardMaterial) => {
      const mesh = new InstancedMesh(geometry, material, kMost);
      mesh.frustumCulled = false;
      mesh.count = 0;
      this.root.add(mesh);
      return mesh;
    };
    this.shafts = instances(new CylinderGeometry(kShaft_m, kShaft_m, 1, 10).translate(0, 0.5, 0), red);
    this.heads = instances(new ConeGeometry(kHead_m, kHeadLength_m, 14).translate(0, -kHeadLength_m / 2, 0), red);
    this.cones = instances(openCone(), new MeshBasicMaterial(
      { color: "#e67700", transparent: true, opacity: 0.4, side: DoubleSide, depthWrite: false, depthTest: false }));
    this.points = instances(new SphereGeometry(kPoint_m, 12, 8), new MeshBasicMaterial({ color: kStick, depthTest: false }));
    this.slipping = instances(new SphereGeometry(kPoint_m * 1.3, 12, 8), new MeshBasicMaterial({ color: kSlip, depthTest: false }));
    this.cones.renderOrder = 1;
    this.shafts.renderOrder = this.heads.renderOrder = 2;
    this.points.renderOrder = this.slipping.renderOrder = 3;
    this.cones.visible = false;
  }

  /** These rows from now on. */
  take(contacts: Contacts, times: Float64Array): void {
    this.times = times;
    const frame = decode(contacts.frame);
    this.p = contacts.p.map(decode); this.n = contacts.n.map(decode); this.f = contacts.f.map(decode);
    this.friction = contacts.friction ? decode(contacts.friction) : null;
    this.slip = contacts.slip ? decode(contacts.slip) : null;
    this.first = new Int32Array(times.length + 1);
    for (let k = 0, row = 0; k <= times.length; ++k) {
      while (row < frame.length && frame[row] < k) ++row;
      this.first[k] = row;
    }
    this.at = -1;
  }

  /** Rows of the frame that is nearest to `t`; contact does not last between frames. */
  move(t: number): void {
    const { i, u } = between(this.times, t);
    const k = u > 0.5 ? i + 1 : i;
    const outside = this.times.length === 0 || t < this.times[0] - 0.02 || indexAt(this.times, t - 0.02) >= this.times.length - 1;
    if (k === this.at && !outside) return;
    this.at = k;
    this.draw(outside ? 0 : this.first[k], outside ? 0 : this.first[k + 1]);
  }

  redraw(): void { const k = this.at; if (k >= 0) this.draw(this.first[k], this.first[k + 1]); }

  private draw(begin: number, end: number): void {
    const at = new Vector3(), f = new Vector3(), n = new Vector3(), to = new Quaternion(), scale = new Vector3();
    const matrix = new Matrix4();
    let arrows = 0, sticks = 0, slips = 0, cones = 0;
    this.total.set(0, 0, 0);
    for (let row = begin; row < end && row - begin < kMost; ++row) {
      at.set(this.p[0][row], this.p[1][row], this.p[2][row]);
      f.set(this.f[0][row], this.f[1][row], this.f[2][row]);
      n.set(this.n[0][row], this.n[1][row], this.n[2][row]);
      if (!Number.isFinite(at.x)) continue;
      this.total.add(f);
      const size = f.length() * this.m_per_N;
      matrix.makeTranslation(at.x, at.y, at.z);
      if (this.slip && this.slip[row] > kSlips_m_per_s) this.slipping.setMatrixAt(slips++, matrix);
      else this.points.setMatrixAt(sticks++, matrix);
      if (size > 1e-4) {
        f.normalize();
        if (this.onObject) f.negate();
        to.setFromUnitVectors(kUp, f);
        const head = Math.min(1, size / kHeadLength_m);
        matrix.compose(at, to, scale.set(1, Math.max(1e-5, size - kHeadLength_m * head * 0.8), 1));
        this.shafts.setMatrixAt(arrows, matrix);
        matrix.compose(at.clone().addScaledVector(f, size), to, scale.set(head, head, head));
        this.heads.setMatrixAt(arrows++, matrix);
      }
      const mu = this.friction ? this.friction[row] : NaN;
      if (Number.isFinite(mu) && n.lengthSq() > 0.5) {
        // Forces on the hand that do not slip lie in it: half angle atan(mu) around the normal.
        to.setFromUnitVectors(kUp, n);
        matrix.compose(at, to, scale.set(kCone_m * mu, kCone_m, kCone_m * mu));
        this.cones.setMatrixAt(cones++, matrix);
      }
    }
    const show = (mesh: InstancedMesh, count: number) => { mesh.count = count; mesh.instanceMatrix.needsUpdate = true; };
    show(this.shafts, arrows); show(this.heads, arrows); show(this.cones, cones);
    show(this.points, sticks); show(this.slipping, slips);
  }

  setScale(m_per_N: number): void { this.m_per_N = m_per_N; this.redraw(); }
  setOnObject(on: boolean): void { this.onObject = on; this.redraw(); }
  showForces(on: boolean): void { this.shafts.visible = this.heads.visible = on; }
  showPoints(on: boolean): void { this.points.visible = this.slipping.visible = on; }
  showCones(on: boolean): void { this.cones.visible = on; }
  get arrows(): number { return this.shafts.count; } // drawn now
}
