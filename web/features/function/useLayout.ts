import { useEffect, useMemo, useState } from 'react';

import { openLayoutPlace } from '../../lib/layout';
import { boxesOf, linesOf, type Choices } from './boxes';
import { asked, pictureOf, relaxed, type Picture } from './geometry';
import type { Graph } from './model';

/** A picture, and whether a newer one is being made. */
export interface Laid {
  picture: Picture | null;
  busy: boolean;
  failed: string | null;
}

/**
 * Lays a graph out, off the page's thread. The old picture stays until the new one is there.
 *
 * `opened` is a node that must be seen, wherever it is collapsed.
 */
export function useLayout(graph: Graph | undefined, choices: Choices, opened: string | null): Laid {
  const [place] = useState(openLayoutPlace);
  const [laid, setLaid] = useState<{ of: unknown; picture: Picture | null; failed: string | null }>({
    of: null,
    picture: null,
    failed: null,
  });
  const wanted = useMemo(() => {
    if (!graph) return null;
    const boxes = boxesOf(graph, choices, opened);
    return { boxes, lines: linesOf(graph, boxes) };
  }, [graph, choices, opened]);

  useEffect(() => {
    if (!wanted) return;
    let left = false;
    const question = asked(wanted.boxes, wanted.lines);
    const answered = place.layout(question).catch((error: unknown) => {
      if (left) throw error;
      return place.layout(relaxed(question));
    });
    answered.then(
      (answer) => {
        if (left || !answer) return;
        setLaid({ of: wanted, picture: pictureOf(answer, wanted.boxes, wanted.lines), failed: null });
      },
      (error: unknown) => {
        if (left) return;
        const failed = error instanceof Error ? error.message : String(error);
        setLaid(({ picture }) => ({ of: wanted, picture, failed }));
      },
    );
    return () => {
      left = true;
    };
  }, [place, wanted]);

  useEffect(() => {
    place.prepare();
    return () => place.leave();
  }, [place]);

  return { picture: laid.picture, busy: wanted !== null && laid.of !== wanted, failed: laid.failed };
}
