import { useEffect, useMemo, useRef, useState } from 'react';

import { chase, type Chase } from '../../lib/chase';
import { openLayoutPlace } from '../../lib/layout';
import { boxesOf, linesOf, type Box, type Choices, type Line } from './boxes';
import { asked, pictureOf, relaxed, type Picture } from './geometry';
import type { Graph } from './model';

/** A picture, and whether a newer one is being made. */
export interface Laid {
  picture: Picture | null;
  busy: boolean;
  failed: string | null;
}

interface Wanted {
  boxes: Box[];
  lines: Line[];
}

/**
 * Lays a graph out, off the page's thread. The old picture stays until the new one is there.
 *
 * `opened` is a node that must be seen, wherever it is collapsed.
 */
export function useLayout(graph: Graph | undefined, choices: Choices, opened: string | null): Laid {
  const [laid, setLaid] = useState<{ of: unknown; picture: Picture | null; failed: string | null }>({
    of: null,
    picture: null,
    failed: null,
  });
  const wanted = useMemo((): Wanted | null => {
    if (!graph) return null;
    const boxes = boxesOf(graph, choices, opened);
    return { boxes, lines: linesOf(graph, boxes) };
  }, [graph, choices, opened]);

  const layouts = useRef<Chase<Wanted>>(null);
  useEffect(() => {
    const place = openLayoutPlace();
    place.prepare();
    const chased = chase<Wanted>(async (wanted, isLeft) => {
      const question = asked(wanted.boxes, wanted.lines);
      try {
        const answer = await place.layout(question).catch(() => place.layout(relaxed(question)));
        if (isLeft()) return;
        setLaid({ of: wanted, picture: pictureOf(answer, wanted.boxes, wanted.lines), failed: null });
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
  }, []);
  useEffect(() => {
    if (wanted) layouts.current?.want(wanted);
  }, [wanted]);

  return { picture: laid.picture, busy: wanted !== null && laid.of !== wanted, failed: laid.failed };
}
