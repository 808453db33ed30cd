// Where boxes and lines are: sizes from what is written in them, a question for the layout, and what its answer means.
import type { ElkExtendedEdge, ElkNode, ElkPort } from 'elkjs/lib/elk-api';

import { listed, type Box, type Line } from './boxes';
import type { Change, Port, Sign } from './model';

/** A port of a box, as it is written. */
export interface Cell {
  index: number;
  name: string;
  type: string;
  hole: boolean;
  sign?: Sign;
  was?: string;
  x: number;
  width: number;
}

/** A box with its place. */
export interface Placed {
  box: Box;
  x: number;
  y: number;
  width: number;
  height: number;
  /** How many boxes are around it. */
  depth: number;
  inputs: Cell[];
  outputs: Cell[];
}

/** A line with its way. */
export interface Route {
  line: Line;
  points: { x: number; y: number }[];
}

/** Everything that is drawn. */
export interface Picture {
  boxes: Placed[];
  routes: Route[];
  width: number;
  height: number;
}

/** Heights in pixels; the style sheet has the same. */
export const TITLE = 26;
export const PORTS = 18;
const CHARACTER = 7.3;
const SMALL = 6.1;
const INSET = 14;
const NARROWEST = 46;
/** More characters of a title than these are cut off; the details have all. */
const LONGEST = 44;
/** The same of the name and of the type of a port; what lies over it has all. */
const LONGEST_OF_PORT = 24;

function cut(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
}

/** A title as it fits. */
export function fitting(title: string): string {
  return cut(title, LONGEST);
}

/** What is written in a port: its name and its type, as they fit. */
export function writtenIn({ name, type }: { name: string; type: string }): { name: string; type: string } {
  return { name: cut(name, LONGEST_OF_PORT), type: cut(type, LONGEST_OF_PORT) };
}

/** What is written in the title of a box. */
export function titleOf(box: Box): string {
  switch (box.type) {
    case 'node':
    case 'owner':
      return fitting(box.node.label ? `${box.node.label} = ${box.node.title}` : box.node.title);
    case 'region':
    case 'segment':
      return fitting(box.title);
    case 'params':
      return '';
  }
}

/** What became of what a box stands for. */
export function changeOf(box: Box): Change | undefined {
  return 'node' in box ? box.node.change : box.type === 'region' ? box.change : undefined;
}

/** What differs at a node, in a row of its own; the details have all. */
export function alteredOf(box: Box): string {
  const altered = 'node' in box ? (box.node.change?.altered ?? []) : [];
  const [first] = altered;
  if (!first) return '';
  const more = altered.length > 1 ? ` +${altered.length - 1}` : '';
  return `${fitting(`${first.what}: ${first.was ?? 'nothing'} → ${first.is ?? 'nothing'}`)}${more}`;
}

/** What stands before a port that differs. */
export const SIGNS: Record<Sign, string> = { added: '+', removed: '−', changed: '≠' };

function cells(ports: readonly (Port & { name: string; hole: boolean })[]): Cell[] {
  let x = 0;
  return ports.map((port) => {
    const { name, type } = writtenIn(port);
    const text = [port.sign && SIGNS[port.sign], port.hole && '?', name, type].filter(Boolean).join(' ');
    const width = Math.max(28, Math.ceil(text.length * SMALL) + 12);
    const cell = { ...port, x, width };
    x += width;
    return cell;
  });
}

/** Stretches cells over the whole width. */
function stretched(cells: readonly Cell[], width: number): Cell[] {
  const taken = cells.reduce((sum, cell) => sum + cell.width, 0);
  const more = cells.length > 0 ? Math.max(0, width - taken) / cells.length : 0;
  return cells.map((cell, at) => ({ ...cell, x: cell.x + more * at, width: cell.width + more }));
}

