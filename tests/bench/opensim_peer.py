#!/usr/bin/env python3
"""OpenSim's inverse kinematics on a hand of schemas/hands, for opensim_bench.cc.

Builds the tree with OpenSim's API from the skeleton file (none of Handhold's code reads it here), tracks the marker frames
with InverseKinematicsSolver, and prints one line on stdout:

    VERSION FRAMES_PER_S MARKER_RMS_mm CENTRES_mm

CENTRES_mm: the largest distance between a joint's centre here and in `--centres`, over joints and frames. Frame 0 is where
both sides start; it is assembled, not tracked, and not counted. Only the tracking is timed.

Files are text: the first line names the columns, every further line is one frame, x y z in m per name, world frame.
"""
import argparse
import json
import math
import sys
import time

import numpy as np
import opensim


def read_frames(path):
    with open(path) as lines:
        names = lines.readline().split()
        values = np.loadtxt(lines, ndmin=2)
    return names, values.reshape(len(values), len(names), 3)


def rotation(rotvec_rad):
    """Rodrigues: turn about the vector by its length."""
    angle = np.linalg.norm(rotvec_rad)
    if angle == 0:
        return np.eye(3)
    x, y, z = rotvec_rad / angle
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + math.sin(angle) * k + (1 - math.cos(angle)) * (k @ k)


def body_xyz(r):
    """The angles by which OpenSim's frames say an orientation: r = Rx(a) Ry(b) Rz(c). At b = +-90 degrees, where hinges about y
    land, only a + c or a - c is told: c then makes up for whatever a came out as."""
    a = math.atan2(-r[1, 2], r[2, 2])
    back = np.array([[1, 0, 0], [0, math.cos(a), math.sin(a)], [0, -math.sin(a), math.cos(a)]]) @ r   # Ry(b) Rz(c)
    return opensim.Vec3(a, math.atan2(back[0, 2], back[2, 2]), math.atan2(back[1, 0], back[1, 1]))


def vec3(v):
    return opensim.Vec3(*(float(x) for x in v))


def joint_axes(joint):
    """The joint's own frame in its zero pose: OpenSim turns a PinJoint about z, a UniversalJoint about x and then y."""
    if joint['type'] == 'hinge':
        z = np.array(joint['axis'])
        x = np.cross([0, 0, 1] if abs(z[2]) < 0.9 else [1, 0, 0], z)
        x /= np.linalg.norm(x)
        return np.column_stack([x, np.cross(z, x), z])
    if joint['type'] == 'universal':
        x, y = np.array(joint['axis']), np.array(joint['axis2'])
        if abs(x @ y) > 1e-12:
            sys.exit(f"opensim_peer: the axes of {joint['name']} are not at right angles: a UniversalJoint cannot be this joint")
        return np.column_stack([x, y, np.cross(x, y)])
    return np.eye(3)


JOINTS = {'free': opensim.FreeJoint, 'fixed': opensim.WeldJoint, 'hinge': opensim.PinJoint, 'universal': opensim.UniversalJoint}


def build(skeleton, marker_set):
    model = opensim.Model()
    model.setName(skeleton['name'])
    bodies, joints = {'W': model.getGround()}, {}
    for entry in skeleton['bodies']:
        said = entry['joint']
        if said.keys() & {'child_pose'}:
            sys.exit(f"opensim_peer: {said['name']} has a pose in its child, which is not built here")
        # The masses play no part in kinematics; OpenSim wants some.
        body = opensim.Body(entry['name'], 0.01, opensim.Vec3(0), opensim.Inertia(1e-6, 1e-6, 1e-6, 0, 0, 0))
        pose = said.get('parent_pose', {})
        turn = rotation(np.radians(pose.get('rotvec_deg', [0, 0, 0])))
        axes = joint_axes(said)
        joint = JOINTS[said['type']](said['name'], bodies[entry['parent']], vec3(pose.get('p_m', [0, 0, 0])), body_xyz(turn @ axes),
                                     body, opensim.Vec3(0), body_xyz(axes))
        model.addBody(body)
        model.addJoint(joint)
        bodies[entry['name']], joints[said['name']] = body, joint
    places = {m['name']: m for m in skeleton['markers']}
    for name in skeleton['marker_sets'][marker_set]:
        model.addMarker(opensim.Marker(name, bodies[places[name]['body']], vec3(places[name]['p_m'])))
    return model, joints


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--skeleton', required=True)
    parser.add_argument('--marker-set', required=True)
    parser.add_argument('--markers', required=True, help='marker frames, the input')
    parser.add_argument('--centres', required=True, help='joint centres of another fit, to compare with')
    parser.add_argument('--accuracy', type=float, default=1e-5, help="of the solver; default: InverseKinematicsTool's own")
    options = parser.parse_args()

    opensim.Logger.setLevelString('error')
    with open(options.skeleton) as file:
        skeleton = json.load(file)
    model, joints = build(skeleton, options.marker_set)
    state = model.initSystem()

    names, markers = read_frames(options.markers)
    if set(names) != set(skeleton['marker_sets'][options.marker_set]):
        sys.exit('opensim_peer: the frames do not hold the markers of the set')
    columns, theirs = read_frames(options.centres)
    if set(columns) != set(joints) or len(theirs) != len(markers):
        sys.exit('opensim_peer: the centres are not those of this skeleton and these frames')

    table = opensim.TimeSeriesTableVec3()
    table.setColumnLabels(names)
    rate = 500.0
    for k, frame in enumerate(markers):
        table.appendRow(k / rate, opensim.RowVectorVec3([vec3(p) for p in frame]))
    table.addTableMetaDataString('DataRate', str(rate))
    table.addTableMetaDataString('Units', 'm')
    weights = opensim.SetMarkerWeights()
    for name in names:
        weights.cloneAndAppend(opensim.MarkerWeight(name, 1.0))
    solver = opensim.InverseKinematicsSolver(model, opensim.MarkersReference(table, weights),
                                             opensim.SimTKArrayCoordinateReference(), math.inf)
    solver.setAccuracy(options.accuracy)
    state.setTime(0)
    solver.assemble(state)
    if solver.getNumMarkersInUse() != len(names):
        sys.exit('opensim_peer: OpenSim uses only some of the markers')
    seconds, squares, farthest = 0.0, 0.0, 0.0
    for k in range(1, len(markers)):
        state.setTime(k / rate)
        began = time.perf_counter()
        solver.track(state)
        seconds += time.perf_counter() - began
        model.realizePosition(state)
        for column, name in enumerate(names):
            placed = model.getMarkerSet().get(name).getLocationInGround(state).to_numpy()
            squares += float(np.sum((placed - markers[k, column]) ** 2))
        for column, name in enumerate(columns):
            centre = joints[name].getParentFrame().getPositionInGround(state).to_numpy()
            farthest = max(farthest, float(np.linalg.norm(centre - theirs[k, column])))
    frames = len(markers) - 1
    print(opensim.GetVersion(), repr(frames / seconds), repr(1e3 * math.sqrt(squares / (frames * len(names)))), repr(1e3 * farthest))


main()
