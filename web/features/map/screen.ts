import { DirectedGraph } from 'graphology';
import Sigma from 'sigma';
import { EdgeArrowProgram, EdgeLineProgram } from 'sigma/rendering';

import { drawBoxes, drawLabel, drawLights, drawPointed, drawTitles, ROOM } from './drawing';
import type { Palette } from './palette';
import { beginningOf, PADDING, ratioFor, type Picture } from './picture';
import { ShapeProgram, shapeOf } from './shapes';

/** How a picture looks at the moment. */
export interface Look {
  /** What is looked for; everything else fades. Null: nothing. */
  lit: ReadonlySet<string> | null;
  palette: Palette;
}

/** What a reader does with a picture. */
export interface Reactions {
  onPoint(id: string | null): void;
  onOpen(id: string): void;
}

/** A place where pictures are drawn. */
export interface Screen {
  show(picture: Picture): void;
  look(look: Look): void;
  point(id: string | null): void;
  move(how: 'larger' | 'smaller' | 'all'): void;
  /** Moves the camera until marks are in sight, and can be read if they stand near each other. */
  goTo(ids: readonly string[]): void;
  /** Lights marks up for a moment. */
  light(ids: readonly string[]): void;
  close(): void;
}

/** More lines than these are drawn without arrows, which nobody could tell apart. */
const ARROWS = 3_000;
/** The most that a thing is enlarged when the whole picture is shown. */
const LARGEST = 1.25;
/** So few lines are told apart wherever they lead; of more, those between modules recede. */
const FEW = 100;
/** A click beside a mark that moved farther than this was no click, in pixels. */
const STILL = 4;

/** More marks than these are drawn too slowly to move with every picture of the screen. */
const PULSED = 5_000;

function isStill(): boolean {
  return window.matchMedia('(prefers-reduced-motion: reduce)').matches;
}

/** How long the picture moves, in milliseconds: not at all for who wants no motion. */
function glide(): { duration: number } {
  return { duration: isStill() ? 0 : 180 };
}

/** Puts a picture into the graph that is drawn. */
function fill(graph: DirectedGraph, picture: Picture): void {
  graph.clear();
  for (const { id, x, y, radius, label, kind, state } of picture.marks)
    graph.addNode(id, { x, y: -y, size: radius, label, kind, state, shape: shapeOf({ kind, state }) });
  const type = picture.lines.length > ARROWS ? 'line' : 'arrow';
  const many = picture.lines.length > FEW;
  for (const { from, to, across } of picture.lines) graph.addEdge(from, to, { type, size: 1, far: many && across });
}