/** The ports of a box, and how large it is at least. */
export function measured(box: Box): { inputs: Cell[]; outputs: Cell[]; width: number; height: number } {
  if (box.type === 'params') {
    const outputs = cells(box.params.map((param) => ({ ...param, hole: false })));
    const width = outputs.reduce((sum, cell) => sum + cell.width, 0);
    return { inputs: [], outputs, width, height: TITLE - 2 };
  }
  const node = 'node' in box ? box.node : null;
  const inputs = cells((node?.inputs ?? []).map((input) => ({ ...input, hole: input.source === null })));
  // The type of a constant stands behind it.
  const compact = node?.kind === 'const';
  const outputs = compact ? [] : cells((node?.outputs ?? []).map((output) => ({ ...output, name: '', hole: false })));
  const beside = compact ? (node.outputs[0]?.type.length ?? 0) + 1 : 0;
  const folds = 'collapsed' in box ? 30 + 58 + (box.changed > 0 ? 62 : 0) : 0;
  const marks = (node && node.findings.length + node.holes > 0 ? 34 : 0) + folds + (changeOf(box) ? 70 : 0);
  const title = Math.ceil(titleOf(box).length * CHARACTER + beside * SMALL) + 2 * INSET + marks;
  const row = (list: readonly Cell[]) => list.reduce((sum, cell) => sum + cell.width, 0);
  const altered = alteredOf(box);
  const says = altered ? altered.length * SMALL + 2 * INSET : 0;
  const width = Math.max(NARROWEST, title, Math.ceil(says), row(inputs), row(outputs));
  const height = TITLE + (altered ? PORTS : 0) + (inputs.length > 0 ? PORTS : 0) + (outputs.length > 0 ? PORTS : 0);
  // Ports of an open box are spread over what it becomes.
  if ('children' in box && box.children.length > 0) return { inputs, outputs, width, height };
  return { inputs: stretched(inputs, width), outputs: stretched(outputs, width), width, height };
}

/** What stays free around the picture, and between the lines above it. */
const EDGE = 20;
const ABOVE_GAP = 8;

const ROOT = {
  'elk.algorithm': 'layered',
  'elk.direction': 'DOWN',
  'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES',
  'elk.layered.nodePlacement.strategy': 'BRANDES_KOEPF',
  'elk.layered.nodePlacement.favorStraightEdges': 'true',
  'elk.layered.cycleBreaking.strategy': 'MODEL_ORDER',
  'elk.layered.spacing.nodeNodeBetweenLayers': '30',
  'elk.layered.spacing.edgeNodeBetweenLayers': '12',
  'elk.layered.spacing.edgeEdgeBetweenLayers': '9',
  'elk.spacing.nodeNode': '22',
  'elk.spacing.edgeNode': '12',
  'elk.spacing.edgeEdge': '9',
  'elk.padding': `[top=${EDGE},left=${EDGE},bottom=${EDGE},right=${EDGE}]`,
};
/** Above so many boxes the layout tries less. */
const MANY = 400;
const HASTY = { 'elk.layered.thoroughness': '2', 'elk.layered.nodePlacement.bk.edgeStraightening': 'NONE' };

function port(
  id: string,
  side: 'NORTH' | 'SOUTH',
  place: { x: number; y: number; width: number },
  index: number,
): ElkPort {
  // Positions of ports of the south side are counted against the clock.
  const order = side === 'NORTH' ? index : -index;
  return { id, ...place, height: 0, layoutOptions: { 'elk.port.side': side, 'elk.port.index': String(order) } };
}

type Place = number | 'any' | 'order';

function portId(box: string, side: 'in' | 'out', index: Place): string {
  return `${box}:${side}-${index}`;
}

/** Lines that are gone have ports of their own beside those of today: on one way, neither could be told from the other. */
function gonePortId(box: string, side: 'in' | 'out', index: Place): string {
  return `${portId(box, side, index)}-gone`;
}

/** The ports at which a line begins and ends. */
function ends({ kind, from, fromPort, to, toPort, sign }: Line): [from: string, to: string] {
  if (kind === 'order') return [portId(from, 'out', 'order'), portId(to, 'in', 'order')];
  const of = sign === 'removed' ? gonePortId : portId;
  return [of(from, 'out', fromPort ?? 'any'), of(to, 'in', toPort ?? 'any')];
}

const SIDES = { in: 'NORTH', out: 'SOUTH' } as const;

/** Lines that tell the order run along the left side. */
const RAIL = 7;

