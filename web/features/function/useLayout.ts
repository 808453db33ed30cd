import { useEffect, useMemo, useRef, useState } from 'react';

import { chase, type Chase } from '../../lib/chase';
import { openLayoutPlace } from '../../lib/layout';
import { boxesOf, linesOf, type Box, type Choices, type Line } from './boxes';
import { asked, pictureOf, relaxed, type Picture } from './geometry';
import type { Graph } from './model';

/** A picture, and whether a newer one is being made. */
export interface Laid {
  picture: Picture | null;
  /** The graph that the picture is of. */
  of: Graph | null;
  busy: boolean;
  failed: string | null;
}

interface Wanted {
  graph: Graph;
  choices: Choices;
  boxes: Box[];
  lines: Line[];
}

/**
 * Lays a graph out, off the page's thread. The old picture stays until the new one is there.
 *
 * `opened` is a node that must be seen, wherever it is collapsed.
 */
export function useLayout(graph: Graph | undefined, choices: Choices, opened: string | null): Laid {
  const [laid, setLaid] = useState<{ of: Wanted | null; picture: Picture | null; failed: string | null }>({
    of: null,
    picture: null,
    failed: null,
  });
  // A run goes back and forth between a few functions: their pictures are made once.
  const [pictures] = useState(() => new WeakMap<Graph, { wanted: Wanted; picture: Picture }>());
  const known = graph && pictures.get(graph);
  const wanted = useMemo((): Wanted | null => {
    if (!graph) return null;
    if (known?.wanted.choices === choices) return known.wanted;
    const boxes = boxesOf(graph, choices, opened);
    return { graph, choices, boxes, lines: linesOf(graph, boxes) };
  }, [graph, choices, opened, known]);

  const layouts = useRef<Chase<Wanted>>(null);
  useEffect(() => {
    const place = openLayoutPlace();
    place.prepare();
    const chased = chase<Wanted>(async (wanted, isLeft) => {
      const question = asked(wanted.boxes, wanted.lines);
      try {
        const answer = await place.layout(question).catch(() => place.layout(relaxed(question)));
        if (isLeft()) return;
        const picture = pictureOf(answer, wanted.boxes, wanted.lines);
        pictures.set(wanted.graph, { wanted, picture });
        setLaid({ of: wanted, picture, failed: null });
      } catch (error) {
        if (isLeft()) return;
        const failed = error instanceof Error ? error.message : String(error);
        setLaid(({ picture }) => ({ of: wanted, picture, failed }));
      }
    });
    layouts.current = chased;
    return () => {
      chased.leave();
      place.leave();
    };
  }, [pictures]);
  const ready = known !== undefined && known.wanted === wanted;
  useEffect(() => {
    if (wanted && !ready) layouts.current?.want(wanted);
  }, [wanted, ready]);

  if (ready) return { picture: known.picture, of: known.wanted.graph, busy: false, failed: null };
  const busy = wanted !== null && laid.of !== wanted;
  return { picture: laid.picture, of: laid.of?.graph ?? null, busy, failed: laid.failed };
}
