/** One motion as three.js objects: nodes that follow their tracks, markers, and what stands for each thing. */

import {
  Box3, BoxGeometry, BufferAttribute, BufferGeometry, CapsuleGeometry, Color, CylinderGeometry, Group, InstancedMesh,
  Matrix4, Mesh, MeshStandardMaterial, Object3D, Quaternion, SphereGeometry, Vector3,
} from "three";
import { between, decode, type Contacts, type Motion, type Quat, type Scene, type SceneNode, type Shape, type Track, type Vec } from "./scene";
import { ContactMarks } from "./contacts";

/** Colours of hands by where the motion comes from; told apart by people who see no red or green too. */
export const kSourceColours = { captured: "#4a90c2", fitted: "#c98f6b", synthesised: "#7a6fc4", reference: "#6b9a5b" };
const kPropColour = "#a8b0b8";
const kMarkerColour = "#1864ab";
const kMarkerRadius_m = 0.0025, kBone_m = 0.0035;

/** x y z, then w x y z. */
export type Placed = [number, number, number, number, number, number, number];

export interface Geometries { shapes: BufferGeometry[] }

/** Geometry of every shape once, shared by all motions. */
export function makeGeometries(scene: Scene): Geometries {
  const meshes = scene.meshes.map((mesh) => {
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(Float32Array.from(decode(mesh.p)), 3));
    geometry.setIndex(new BufferAttribute(Uint32Array.from(decode(mesh.i)), 1));
    const flat = geometry.toNonIndexed(); // edges of a tool stay edges
    flat.computeVertexNormals();
    return flat;
  });
  const make = (shape: Shape): BufferGeometry => {
    switch (shape.kind) {
      case "sphere": return new SphereGeometry(shape.r, 24, 16);
      case "capsule": return new CapsuleGeometry(shape.r, shape.l, 8, 20).rotateX(Math.PI / 2);
      case "cylinder": return new CylinderGeometry(shape.r, shape.r, shape.l, 32).rotateX(Math.PI / 2);
      case "box": return new BoxGeometry(...shape.size);
      case "mesh": return meshes[shape.mesh];
    }
  };
  return { shapes: scene.shapes.map(make) };
}

class Mover {
  private p: Float64Array[] | null;
  private q: Float64Array[] | null;
  constructor(track: Track, private times: Float64Array, private object: Object3D) {
    this.p = track.p ? track.p.map(decode) : null;
    this.q = track.q ? track.q.map(decode) : null;
  }
  /** Between frames: positions along the line, rotations along the shorter way. */
  move(t: number): void {
    const { i, u } = between(this.times, t);
    const j = u > 0 ? i + 1 : i;
    if (this.p) {
      const [x, y, z] = this.p;
      this.object.position.set(x[i] + u * (x[j] - x[i]), y[i] + u * (y[j] - y[i]), z[i] + u * (z[j] - z[i]));
    }
    if (this.q) {
      const [w, x, y, z] = this.q;
      const dot = w[i] * w[j] + x[i] * x[j] + y[i] * y[j] + z[i] * z[j];
      const a = 1 - u, b = dot < 0 ? -u : u;
      this.object.quaternion.set(a * x[i] + b * x[j], a * y[i] + b * y[j], a * z[i] + b * z[j], a * w[i] + b * w[j]).normalize();
    }
    // A frame that is missing shows nothing rather than something.
    this.object.visible = !this.p || Number.isFinite(this.object.position.x);
  }
}

class MarkerCloud {
  readonly mesh: InstancedMesh;
  private p: Float64Array[];
  private matrix = new Matrix4();
  constructor(motion: Motion, private times: Float64Array, colour: string) {
    const markers = motion.markers!;
    this.p = markers.p.map(decode);
    this.mesh = new InstancedMesh(new SphereGeometry(kMarkerRadius_m, 12, 8),
      new MeshStandardMaterial({ color: colour, roughness: 0.4, emissive: colour, emissiveIntensity: 0.3 }), markers.names.length);
    this.mesh.frustumCulled = false;
    this.mesh.userData.names = markers.names.map((name) => `marker ${name}`);
  }
  /** The nearest frame's measurement: nothing is filled in between, and what is missing is not drawn. */
  move(t: number): void {
    const { i, u } = between(this.times, t);
    const k = u > 0.5 ? i + 1 : i;
    const count = this.mesh.count;
    for (let m = 0; m < count; ++m) {
      const x = this.p[3 * m][k], y = this.p[3 * m + 1][k], z = this.p[3 * m + 2][k];
      if (Number.isFinite(x + y + z)) this.matrix.makeTranslation(x, y, z);
      else this.matrix.makeScale(0, 0, 0);
      this.mesh.setMatrixAt(m, this.matrix);
    }
    this.mesh.instanceMatrix.needsUpdate = true;
  }
  /** Takes in the markers that are drawn now: not those that are missing, which stand at the origin without a size. */
  box(box: Box3): Box3 {
    const p = new Vector3();
    for (let m = 0; m < this.mesh.count; ++m) {
      this.mesh.getMatrixAt(m, this.matrix);
      if (this.matrix.elements[0] !== 0) box.expandByPoint(p.setFromMatrixPosition(this.matrix));
    }
    return box;
  }
}

function place(object: Object3D, p?: Vec, q?: Quat): void {
  if (p) object.position.set(...p);
  if (q) object.quaternion.copy(new Quaternion(q[1], q[2], q[3], q[0]));
}