function question(box: Box, used: ReadonlySet<string>): ElkNode {
  const { inputs, outputs, width, height } = measured(box);
  const open = 'children' in box && box.children.length > 0;
  const at = (x: number, y: number) => ({ x, y, width: 0 });
  // An open box is as wide as what is in it: the layout places its ports, side by side as they are written.
  const of = ({ x, width }: Cell, y: number) => (open ? { x, y, width } : at(x + width / 2, y));
  const gone = (side: 'in' | 'out', { index, x, width }: Cell, y: number) =>
    open && !used.has(portId(box.id, side, index)) ? { x, y, width } : at(x + (width * 3) / 4, y);
  const cellPorts = (side: 'in' | 'out', cells: readonly Cell[], y: number) =>
    cells.flatMap((cell) => [
      port(portId(box.id, side, cell.index), SIDES[side], of(cell, y), 2 * cell.index),
      port(gonePortId(box.id, side, cell.index), SIDES[side], gone(side, cell, y), 2 * cell.index + 1),
    ]);
  const plainPorts = (side: 'in' | 'out', place: Place, y: number, index: number) => [
    port(portId(box.id, side, place), SIDES[side], at(width / 2, y), index),
    port(gonePortId(box.id, side, place), SIDES[side], at((width * 3) / 4, y), index + 1),
  ];
  // A port that nothing leads to would take space of others.
  const ports = [
    port(portId(box.id, 'in', 'order'), 'NORTH', at(RAIL, 0), -1),
    ...cellPorts('in', inputs, 0),
    ...plainPorts('in', 'any', 0, 1000),
    port(portId(box.id, 'out', 'order'), 'SOUTH', at(RAIL, height), -1),
    ...cellPorts('out', outputs, height),
    ...plainPorts('out', 'any', height, 1000),
    // A constant has no row for its output.
    ...(outputs.length === 0 ? plainPorts('out', 0, height, 0) : []),
  ].filter(({ id }) => used.has(id));
  const node: ElkNode = { id: box.id, width, height, ports };
  if (!open) return { ...node, layoutOptions: { 'elk.portConstraints': 'FIXED_POS' } };
  const top = TITLE + (alteredOf(box) ? PORTS : 0) + (inputs.length > 0 ? PORTS : 0) + 16;
  const bottom = (outputs.length > 0 ? PORTS : 0) + 16;
  return {
    ...node,
    children: box.children.map((child) => question(child, used)),
    layoutOptions: {
      // Any constraint on the ports of a box with boxes in it that lines enter makes the layout fail: values come in at
      // the top and leave at the bottom all the same.
      'elk.portConstraints': 'FREE',
      'elk.padding': `[top=${top},left=16,bottom=${bottom},right=16]`,
      'elk.nodeSize.constraints': '[MINIMUM_SIZE]',
      // The layout turns a picture that goes down on its side, but not this.
      'elk.nodeSize.minimum': `(${height}, ${width})`,
    },
  };
}

/** A contract that is collapsed: a line of text above the picture. Lines that lead into it would tell nothing. */
function isAbove(box: Box): boolean {
  return box.type === 'region' && box.collapsed;
}

/** What the layout is asked. */
export function asked(all: readonly Box[], allLines: readonly Line[]): ElkNode {
  const boxes = all.filter((box) => !isAbove(box));
  const above = new Set(all.filter(isAbove).map(({ id }) => id));
  const lines = allLines.filter(({ from, to }) => !above.has(from) && !above.has(to));
  const many = listed(boxes).length > MANY;
  const used = new Set(lines.flatMap(ends));
  return {
    id: 'root',
    layoutOptions: many ? { ...ROOT, ...HASTY } : ROOT,
    children: boxes.map((box) => question(box, used)),
    edges: lines.map((line) => {
      const [source, target] = ends(line);
      return { id: line.id, sources: [source], targets: [target] };
    }),
  };
}

/** The same question with less said of where lines begin and end, for where the layout cannot do with that. */
export function relaxed(node: ElkNode): ElkNode {
  const { 'elk.portConstraints': _, ...layoutOptions } = node.layoutOptions ?? {};
  return { ...node, layoutOptions, ...(node.children && { children: node.children.map(relaxed) }) };
}

