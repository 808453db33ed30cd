import '@xyflow/react/dist/base.css';
import './graph.css';
import './marks.css';
import './sign.css';

import { Position, ReactFlow, ReactFlowProvider, useReactFlow, type Edge, type Node } from '@xyflow/react';
import { Cable, Maximize, Minus, Plus, Route as RouteIcon } from 'lucide-react';
import { useCallback, useEffect, useId, useMemo, useRef, useState, type KeyboardEvent } from 'react';

import { BoxNode, type BoxData } from './BoxNode';
import type { Line } from './boxes';
import { ConnectDialog } from './ConnectDialog';
import type { End, Start } from './connect';
import { DragLine } from './DragLine';
import type { Picture, Placed } from './geometry';
import { LineEdge, type LineData } from './LineEdge';
import { sameMark, spokenMark, type Mark } from './marks';
import { spoken, spokenChange, type Graph, type Param } from './model';
import { nextOf, stepFrom, stepOf } from './steps';
import { useDrag } from './useDrag';

const NODE_TYPES = { box: BoxNode };
const EDGE_TYPES = { line: LineEdge };

/** What the graph shows and tells. */
export interface GraphProps {
  name: string;
  graph: Graph;
  picture: Picture;
  busy: boolean;
  selected: string | null;
  hovered: string | null;
  /** Nodes that somebody has just changed, and a number that tells one change from the next. */
  lit: ReadonlySet<string>;
  turn: number;
  /** What a run says at boxes, by id. */
  marks?: ReadonlyMap<string, Mark>;
  /** The node that is kept in view beside the selection. */
  follow?: string | null;
  /** The nodes that differ, one after the other; absent where that is not what is shown. */
  tour?: readonly string[];
  /** Sets a breakpoint at a node, or takes it away; absent where nothing runs. */
  onStop?: (ref: string) => void;
  /** Gives an input another value; absent where nothing can be changed. */
  onConnect?: (start: Start, end: End) => void;
  onSelect(ref: string | null): void;
  onHover(ref: string | null): void;
  onToggle(id: string, collapsed: boolean): void;
  onOpen(ref: string): void;
}

/** The graph of a function. */
export function GraphPane(props: GraphProps) {
  return (
    <ReactFlowProvider>
      <Pane {...props} />
    </ReactFlowProvider>
  );
}

/** What offers no input. */
const NONE: ReadonlySet<number> = new Set();

/** How long the picture moves, in milliseconds: not at all for who wants no motion. */
function glide(): number {
  return window.matchMedia('(prefers-reduced-motion: reduce)').matches ? 0 : 150;
}

function labelOf({ box }: Placed): string {
  switch (box.type) {
    case 'node':
    case 'owner':
      return spoken(box.node);
    case 'region':
    case 'segment':
      return [
        box.type === 'region' && spokenChange(box.change),
        box.title,
        `${box.inside} nodes`,
        box.changed > 0 && `${box.changed} of them differ`,
      ]
        .filter(Boolean)
        .join(', ');
    case 'params':
      return `parameters ${box.params.map(spokenParam).join(', ')}`;
  }
}

function spokenLine({ kind, from, to, type, sign }: Line): string {
  return [sign, kind === 'order' ? 'order' : type, `from ${from} to ${to}`].filter(Boolean).join(' ');
}

function spokenParam({ name, type, sign, was }: Param): string {
  return [sign, `${name}: ${type}`, was !== undefined && `was ${was}`].filter(Boolean).join(' ');
}

/** The nodes as they were drawn last: what has not changed is not drawn again. */
const last = new WeakMap<Placed, Node<BoxData>>();

function isSame(before: BoxData, now: BoxData): boolean {
  return (Object.keys(now) as (keyof BoxData)[]).every((key) =>
    key === 'mark' ? sameMark(before.mark, now.mark) : before[key] === now[key],
  );
}

function drawn(placed: Placed, data: BoxData): Node<BoxData> {
  const before = last.get(placed);
  if (before && isSame(before.data, data)) return before;
  const { box, x, y, width, height, depth } = placed;
  const { mark } = data;
  const middle = { x: width / 2, width: 1, height: 1 };
  const node: Node<BoxData> = {
    id: box.id,
    type: 'box',
    position: { x, y },
    width,
    height,
    // Lines have ways of their own; handles that had to be measured would make them blink with every change.
    handles: [
      { type: 'target', position: Position.Top, y: 0, ...middle },
      { type: 'source', position: Position.Bottom, y: height, ...middle },
    ],
    // Boxes stand behind what is in them; values are read before lines.
    zIndex: mark && (box.type === 'node' || box.type === 'params') ? 1002 : depth,
    // Without a role the label would not be read.
    ariaRole: 'group',
    ariaLabel: mark ? `${labelOf(placed)}, ${spokenMark(mark)}` : labelOf(placed),
    data,
  };
  last.set(placed, node);
  return node;
}

