import type { Link } from './model';

/** What is to be placed. */
export interface Item {
  id: string;
  width: number;
  height: number;
}

/** Where things have been placed, by their upper left corners, and how large that is in all. */
export interface Layout {
  places: ReadonlyMap<string, { x: number; y: number }>;
  width: number;
  height: number;
}

/** How far apart things stand. */
export interface Gaps {
  /** Between columns of one layer, and between things of one column. */
  within: number;
  /** Between layers. */
  between: number;
  /** How far every other column is lowered: a line that passes over one does not run through what stands there. */
  stagger: number;
}

/** What a layout is to look like. */
export interface Shape {
  /** How wide it is for its height. */
  aspect: number;
  /** So few columns are left side by side, however wide that is. */
  unfolded: number;
  /** So many columns stand side by side at least, where there are as many: calls from one to the next are seen best. */
  together: number;
}

/** The shape of a screen, and that of a telephone, on which there is room for the names of two columns, however high. */
export const WIDE: Shape = { aspect: 1.6, unfolded: 5, together: 1 };
export const TALL: Shape = { aspect: 0.02, unfolded: 2, together: 2 };

/** The groups of things that reach each other, by thing; a group that reaches another one has the larger number. */
function groupsOf(next: readonly (readonly number[])[]): { group: Int32Array; count: number } {
  const size = next.length;
  const group = new Int32Array(size).fill(-1);
  const index = new Int32Array(size).fill(-1);
  const low = new Int32Array(size);
  const at = new Int32Array(size);
  const stack: number[] = [];
  const path: number[] = [];
  let counter = 0;
  let count = 0;
  const enter = (thing: number) => {
    index[thing] = low[thing] = counter++;
    stack.push(thing);
    path.push(thing);
  };
  // Tarjan's algorithm, with a path of its own: chains of calls are deeper than the stack of a page.
  for (let start = 0; start < size; start += 1) {
    if (index[start] !== -1) continue;
    enter(start);
    for (let thing = path.at(-1); thing !== undefined; thing = path.at(-1)) {
      const other = next[thing]?.[at[thing] ?? 0];
      if (other !== undefined) {
        at[thing] = (at[thing] ?? 0) + 1;
        if (index[other] === -1) enter(other);
        else if (group[other] === -1) low[thing] = Math.min(low[thing] ?? 0, index[other] ?? 0);
        continue;
      }
      path.pop();
      const around = path.at(-1);
      if (around !== undefined) low[around] = Math.min(low[around] ?? 0, low[thing] ?? 0);
      if (low[thing] !== index[thing]) continue;
      for (let member = stack.pop(); member !== undefined; member = stack.pop()) {
        group[member] = count;
        if (member === thing) break;
      }
      count += 1;
    }
  }
  return { group, count };
}

/** Puts what leads to others before them: layers of things by number, what has no links last. */
function layersOf(size: number, links: readonly (readonly [number, number])[]): number[][] {
  const next: number[][] = Array.from({ length: size }, () => []);
  const linked = new Uint8Array(size);
  for (const [from, to] of links) {
    if (from === to) continue;
    next[from]?.push(to);
    linked[from] = linked[to] = 1;
  }
  const { group, count } = groupsOf(next);
  const members: number[][] = Array.from({ length: count }, () => []);
  group.forEach((of, thing) => members[of]?.push(thing));
  const depth = new Int32Array(count);
  for (let of = count - 1; of >= 0; of -= 1)
    for (const thing of members[of] ?? [])
      for (const other of next[thing] ?? []) {
        const into = group[other] ?? 0;
        if (into !== of) depth[into] = Math.max(depth[into] ?? 0, (depth[of] ?? 0) + 1);
      }
  const layers: number[][] = [];
  const alone: number[] = [];
  for (let thing = 0; thing < size; thing += 1) {
    if (!linked[thing]) alone.push(thing);
    else (layers[depth[group[thing] ?? 0] ?? 0] ??= []).push(thing);
  }
  return [...layers.filter(Boolean), alone].filter((layer) => layer.length > 0);
}

/** Orders each layer by where what leads to its things stands, so that lines cross less. */
function ordered(layers: readonly number[][], links: readonly (readonly [number, number])[], size: number): number[][] {
  const before: number[][] = Array.from({ length: size }, () => []);
  for (const [from, to] of links) before[to]?.push(from);
  const place = new Float64Array(size).fill(-1);
  return layers.map((layer) => {
    const wanted = new Map(
      layer.map((thing, index) => {
        const known = (before[thing] ?? []).map((from) => place[from] ?? -1).filter((at) => at >= 0);
        const mean = known.reduce((sum, at) => sum + at, 0) / known.length;
        return [thing, known.length > 0 ? mean : index / layer.length];
      }),
    );
    const sorted = layer.toSorted((a, b) => (wanted.get(a) ?? 0) - (wanted.get(b) ?? 0));
    sorted.forEach((thing, index) => (place[thing] = index / sorted.length));
    return sorted;
  });
}

