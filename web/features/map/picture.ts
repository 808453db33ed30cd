import { flawedWords } from '../../lib/flaws';
import { counted } from '../../ui';
import { layered, TALL, WIDE, type Shape } from './layers';
import { groupedBy, type Link, type MapModule, type ProgramMap, type State } from './model';

/** A function on the picture, or a closed module in the middle of its box. */
export interface Mark {
  id: string;
  kind: 'function' | 'module';
  x: number;
  y: number;
  radius: number;
  state: State;
  label: string;
}

/** A module on the picture. */
export interface Box {
  module: MapModule;
  x: number;
  y: number;
  width: number;
  height: number;
  open: boolean;
}

/** Where everything stands, whichever modules are open: opening one moves nothing. */
export interface Places {
  functions: ReadonlyMap<string, { x: number; y: number }>;
  modules: ReadonlyMap<string, { x: number; y: number; width: number; height: number }>;
  width: number;
  height: number;
}

/** A call on the picture, or the calls between two modules. */
export interface Line extends Link {
  /** Whether it leads from a function of one module to one of another: there are many of these, and they cross all. */
  across: boolean;
}

/** What is drawn; `y` grows downwards. */
export interface Picture {
  marks: readonly Mark[];
  boxes: readonly Box[];
  lines: readonly Line[];
  width: number;
  height: number;
}

/** The room of a function: its mark and, to the right of it, its name. */
const CELL = { width: 170, margin: 10 };
/** What a module's box adds around its functions: the title is on top. */
const FRAME = { side: 22, top: 44, bottom: 18 };
/** A box is wide enough for a title. */
const NARROWEST = 150;

/** The shapes of what is in a module, and of all modules. */
export interface Place {
  inside: Shape;
  outside: Shape;
}

export const SCREEN: Place = { inside: WIDE, outside: WIDE };
/** Modules stand below each other, as each is as wide as the place. */
export const TELEPHONE: Place = { inside: TALL, outside: { ...TALL, unfolded: 1, together: 1 } };

/** How large a function's mark is: its area grows with its nodes. */
export function radiusOf(size: number): number {
  return Math.min(24, 4 + Math.sqrt(size) * 0.9);
}

/** The calls between modules, each pair once. */
function between({ functions, calls }: ProgramMap): Link[] {
  const links = new Map<string, Link>();
  for (const call of calls) {
    const from = functions.get(call.from)?.module;
    const to = functions.get(call.to)?.module;
    if (from && to && from !== to) links.set(`${from} ${to}`, { from, to });
  }
  return [...links.values()];
}

/** Places the functions of each module along their calls, and the modules along theirs. */
export function placesOf(map: ProgramMap, { inside: within, outside } = SCREEN): Places {
  const calls = groupedBy(
    map.calls.filter(({ from, to }) => map.functions.get(from)?.module === map.functions.get(to)?.module),
    ({ from }) => map.functions.get(from)?.module,
  );
  const inside = map.modules.map(({ ref, functions }) => {
    const items = functions.map(({ ref, size }) => {
      const height = 2 * radiusOf(size) + CELL.margin;
      return { id: ref, width: CELL.width, height };
    });
    const layout = layered(items, calls.get(ref) ?? [], { within: 6, between: 40, stagger: 14 }, within);
    const width = Math.max(NARROWEST, layout.width + 2 * FRAME.side);
    return { ref, items, layout, width, height: layout.height + FRAME.top + FRAME.bottom };
  });
  const outer = layered(
    inside.map(({ ref, width, height }) => ({ id: ref, width, height })),
    between(map),
    { within: 40, between: 120, stagger: 0 },
    outside,
  );
  const functions = new Map<string, { x: number; y: number }>();
  const modules = new Map<string, { x: number; y: number; width: number; height: number }>();
  for (const { ref, items, layout, width, height } of inside) {
    const { x = 0, y = 0 } = outer.places.get(ref) ?? {};
    modules.set(ref, { x, y, width, height });
    for (const item of items) {
      const place = layout.places.get(item.id);
      if (!place) continue;
      functions.set(item.id, { x: x + FRAME.side + place.x + 24, y: y + FRAME.top + place.y + item.height / 2 });
    }
  }
  return { functions, modules, width: outer.width, height: outer.height };
}