/** Opens a screen in an element. Throws where nothing can be drawn. */
export function openScreen(container: HTMLElement, first: Look, { onPoint, onOpen }: Reactions): Screen {
  const graph = new DirectedGraph();
  let { lit, palette } = first;
  let pointed: string | null = null;
  let picture: Picture | null = null;

  const renderer = new Sigma(graph, container, {
    allowInvalidContainer: true,
    itemSizesReference: 'positions',
    zoomToSizeRatioFunction: (ratio) => ratio,
    nodeProgramClasses: { shape: ShapeProgram },
    nodeHoverProgramClasses: { shape: ShapeProgram },
    defaultNodeType: 'shape',
    edgeProgramClasses: { line: EdgeLineProgram, arrow: EdgeArrowProgram },
    defaultEdgeType: 'arrow',
    minEdgeThickness: 1.7,
    enableCameraRotation: false,
    minCameraRatio: 0.002,
    maxCameraRatio: 1.5,
    stagePadding: PADDING,
    // Names have room beside their marks, from the size on at which they can be read.
    labelRenderedSizeThreshold: 2.8,
    labelDensity: 1_000,
    labelGridCellSize: 200,
    zIndex: true,
    defaultDrawNodeLabel: (context, data) => drawLabel(context, data, renderer.scaleSize(1), palette),
    defaultDrawNodeHover: (context, data) => drawPointed(context, data, palette),
    nodeReducer: (id, data) => {
      const faint = lit !== null && !lit.has(id);
      const color = faint ? palette.faint : palette.state[data['state'] as keyof Palette['state']];
      // A closed module has its name on its box.
      const named = id === pointed || (!faint && data['kind'] === 'function');
      const label = named ? (data['label'] as string) : null;
      return { ...data, color, label, highlighted: id === pointed, zIndex: faint ? 0 : 1 };
    },
    edgeReducer: (id, data) => {
      const near = pointed !== null && graph.hasNode(pointed) && graph.hasExtremity(id, pointed);
      const faint = lit !== null && !graph.extremities(id).some((end) => lit?.has(end));
      const color = near ? palette.near : faint || data['far'] ? palette.faint : palette.line;
      return { ...data, color, size: near ? 2 : 1, zIndex: near ? 1 : 0 };
    },
  });

  const layers = [
    { canvas: renderer.createCanvas('boxes', { beforeLayer: 'edges' }), draw: drawBoxes },
    { canvas: renderer.createCanvas('titles', { beforeLayer: 'labels' }), draw: drawTitles },
    {
      canvas: renderer.createCanvas('lights', { beforeLayer: 'labels' }),
      draw: (...[, context, , palette]: Parameters<typeof drawBoxes>) =>
        drawLights(lights.flatMap(placed), context, lightAge(), palette),
    },
  ];
  let lights: readonly string[] = [];
  let litAt = 0;
  let turning = 0;
  /** How long the marks have been lit, in milliseconds; as if no time went by for who wants no motion. */
  const lightAge = () => (isStill() || graph.order > PULSED ? 0 : performance.now() - litAt);
  /** Where a mark is on the screen, and how large. */
  const placed = (id: string): { x: number; y: number; size: number }[] => {
    if (!graph.hasNode(id)) return [];
    const { x, y } = renderer.graphToViewport(graph.getNodeAttributes(id) as { x: number; y: number });
    return [{ x, y, size: renderer.scaleSize(graph.getNodeAttribute(id, 'size') as number) }];
  };
  /** What a mark takes on the screen: a closed module its box, a function its name too. */
  const spread = (id: string): { x: number; y: number; width: number; height: number }[] => {
    const box = picture?.boxes.find(({ module }) => module.ref === id);
    const scale = renderer.scaleSize(1);
    if (!box)
      return placed(id).map(({ x, y, size }) => ({ x: x - size, y: y - size, width: ROOM * scale, height: 2 * size }));
    const { x, y } = renderer.graphToViewport({ x: box.x, y: -box.y });
    return [{ x, y, width: box.width * scale, height: box.height * scale }];
  };
  const turn = () => {
    if (lights.length === 0 || isStill() || graph.order > PULSED) return;
    renderer.scheduleRender();
    turning = requestAnimationFrame(turn);
  };
  // Where things are on the screen is known once what is drawn by the graphics card stands there.
  renderer.on('afterRender', () => {
    const { width, height } = renderer.getDimensions();
    const ratio = window.devicePixelRatio;
    for (const { canvas, draw } of layers) {
      const context = canvas.getContext('2d');
      if (!context || !picture) continue;
      canvas.style.width = `${width}px`;
      canvas.style.height = `${height}px`;
      // Assigning the size clears the canvas, also where it is the same.
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      draw(renderer, context, picture.boxes, palette);
    }
  });

  renderer.on('enterNode', ({ node }) => onPoint(node));
  renderer.on('leaveNode', () => onPoint(null));
  renderer.on('clickNode', ({ node }) => onOpen(node));
  let pressed = { x: 0, y: 0 };
  renderer.on('downStage', ({ event }) => (pressed = event));
  // A box that is closed opens wherever it is clicked.
  renderer.on('clickStage', ({ event }) => {
    if (Math.hypot(event.x - pressed.x, event.y - pressed.y) > STILL) return;
    const { x, y } = renderer.viewportToGraph(event);
    const inside = picture?.boxes.find(
      (box) => !box.open && x >= box.x && x <= box.x + box.width && -y >= box.y && -y <= box.y + box.height,
    );
    if (inside) onOpen(inside.module.ref);
  });

  /** Where a picture lies: a small one is not blown up until it fills the place. */
  const frame = ({ width, height }: Picture) => {
    const place = renderer.getDimensions();
    const wide = Math.max(width, place.width / LARGEST);
    const high = Math.max(height, place.height / LARGEST);
    const left = (width - wide) / 2;
    const top = (height - high) / 2;
    renderer.setCustomBBox({ x: [left, left + wide], y: [-(top + high), -top] });
  };

  let begun = false;
  /** Goes to where a picture is seen first, as soon as there is a place. */
  const begin = (picture: Picture) => {
    const place = renderer.getDimensions();
    if (begun || place.width <= 1) return;
    begun = true;
    const camera = renderer.getCamera();
    const beginning = beginningOf(picture, place, renderer.scaleSize(1));
    if (!beginning) return;
    const { x, y } = beginning.middle;
    const middle = renderer.viewportToFramedGraph(renderer.graphToViewport({ x, y: -y }));
    camera.setState({ ...middle, ratio: beginning.ratio });
  };

  const resized = new ResizeObserver(() => {
    renderer.resize();
    if (picture) frame(picture);
    renderer.refresh();
    if (picture) begin(picture);
  });
  resized.observe(container);

  return {
    show(next) {
      picture = next;
      frame(next);
      fill(graph, next);
      renderer.refresh();
      begin(next);
    },
    look(next) {
      ({ lit, palette } = next);
      renderer.refresh({ skipIndexation: true });
    },
    point(id) {
      const changed = [pointed, id].filter((mark) => mark !== null).filter((mark) => graph.hasNode(mark));
      pointed = id;
      // Of tens of thousands of marks and lines, only these look different.
      const edges = changed.flatMap((mark) => graph.edges(mark));
      renderer.refresh({ skipIndexation: true, partialGraph: { nodes: changed, edges }, schedule: true });
    },
    move(how) {
      const camera = renderer.getCamera();
      if (how === 'larger') void camera.animatedZoom(glide());
      else if (how === 'smaller') void camera.animatedUnzoom(glide());
      else void camera.animatedReset(glide());
    },
    goTo(ids) {
      const spots = ids.flatMap(spread);
      if (spots.length === 0) return;
      const x = spots.reduce((least, spot) => Math.min(least, spot.x), Infinity);
      const y = spots.reduce((least, spot) => Math.min(least, spot.y), Infinity);
      const width = spots.reduce((most, spot) => Math.max(most, spot.x + spot.width), -Infinity) - x;
      const height = spots.reduce((most, spot) => Math.max(most, spot.y + spot.height), -Infinity) - y;
      const camera = renderer.getCamera();
      const ratio = ratioFor({
        box: { x, y, width, height },
        place: renderer.getDimensions(),
        scale: renderer.scaleSize(1),
        ratio: camera.ratio,
      });
      if (ratio === null) return;
      const middle = renderer.viewportToFramedGraph({ x: x + width / 2, y: y + height / 2 });
      void camera.animate({ ...middle, ratio }, glide());
    },
    light(ids) {
      lights = ids;
      litAt = performance.now();
      cancelAnimationFrame(turning);
      renderer.scheduleRender();
      turn();
    },
    close() {
      cancelAnimationFrame(turning);
      resized.disconnect();
      renderer.kill();
    },
  };
}