/** The cells of an open box stand where the layout put its ports; those that nothing leads to stand behind the others. */
function moved(cells: readonly Cell[], ports: readonly ElkPort[] | undefined, box: string, side: 'in' | 'out'): Cell[] {
  const places = new Map((ports ?? []).map(({ id, x = 0 }) => [id, x]));
  const found = cells.map((cell) => ({
    cell,
    x: places.get(portId(box, side, cell.index)) ?? places.get(gonePortId(box, side, cell.index)),
  }));
  let free = Math.max(FREE_FROM, ...found.map(({ cell, x }) => (x === undefined ? 0 : x + cell.width)));
  return found.map(({ cell, x }) => {
    if (x !== undefined) return { ...cell, x };
    free += cell.width;
    return { ...cell, x: free - cell.width };
  });
}

/** Where the first cell of an open box can stand. */
const FREE_FROM = 2 * RAIL;

/** What the layout's answer means. */
export function pictureOf(answer: ElkNode, boxes: readonly Box[], lines: readonly Line[]): Picture {
  const byId = new Map(listed(boxes).map(({ box }) => [box.id, box]));
  const byLine = new Map(lines.map((line) => [line.id, line]));
  const placed: Placed[] = [];
  const origins = new Map<string, { x: number; y: number }>();
  const edges: ElkExtendedEdge[] = [];

  const visit = (node: ElkNode, left: number, up: number, depth: number) => {
    const [x, y] = [left + (node.x ?? 0), up + (node.y ?? 0)];
    origins.set(node.id, { x, y });
    edges.push(...(node.edges ?? []));
    const box = byId.get(node.id);
    if (box) {
      const { inputs, outputs, ...size } = measured(box);
      const open = (node.children?.length ?? 0) > 0;
      placed.push({
        box,
        x,
        y,
        width: node.width ?? size.width,
        height: node.height ?? size.height,
        depth,
        inputs: open ? moved(inputs, node.ports, box.id, 'in') : inputs,
        outputs: open ? moved(outputs, node.ports, box.id, 'out') : outputs,
      });
    }
    node.children?.forEach((child) => visit(child, x, y, depth + 1));
  };
  const above = boxes.filter(isAbove);
  const top = above.length * (TITLE + ABOVE_GAP) + (above.length > 0 ? 2 * ABOVE_GAP : 0);
  above.forEach((box, at) => {
    const y = EDGE + at * (TITLE + ABOVE_GAP);
    placed.push({ box, x: EDGE, y, depth: 0, ...measured(box) });
  });
  visit(answer, 0, top, -1);

  const routes = edges.flatMap((edge): Route[] => {
    const line = byLine.get(edge.id);
    // Ways are told from the box in which they run.
    const container = (edge as { container?: string }).container ?? 'root';
    const origin = origins.get(container) ?? { x: 0, y: 0 };
    if (!line || !edge.sections) return [];
    const points = edge.sections
      .flatMap(({ startPoint, bendPoints = [], endPoint }) => [startPoint, ...bendPoints, endPoint])
      .map(({ x, y }) => ({ x: x + origin.x, y: y + origin.y }));
    return [{ line, points }];
  });
  const width = Math.max(answer.width ?? 0, ...placed.slice(0, above.length).map(({ x, width }) => x + width + EDGE));
  return { boxes: placed, routes, width, height: (answer.height ?? 0) + top };
}

/** The middle of the longest stretch of a line. */
export function middleOf(points: readonly { x: number; y: number }[]): { x: number; y: number } | null {
  let found: { x: number; y: number; length: number } | null = null;
  points.forEach((to, at) => {
    const from = points[at - 1];
    if (!from) return;
    const length = Math.hypot(to.x - from.x, to.y - from.y);
    if (!found || length > found.length) found = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2, length };
  });
  return found;
}

const CORNER = 5;

/** The path of a line, with round corners. */
export function pathOf(points: readonly { x: number; y: number }[]): string {
  return points
    .map(({ x, y }, at) => {
      const before = points[at - 1];
      const next = points[at + 1];
      if (!before) return `M${x},${y}`;
      if (!next) return `L${x},${y}`;
      const towards = (other: { x: number; y: number }) => {
        const length = Math.hypot(other.x - x, other.y - y) || 1;
        const step = Math.min(CORNER, length / 2) / length;
        return `${x + (other.x - x) * step},${y + (other.y - y) * step}`;
      };
      return `L${towards(before)}Q${x},${y} ${towards(next)}`;
    })
    .join('');
}