/** Draws a program with some modules open: their functions stand there, other modules as a whole. */
export function pictureOf(map: ProgramMap, places: Places, open: ReadonlySet<string>): Picture {
  const marks: Mark[] = [];
  const boxes: Box[] = [];
  for (const module of map.modules) {
    const place = places.modules.get(module.ref);
    if (!place) continue;
    const isOpen = open.has(module.ref);
    boxes.push({ module, ...place, open: isOpen });
    if (!isOpen) {
      const { x, y, width, height } = place;
      marks.push({
        id: module.ref,
        kind: 'module',
        x: x + width / 2,
        y: y + height / 2,
        radius: Math.max(14, Math.min(width, height) / 6),
        state: module.state,
        label: [module.path, counted(module.functions.length, 'function'), flawedWords(module.flaws)]
          .filter((part) => part !== null)
          .join(' · '),
      });
      continue;
    }
    for (const { ref, name, size, state } of module.functions) {
      const at = places.functions.get(ref);
      if (at) marks.push({ id: ref, kind: 'function', ...at, radius: radiusOf(size), state, label: name });
    }
  }
  const shown = (ref: string) => {
    const module = map.functions.get(ref)?.module ?? '';
    return open.has(module) ? ref : module;
  };
  const lines = new Map<string, Line>();
  for (const call of map.calls) {
    const from = shown(call.from);
    const to = shown(call.to);
    if (from === to) continue;
    const across = map.functions.get(from)?.module !== map.functions.get(to)?.module;
    lines.set(`${from} ${to}`, { from, to, across });
  }
  return { marks, boxes, lines: [...lines.values()], width: places.width, height: places.height };
}

/** What stands for functions on a picture: themselves, or the closed modules that they are in. */
export function standingFor({ functions }: ProgramMap, open: ReadonlySet<string>, refs: Iterable<string>): string[] {
  const marks = new Set<string>();
  for (const ref of refs) {
    const module = functions.get(ref)?.module;
    if (module !== undefined) marks.add(open.has(module) ? ref : module);
  }
  return [...marks];
}

/** How a camera sees marks now: the box around them in pixels, the place, and how much things are enlarged. */
export interface Sight {
  box: { x: number; y: number; width: number; height: number };
  place: { width: number; height: number };
  /** Pixels for a unit of the picture, and the camera's ratio, which is smaller the nearer it is. */
  scale: number;
  ratio: number;
}

/** How much of the place marks fill at most that a camera goes to. */
const FILLED = 0.7;
/** So large things are at most where a camera goes to, and so large that their names can be read. */
const NEAREST = 1.25;
const READABLE = 0.75;

/** What a camera sees at first, where it would see a whole picture so small that nothing can be read. */
export interface Beginning {
  ratio: number;
  /** The middle of what is seen, as places on the picture. */
  middle: { x: number; y: number };
}

/** How far the picture stands from the border of its place, in pixels. */
export const PADDING = 24;

/** The upper end of a picture, as wide as a high place; null where the whole of it is seen, as in a wide place. */
export function beginningOf(
  { width, height }: Pick<Picture, 'width' | 'height'>,
  place: Sight['place'],
  scale: number,
): Beginning | null {
  if (place.width >= place.height || scale >= READABLE) return null;
  const wanted = Math.min(NEAREST, (place.width - 2 * PADDING) / width);
  if (wanted <= scale || height * wanted <= place.height) return null;
  return { ratio: scale / wanted, middle: { x: width / 2, y: (place.height / 2 - PADDING) / wanted } };
}

/** The ratio with which a camera sees marks, and reads their names if they stand near each other; null: it does already. */
export function ratioFor({ box, place, scale, ratio }: Sight): number | null {
  const inSight = box.x >= 0 && box.y >= 0 && box.x + box.width <= place.width && box.y + box.height <= place.height;
  const wanted = ratio * Math.max(box.width / (FILLED * place.width), box.height / (FILLED * place.height));
  const nearest = (ratio * scale) / NEAREST;
  const next = Math.min(1, Math.max(wanted, nearest));
  // Where all is in sight and hardly gets larger, nothing moves.
  if (inSight && (scale >= READABLE || next > 0.8 * ratio)) return null;
  return next;
}