function Pane(props: GraphProps) {
  const { name, graph, picture, busy, selected, hovered, lit, turn, onSelect, onHover, onToggle, onOpen } = props;
  const { marks, follow, tour, onStop, onConnect } = props;
  const flow = useReactFlow();
  const keys = useId();
  const frame = useRef<HTMLDivElement>(null);
  const [order, setOrder] = useState(true);
  /** Whether it is told how ports are connected with the pointer. */
  const [connecting, setConnecting] = useState(false);
  const [choosing, setChoosing] = useState(false);
  const connects = connecting && onConnect !== undefined;
  const { drag, offers, begin } = useDrag(graph, onConnect);
  const focused = hovered ?? selected;

  const nodes = useMemo(
    () =>
      picture.boxes.map((placed) => {
        const { box } = placed;
        return drawn(placed, {
          placed,
          selected: box.id === selected,
          hovered: box.id === hovered,
          lit: lit.has(box.id) ? turn : 0,
          mark: marks?.get(box.id),
          connects: onConnect !== undefined,
          offers: offers && (offers.get(box.id) ?? NONE),
          onToggle,
          onStop: box.type === 'node' || box.type === 'owner' ? onStop : undefined,
        });
      }),
    [picture, selected, hovered, lit, turn, marks, onConnect, offers, onToggle, onStop],
  );

  const edges = useMemo(
    () =>
      picture.routes
        .filter(({ line }) => order || line.kind === 'data')
        .map(({ line, points }): Edge<LineData> => {
          const near = focused !== null && (line.from === focused || line.to === focused);
          return {
            id: line.id,
            type: 'line',
            source: line.from,
            target: line.to,
            ariaLabel: spokenLine(line),
            zIndex: near ? 1001 : 1000,
            data: { line, points, near, far: focused !== null && !near },
          };
        }),
    [picture, order, focused],
  );

  const show = useCallback(
    (id: string) => {
      const placed = picture.boxes.find(({ box }) => box.id === id);
      const { width = 0, height = 0 } = frame.current?.getBoundingClientRect() ?? {};
      if (!placed || width === 0) return;
      const { x, y, zoom } = flow.getViewport();
      const scale = Math.max(zoom, 0.7);
      const left = placed.x * zoom + x;
      const top = placed.y * zoom + y;
      const tall = Math.min(placed.height, 60);
      const inView =
        left >= 0 && top >= 0 && left + Math.min(placed.width, 120) * zoom <= width && top + tall * zoom <= height;
      if (inView && zoom >= 0.45) return;
      void flow.setCenter(placed.x + placed.width / 2, placed.y + tall / 2, { zoom: scale, duration: glide() });
    },
    [flow, picture],
  );

  const start = useCallback(() => {
    const { width = 0, height = 0 } = frame.current?.getBoundingClientRect() ?? {};
    if (width === 0) return;
    // A picture that would be too small to read begins at its top instead.
    const zoom = Math.min(1, (width - 24) / picture.width, (height - 24) / picture.height);
    if (zoom >= 0.7) {
      void flow.setViewport({
        zoom,
        x: (width - picture.width * zoom) / 2,
        y: Math.max(8, Math.min(24, (height - picture.height * zoom) / 2)),
      });
      return;
    }
    const readable = Math.max(0.7, Math.min(0.9, (width - 24) / picture.width));
    const first = picture.boxes.find(({ box }) => box.type !== 'region') ?? picture.boxes[0];
    const middle = first ? first.x + first.width / 2 : picture.width / 2;
    const left = width / 2 - middle * readable;
    const fits = picture.width * readable <= width - 16;
    // A narrow picture is seen from edge to edge, a wide one from the middle of its beginning.
    void flow.setViewport({
      zoom: readable,
      x: fits ? (width - picture.width * readable) / 2 : Math.min(8, left),
      y: 8,
    });
  }, [flow, picture]);

  const began = useRef(false);
  useEffect(() => {
    if (began.current) return;
    began.current = true;
    start();
  }, [start]);
  useEffect(() => {
    if (selected) show(selected);
  }, [selected, show]);
  useEffect(() => {
    if (follow) show(follow);
  }, [follow, show]);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape') {
      // What is around the graph, such as a dialog, is left by the next one.
      if (selected !== null) event.preventDefault();
      return onSelect(null);
    }
    if (event.key === 'Enter' && selected) return onOpen(selected);
    if (event.key === 'c' && onConnect) {
      event.preventDefault();
      return setChoosing(true);
    }
    if (event.key === '+' || event.key === '-') return void (event.key === '+' ? flow.zoomIn() : flow.zoomOut());
    if (tour && (event.key === 'n' || event.key === 'p')) {
      event.preventDefault();
      return onSelect(nextOf(tour, selected, event.key === 'n' ? 1 : -1));
    }
    const step = stepOf(event);
    if (!step) return;
    event.preventDefault();
    onSelect(stepFrom(graph, selected, step));
  };

  const size = { width: picture.width, height: picture.height };
  const isNode = (id: string) => graph.nodes.has(id);
  const spokenSelection =
    selected === null ? 'nothing selected' : spoken(graph.nodes.get(selected) ?? missing(selected));
  return (
    <div className="graph" data-busy={busy} data-connects={connects} onPointerDownCapture={begin}>
      <ReactFlow
        // A preview may show a graph in front of another one; what is in them is not named twice.
        id={`${keys}flow`}
        ref={frame}
        role="application"
        tabIndex={0}
        aria-label={`Graph of ${name}`}
        aria-describedby={keys}
        onKeyDown={onKeyDown}
        nodes={nodes}
        edges={edges}
        nodeTypes={NODE_TYPES}
        edgeTypes={EDGE_TYPES}
        minZoom={0.08}
        maxZoom={2}
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        elementsSelectable={false}
        disableKeyboardA11y
        onlyRenderVisibleElements
        elevateEdgesOnSelect={false}
        zoomOnDoubleClick={false}
        deleteKeyCode={null}
        panOnScroll
        onNodeClick={(_, { id }) => isNode(id) && onSelect(id)}
        onNodeDoubleClick={(_, { id }) => isNode(id) && onOpen(id)}
        onNodeMouseEnter={(_, { id }) => isNode(id) && onHover(id)}
        onNodeMouseLeave={() => onHover(null)}
        onPaneClick={() => onSelect(null)}
      />
      <p id={keys} className="hidden">
        Arrow up and down follow values, left and right the order. Shift with up and down leaves and enters regions.
        Enter opens what is called, Escape clears.{onConnect && ' C connects a value with an input.'}
        {tour && ' N and P lead to what differs, forward and back.'}
      </p>
      <p className="hidden" aria-live="polite">
        {spokenSelection}
      </p>
      <div className="graph-tools" role="toolbar" aria-label="Graph">
        <button type="button" className="button icon" aria-label="Zoom in" onClick={() => void flow.zoomIn()}>
          <Plus size={14} aria-hidden />
        </button>
        <button type="button" className="button icon" aria-label="Zoom out" onClick={() => void flow.zoomOut()}>
          <Minus size={14} aria-hidden />
        </button>
        <button
          type="button"
          className="button icon"
          aria-label="Show everything"
          // What fits nodes waits for a change of theirs, which never comes: they are given, and stay as they are.
          onClick={() => void flow.fitBounds({ x: 0, y: 0, ...size }, { padding: 0.05, duration: glide() })}
        >
          <Maximize size={14} aria-hidden />
        </button>
        <button
          type="button"
          className="button icon"
          aria-label="Control edges"
          title="Control edges: the order of effects"
          aria-pressed={order}
          onClick={() => setOrder(!order)}
        >
          <RouteIcon size={14} aria-hidden />
        </button>
        {onConnect && (
          <button
            type="button"
            className="button icon"
            aria-label="Connect ports"
            title="Connect ports: draw from an output to an input. By keyboard: c"
            aria-pressed={connecting}
            onClick={() => setConnecting(!connecting)}
          >
            <Cable size={14} aria-hidden />
          </button>
        )}
      </div>
      {connects && !drag && (
        <output className="graph-hint badge info">Draw from an output to the input that takes its value.</output>
      )}
      {drag && <DragLine drag={drag} />}
      {choosing && onConnect && (
        <ConnectDialog
          graph={graph}
          selected={selected}
          onConnect={onConnect}
          onClose={() => {
            setChoosing(false);
            frame.current?.focus();
          }}
        />
      )}
      {busy && <output className="graph-busy badge info">laying out…</output>}
    </div>
  );
}

/** A selection of another revision: only its ref is known. */
function missing(ref: string) {
  return {
    ref,
    label: null,
    title: 'not in this function',
    op: '',
    kind: 'compute' as const,
    effect: 'PURE' as const,
    doc: null,
    region: '',
    index: 0,
    inputs: [],
    outputs: [],
    callee: null,
    regions: [],
    holes: 0,
    findings: [],
  };
}