export class Stage {
  readonly root = new Group();
  readonly nodes: Object3D[] = []; // frames of scene nodes, after their moves
  contacts: ContactMarks | null;
  readonly markers: MarkerCloud | null;
  private movers: Mover[] = [];
  private things: Object3D[][]; // meshes of each thing
  private materials: MeshStandardMaterial[][];

  constructor(readonly motion: Motion, index: number, geometries: Geometries, times: Float64Array[]) {
    this.root.name = motion.name;
    this.things = motion.things.map(() => []);
    this.materials = motion.things.map(() => []);
    const colours = motion.things.map((thing) =>
      new Color(thing.role === "hand" ? kSourceColours[motion.source] : kPropColour));
    for (const node of motion.nodes) this.addNode(node, geometries, times, colours);
    this.addBones(colours);
    this.markers = motion.markers ? new MarkerCloud(motion, times[motion.markers.time], kMarkerColour) : null;
    if (this.markers) this.root.add(this.markers.mesh);
    this.contacts = motion.contacts ? new ContactMarks(motion.contacts, times[motion.contacts.time]) : null;
    if (this.contacts) this.root.add(this.contacts.root);
    this.root.traverse((object) => object.layers.set(index + 1));
  }

  private addNode(node: SceneNode, geometries: Geometries, times: Float64Array[], colours: Color[]): void {
    const frame = new Group(); // fixed in the parent
    place(frame, node.p, node.q);
    (node.parent < 0 ? this.root : this.nodes[node.parent]).add(frame);
    let moved: Object3D = frame;
    if (node.move) {
      moved = new Group();
      frame.add(moved);
      this.movers.push(new Mover(node.move, times[node.move.time], moved));
    }
    moved.name = node.name;
    this.nodes.push(moved);
    for (const shape of node.shapes ?? []) {
      const role = this.motion.things[node.thing].role;
      const material = new MeshStandardMaterial({
        color: colours[node.thing], roughness: role === "hand" ? 0.65 : 0.8, metalness: 0,
        flatShading: false,
      });
      const mesh = new Mesh(geometries.shapes[shape.shape], material);
      place(mesh, shape.p, shape.q);
      mesh.userData.name = node.name;
      mesh.userData.thing = node.thing;
      moved.add(mesh);
      this.things[node.thing].push(mesh);
      this.materials[node.thing].push(material);
    }
  }

  /** Thin links from joint to joint and to the shapes, where a hand's own shapes leave them bare; for the eye only. */
  private addBones(colours: Color[]): void {
    this.motion.nodes.forEach((node, i) => {
      if (this.motion.things[node.thing].role !== "hand") return;
      if (node.parent >= 0 && node.p) this.addBone(node.parent, node.thing, node.p, colours);
      for (const shape of node.shapes ?? []) if (shape.p) this.addBone(i, node.thing, shape.p, colours);
    });
  }
  private addBone(node: number, thing: number, p: Vec, colours: Color[]): void {
    const to = new Vector3(...p), length = to.length();
    if (length < 0.004) return;
    const material = new MeshStandardMaterial({ color: colours[thing].clone().multiplyScalar(0.85), roughness: 0.8 });
    const bone = new Mesh(new CapsuleGeometry(kBone_m, length, 4, 10), material);
    bone.position.copy(to).multiplyScalar(0.5);
    bone.quaternion.setFromUnitVectors(new Vector3(0, 1, 0), to.normalize());
    bone.userData.name = this.motion.nodes[node].name;
    this.nodes[node].add(bone);
    this.things[thing].push(bone);
    this.materials[thing].push(material);
  }

  /** Everything where it is at `t`. */
  move(t: number): void {
    for (const mover of this.movers) mover.move(t);
    this.markers?.move(t);
    this.contacts?.move(t);
  }
  /** Where a simulation says that every node is in its parent now. Of a motion without tracks. */
  place(places: Placed[], contacts: Contacts): void {
    this.nodes.forEach((node, i) => {
      const [x, y, z, qw, qx, qy, qz] = places[i];
      node.position.set(x, y, z);
      node.quaternion.set(qx, qy, qz, qw);
    });
    this.contacts?.take(contacts, Float64Array.of(0));
    this.contacts?.move(0);
  }
  /** A ghost lets what it covers shine through. */
  setGhost(ghost: boolean): void {
    for (const list of this.materials) {
      for (const material of list) {
        material.transparent = ghost;
        material.opacity = ghost ? 0.35 : 1;
        material.depthWrite = !ghost;
        material.needsUpdate = true;
      }
    }
  }
  showThing(thing: number, visible: boolean): void {
    for (const mesh of this.things[thing]) mesh.visible = visible;
  }
  setTransparent(transparent: boolean): void {
    this.motion.things.forEach((thing, k) => {
      if (thing.role !== "hand") return;
      for (const material of this.materials[k]) {
        material.transparent = transparent;
        material.opacity = transparent ? 0.45 : 1;
        material.needsUpdate = true;
      }
    });
  }
  /** Marks the part called `name`; "" marks none. */
  select(name: string): void {
    this.things.forEach((meshes, thing) => meshes.forEach((mesh, k) => {
      const on = name !== "" && (mesh.userData.name === name || this.motion.things[thing].name === name);
      this.materials[thing][k].emissive.set(on ? "#b06a00" : "#000000");
    }));
  }
  /** Sum of the forces on the hand now, N. */
  force(): Vector3 { return this.contacts ? this.contacts.total.clone() : new Vector3(); }
}
