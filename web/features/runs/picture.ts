// The picture of a flow: its nodes, where each may lead, and how far a run has come.
import type { ElkNode } from 'elkjs/lib/elk-api';

import type { RunStatus } from '../../generated/graphql';
import type { Step } from './timeline';

/** A node of a flow. */
export interface FlowNode {
  name: string;
  targets: readonly string[];
  /** Where a run goes on when it has failed there for good. */
  onFailure: string | null;
  kind: string;
  doc: string;
}

/** Where a flow ends. */
export const END = 'END';

/** What a run has to do with a node. */
export interface Mark {
  /** How often it was tried. */
  visits: number;
  /** How it stands; `new` where the run has not been. */
  state: 'new' | 'visited' | 'current' | 'waiting' | 'failed';
}

/** How far a run has come, node by node. */
export function marksOf(
  nodes: readonly FlowNode[],
  steps: readonly Step[],
  run: { status: RunStatus; node: string | null; failed: string | null },
): Map<string, Mark> {
  const visits = new Map<string, number>();
  for (const { node } of steps) visits.set(node, (visits.get(node) ?? 0) + 1);
  const marks = new Map<string, Mark>();
  for (const { name } of nodes) {
    const count = visits.get(name) ?? 0;
    const here = run.node === name;
    const state =
      run.status === 'FAILED' && (run.failed ?? run.node) === name
        ? 'failed'
        : here && run.status === 'RUNNING'
          ? 'current'
          : here && run.status === 'WAITING'
            ? 'waiting'
            : count > 0
              ? 'visited'
              : 'new';
    marks.set(name, { visits: count, state });
  }
  if (nodes.some(({ targets }) => targets.includes(END)))
    marks.set(END, { visits: 0, state: run.status === 'COMPLETED' ? 'visited' : 'new' });
  return marks;
}

/** The ways that a run has gone: `from → to`. */
export function waysOf(steps: readonly Step[], status: RunStatus): Set<string> {
  const ways = new Set<string>();
  // Tries of one node are no way from it to itself; branches go beside the main line.
  const lines = new Map<string, Step[]>();
  for (const step of steps) lines.set(step.branch, [...(lines.get(step.branch) ?? []), step]);
  for (const line of lines.values())
    line.forEach((step, at) => {
      const next = line[at + 1];
      const again = next && next.node === step.node && next.attempt > step.attempt;
      // Where the way parts, it leads to several at once.
      if (step.goto) for (const target of step.goto.split(/,\s*/)) ways.add(`${step.node} → ${target}`);
      else if (next && !again) ways.add(`${step.node} → ${next.node}`);
      else if (!next && step.branch === '' && status === 'COMPLETED') ways.add(`${step.node} → ${END}`);
    });
  return ways;
}

/** What a mark says, in words. */
export function spoken({ visits, state }: Mark): string {
  const often = visits === 0 ? '' : visits === 1 ? 'tried once' : `tried ${visits} times`;
  switch (state) {
    case 'new':
      return 'not reached';
    case 'visited':
      return often || 'reached';
    case 'current':
      return ['at work now', often].filter(Boolean).join(', ');
    case 'waiting':
      return ['waits here', often].filter(Boolean).join(', ');
    case 'failed':
      return ['failed', often].filter(Boolean).join(', ');
  }
}

const CHARACTER = 7.4;
export const HEIGHT = 40;

/** How wide a box is. */
export function widthOf(name: string): number {
  return Math.max(64, Math.ceil(name.length * CHARACTER) + 44);
}

/** Where a node may lead, to each once: where it says, and where the run goes on when it has failed. */
export function leadsTo({ targets, onFailure }: FlowNode): string[] {
  return [...new Set(onFailure === null ? targets : [...targets, onFailure])];
}

/** The ways that are gone by failures alone. */
export function sparesOf(nodes: readonly FlowNode[]): Set<string> {
  const spares = nodes.filter(({ targets, onFailure }) => onFailure !== null && !targets.includes(onFailure));
  return new Set(spares.map(({ name, onFailure }) => `${name} → ${onFailure}`));
}

/** What the layout is asked. Names of nodes are its ids. */
export function asked(nodes: readonly FlowNode[], down: boolean): ElkNode {
  const names = [
    ...nodes.map(({ name }) => name),
    ...(nodes.some(({ targets }) => targets.includes(END)) ? [END] : []),
  ];
  const known = new Set(names);
  return {
    id: 'root',
    layoutOptions: {
      'elk.algorithm': 'layered',
      'elk.direction': down ? 'DOWN' : 'RIGHT',
      'elk.edgeRouting': 'ORTHOGONAL',
      'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES',
      'elk.layered.cycleBreaking.strategy': 'MODEL_ORDER',
      'elk.layered.nodePlacement.strategy': 'BRANDES_KOEPF',
      'elk.layered.spacing.nodeNodeBetweenLayers': '34',
      'elk.spacing.nodeNode': '18',
      'elk.padding': '[top=10,left=10,bottom=10,right=10]',
    },
    children: names.map((name) => ({ id: name, width: name === END ? 44 : widthOf(name), height: HEIGHT })),
    edges: nodes.flatMap((node) =>
      leadsTo(node)
        .filter((target) => known.has(target))
        .map((target) => ({ id: `${node.name} → ${target}`, sources: [node.name], targets: [target] })),
    ),
  };
}

/** Where everything is. */
export interface Picture {
  boxes: { name: string; x: number; y: number; width: number; height: number }[];
  ways: { id: string; points: { x: number; y: number }[] }[];
  width: number;
  height: number;
}

/** What the layout's answer means. */
export function pictureOf(answer: ElkNode): Picture {
  return {
    boxes: (answer.children ?? []).map(({ id, x = 0, y = 0, width = 0, height = 0 }) => ({
      name: id,
      x,
      y,
      width,
      height,
    })),
    ways: (answer.edges ?? []).map(({ id, sections = [] }) => ({
      id,
      points: sections.flatMap(({ startPoint, bendPoints = [], endPoint }) => [startPoint, ...bendPoints, endPoint]),
    })),
    width: answer.width ?? 0,
    height: answer.height ?? 0,
  };
}
