// What the picture draws by hand, above or behind the marks.
import type Sigma from 'sigma';

import { cutMiddle } from '../../lib/middle';
import { counted } from '../../ui';
import type { Palette } from './palette';
import type { Box } from './picture';

/** The room that a name has to the right of its mark. */
export const ROOM = 160;
/** Names of functions are shown from this scale on: smaller, they would stand on each other. */
const READABLE = 0.6;

function shortened(context: CanvasRenderingContext2D, text: string, width: number): string {
  const whole = context.measureText(text).width;
  if (whole <= width) return text;
  // Letters are of different widths: what fits by the average may be too wide.
  for (let length = Math.floor(text.length * (width / whole)); length > 2; length -= 1) {
    const cut = cutMiddle(text, length);
    if (context.measureText(cut).width <= width) return cut;
  }
  return cutMiddle(text, 2);
}

/** Where the boxes that can be seen are on the screen. */
function seen(renderer: Sigma, boxes: readonly Box[]) {
  const { width: wide, height: high } = renderer.getDimensions();
  return boxes.flatMap((box) => {
    const from = renderer.graphToViewport({ x: box.x, y: -box.y });
    const to = renderer.graphToViewport({ x: box.x + box.width, y: -(box.y + box.height) });
    if (to.x < 0 || to.y < 0 || from.x > wide || from.y > high) return [];
    return [{ box, x: from.x, y: from.y, width: to.x - from.x, height: to.y - from.y }];
  });
}

/** Draws the boxes of modules, behind everything. */
export function drawBoxes(renderer: Sigma, context: CanvasRenderingContext2D, boxes: readonly Box[], palette: Palette) {
  for (const { box, x, y, width, height } of seen(renderer, boxes)) {
    context.beginPath();
    context.roundRect(x, y, width, height, Math.min(8, width / 8));
    context.fillStyle = box.open ? palette.surface : palette.raised;
    context.fill();
    context.strokeStyle = palette.frame;
    context.lineWidth = box.open ? 1 : 1.5;
    context.stroke();
  }
}

/** Draws text that is readable over whatever is behind it. */
function haloed(context: CanvasRenderingContext2D, text: string, x: number, y: number, color: string, halo: string) {
  context.lineJoin = 'round';
  context.lineWidth = 4;
  context.strokeStyle = halo;
  context.strokeText(text, x, y);
  context.fillStyle = color;
  context.fillText(text, x, y);
}

/** Draws the titles of modules: on top of their boxes, or over them where everything else is too small to read. */
export function drawTitles(
  renderer: Sigma,
  context: CanvasRenderingContext2D,
  boxes: readonly Box[],
  palette: Palette,
) {
  const far = renderer.scaleSize(1) < READABLE;
  for (const { box, x, y, width, height } of seen(renderer, boxes)) {
    context.font = `600 12px ${palette.font}`;
    if (far) {
      const taken = context.measureText(box.module.path).width;
      // A part of a name tells nothing.
      if (taken > width || height < 18) continue;
      // Above the marks, as long as there is room.
      const line = box.open && height < 60 ? y + height / 2 + 4 : y + 14;
      if (box.open || height >= 40)
        haloed(context, box.module.path, x + (width - taken) / 2, line, palette.text, palette.surface);
      continue;
    }
    const title = shortened(context, box.module.path, width - 20);
    const taken = context.measureText(title).width;
    haloed(context, title, x + 10, y + 18, palette.text, palette.surface);
    context.font = `12px ${palette.font}`;
    const rest = counted(box.module.functions.length, 'function');
    if (taken + context.measureText(rest).width + 30 <= width)
      haloed(context, rest, x + 18 + taken, y + 18, palette.muted, palette.surface);
  }
}

interface Drawn {
  x: number;
  y: number;
  size: number;
  label?: string | null;
}

/** How high the plate of a name is, and how far from its mark the name begins and how far it ends from its room's end. */
const PLATE = 16;
const GAP = { before: 4, after: 8 };

/** Draws the name of a mark to its right, on a plate that keeps lines from running through it. */
export function drawLabel(
  context: CanvasRenderingContext2D,
  { x, y, size, label }: Drawn,
  scale: number,
  palette: Palette,
) {
  if (!label || scale < READABLE) return;
  context.font = `12px ${palette.font}`;
  const text = shortened(context, label, Math.max(40, ROOM * scale - size - GAP.before - GAP.after));
  context.beginPath();
  context.roundRect(x + size + 2, y - PLATE / 2, context.measureText(text).width + 4, PLATE, 3);
  context.fillStyle = palette.surface;
  context.fill();
  context.fillStyle = palette.text;
  context.fillText(text, x + size + GAP.before, y + 4);
}

/** Draws the whole name of the mark that is pointed at, in a box of its own. */
export function drawPointed(context: CanvasRenderingContext2D, { x, y, size, label }: Drawn, palette: Palette) {
  context.beginPath();
  context.arc(x, y, size + 2, 0, 2 * Math.PI);
  context.strokeStyle = palette.text;
  context.lineWidth = 2;
  context.stroke();
  if (!label) return;
  context.font = `600 12px ${palette.font}`;
  const width = context.measureText(label).width + 14;
  // Over the name that stands there already; on the other side where there is no room.
  const left = x + size + 8 + width > context.canvas.clientWidth ? x - size - 3 - width : x + size + 2;
  context.beginPath();
  context.roundRect(left, y - 12, width, 24, 6);
  context.fillStyle = palette.raised;
  context.fill();
  context.lineWidth = 1;
  context.strokeStyle = palette.frame;
  context.stroke();
  context.fillStyle = palette.text;
  context.fillText(label, left + 6, y + 4);
}

/** How long a light takes to grow and shrink, in milliseconds. */
const BREATH = 1_200;

/** Draws rings around the marks that were just touched. */
export function drawLights(
  marks: readonly { x: number; y: number; size: number }[],
  context: CanvasRenderingContext2D,
  age: number,
  palette: Palette,
) {
  const wide = 3 + 3 * (0.5 - 0.5 * Math.cos((2 * Math.PI * age) / BREATH));
  context.lineWidth = 3;
  context.strokeStyle = palette.lit;
  for (const { x, y, size } of marks) {
    context.beginPath();
    context.arc(x, y, size + wide, 0, 2 * Math.PI);
    context.stroke();
  }
}