interface Column {
  width: number;
  height: number;
  /** How far it stands from what is before it. */
  gap: number;
  items: { item: Item; y: number }[];
}

/** Fills columns up to a height; a layer that is higher takes several. */
function columnsOf(layers: readonly (readonly Item[])[], gaps: Gaps, limit: number): Column[] {
  const columns: Column[] = [];
  for (const layer of layers) {
    let column: Column | null = null;
    for (const item of layer) {
      let y: number = column ? column.height + gaps.within : 0;
      if (!column || y + item.height > limit) {
        column = { width: 0, height: 0, gap: column ? gaps.within : gaps.between, items: [] };
        columns.push(column);
        y = 0;
      }
      column.items.push({ item, y });
      column.height = y + item.height;
      column.width = Math.max(column.width, item.width);
    }
  }
  return columns;
}

/** Columns side by side. */
interface Band {
  columns: Column[];
  width: number;
  height: number;
}

/** Puts columns into bands below each other, as lines of a text. */
function bandsOf(columns: readonly Column[], widest: number): Band[] {
  const bands: Band[] = [];
  let band: Band | null = null;
  for (const column of columns) {
    if (!band || band.width + column.gap + column.width > widest) {
      band = { columns: [], width: -column.gap, height: 0 };
      bands.push(band);
    }
    band.columns.push(column);
    band.width += column.gap + column.width;
    band.height = Math.max(band.height, column.height);
  }
  return bands;
}

interface Page {
  bands: Band[];
  width: number;
  height: number;
  /** How far it is from what is wanted. */
  cost: number;
}

/** Columns in so many bands. */
function pageOf(columns: readonly Column[], gaps: Gaps, { aspect, together }: Shape, count: number): Page {
  const total = columns.reduce((sum, { gap, width }) => sum + gap + width, 0);
  const widest = columns.reduce((most, { width }) => Math.max(most, width), 0);
  const least = together * widest + (together - 1) * gaps.between;
  const bands = bandsOf(columns, count === 1 ? Infinity : Math.max(least, total / count));
  const width = bands.reduce((most, band) => Math.max(most, band.width), 0);
  const height = bands.reduce((sum, band) => sum + band.height + gaps.stagger, gaps.between * (bands.length - 1));
  // A line that goes on below is harder to follow: a somewhat wide page is better.
  const cost = Math.abs(Math.log(width / height / aspect)) + 0.7 * Math.log(bands.length);
  return { bands, width, height, cost };
}

/** Fills pages in several ways and takes the one that comes nearest to a shape. */
function filled(layers: readonly (readonly Item[])[], gaps: Gaps, shape: Shape): Page {
  const items = layers.flat();
  const area = items.reduce((sum, { width, height }) => sum + (width + gaps.within) * (height + gaps.within), 0);
  const highest = items.reduce((most, { height }) => Math.max(most, height), 0);
  const pages = [1, 1.3, 1.7, 2.2].flatMap((factor) => {
    const columns = columnsOf(layers, gaps, Math.max(highest, factor * Math.sqrt(area / shape.aspect)));
    const one = pageOf(columns, gaps, shape, 1);
    if (columns.length <= shape.unfolded) return [one];
    const count = Math.sqrt(one.width / (one.height + gaps.between) / shape.aspect);
    return [
      one,
      ...[Math.floor(count), Math.ceil(count)]
        .filter((some) => some > 1)
        .map((some) => pageOf(columns, gaps, shape, some)),
    ];
  });
  return pages.reduce((best, page) => (page.cost < best.cost ? page : best));
}

/**
 * Places things from left to right along their links, in bands below each other where that would be too wide.
 *
 * The same things come to the same places. Takes time that grows with things and links.
 */
export function layered(items: readonly Item[], links: readonly Link[], gaps: Gaps, shape = WIDE): Layout {
  const places = new Map<string, { x: number; y: number }>();
  if (items.length === 0) return { places, width: 0, height: 0 };
  const numbers = new Map(items.map(({ id }, index) => [id, index]));
  const known = links.flatMap(({ from, to }) => {
    const pair = [numbers.get(from), numbers.get(to)] as const;
    return pair[0] === undefined || pair[1] === undefined ? [] : [[pair[0], pair[1]] as const];
  });
  const layers = ordered(layersOf(items.length, known), known, items.length).map((layer) =>
    layer.flatMap((thing) => items[thing] ?? []),
  );
  const page = filled(layers, gaps, shape);
  let top = 0;
  for (const band of page.bands) {
    let left = 0;
    for (const [index, column] of band.columns.entries()) {
      if (index > 0) left += column.gap;
      const middle = top + (band.height - column.height) / 2 + (index % 2) * gaps.stagger;
      for (const { item, y } of column.items) places.set(item.id, { x: left, y: middle + y });
      left += column.width;
    }
    top += band.height + gaps.stagger + gaps.between;
  }
  return { places, width: page.width, height: page.height };
}
