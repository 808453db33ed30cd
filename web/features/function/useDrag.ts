import { useCallback, useEffect, useMemo, useRef, useState, type PointerEvent } from 'react';

import { endAt, endsOf, refusal, startAt, type End, type Start } from './connect';
import type { Graph } from './model';

/** A connection that is being drawn: from where, to where the pointer is, and what is there. */
export interface Drag {
  start: Start;
  from: { x: number; y: number };
  to: { x: number; y: number };
  /** The input at the pointer, and why it cannot take the value. */
  over: { end: End; why: string | null } | null;
  /** Whether what is said of it stands left of the pointer, where there is more room. */
  left: boolean;
}

/** A pointer that moved less than this has clicked, in pixels. */
const STILL = 4;

/** The place of a box that an element is part of. */
function spotOf(element: Element | null): { box: string; side: string; port: number } | null {
  const cell = element?.closest<HTMLElement>('[data-side]');
  const box = cell?.closest<HTMLElement>('[data-ref]')?.dataset['ref'];
  return cell && box ? { box, side: cell.dataset['side'] ?? '', port: Number(cell.dataset['port']) } : null;
}

/** Connections that are drawn with a pointer, from an output to an input; Escape gives one up. */
export function useDrag(graph: Graph, onConnect: ((start: Start, end: End) => void) | undefined) {
  const [drag, setDrag] = useState<Drag | null>(null);
  const ends = useRef(() => {});
  useEffect(() => () => ends.current(), []);

  const begin = useCallback(
    (event: PointerEvent<HTMLElement>) => {
      const spot = event.button === 0 && onConnect ? spotOf(event.target as Element) : null;
      const start = spot?.side === 'out' ? startAt(graph, spot.box, spot.port) : undefined;
      if (!start || !onConnect) return;
      const frame = event.currentTarget.getBoundingClientRect();
      const at = ({ clientX, clientY }: { clientX: number; clientY: number }) => ({
        x: clientX - frame.left,
        y: clientY - frame.top,
      });
      const from = at(event);
      let over: Drag['over'] = null;
      let moved = false;
      const move = (moving: globalThis.PointerEvent) => {
        const to = at(moving);
        if (!moved && Math.hypot(to.x - from.x, to.y - from.y) < STILL) return;
        moved = true;
        const under = spotOf(document.elementFromPoint(moving.clientX, moving.clientY));
        const end = under?.side === 'in' ? endAt(graph, under.box, under.port) : undefined;
        over = end ? { end, why: refusal(graph, start, end) } : null;
        setDrag({ start, from, to, over, left: to.x > frame.width / 2 });
      };
      const leave = () => {
        window.removeEventListener('pointermove', move);
        window.removeEventListener('pointerup', drop);
        window.removeEventListener('pointercancel', leave);
        window.removeEventListener('keydown', escape, true);
        ends.current = () => {};
        setDrag(null);
      };
      const drop = () => {
        leave();
        if (moved && over?.why === null) onConnect(start, over.end);
      };
      const escape = (key: KeyboardEvent) => {
        if (key.key !== 'Escape') return;
        key.stopPropagation();
        leave();
      };
      ends.current();
      ends.current = leave;
      window.addEventListener('pointermove', move);
      window.addEventListener('pointerup', drop);
      window.addEventListener('pointercancel', leave);
      window.addEventListener('keydown', escape, true);
    },
    [graph, onConnect],
  );

  const start = drag?.start;
  /** The inputs that can take the value, by node; null while nothing is drawn. */
  const offers = useMemo(() => {
    if (!start) return null;
    const found = new Map<string, Set<number>>();
    for (const end of endsOf(graph))
      if (refusal(graph, start, end) === null)
        found.set(end.node, (found.get(end.node) ?? new Set<number>()).add(end.port));
    return found;
  }, [graph, start]);
  return { drag, offers, begin };
}
