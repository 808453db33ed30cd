import { useCallback, useMemo, useState } from 'react';

import { around, type Choices } from './boxes';
import type { Graph } from './model';
import { useLayout, type Laid } from './useLayout';

const NONE: Choices = new Map();

/** A graph that is laid out, with what is collapsed in it. */
export interface Folds extends Laid {
  toggle(id: string, collapsed: boolean): void;
  /** Opens whatever is collapsed around a node. */
  reveal(ref: string | null): void;
}

/** Lays a graph out with what the reader has opened and collapsed; `opened` and `first` are what is open before that. */
export function useFolds(graph: Graph | undefined, opened: string | null, first: Choices = NONE): Folds {
  const [choices, setChoices] = useState(first);
  const laid = useLayout(graph, choices, opened);
  const { picture } = laid;
  const shown = useMemo(() => new Set(picture?.boxes.map(({ box }) => box.id)), [picture]);
  const toggle = useCallback(
    (id: string, collapsed: boolean) => setChoices((before) => new Map(before).set(id, collapsed)),
    [],
  );
  const reveal = useCallback(
    (ref: string | null) => {
      if (ref !== null && graph?.nodes.has(ref) && !shown.has(ref))
        setChoices((before) => new Map([...before, ...around(graph, ref).map((id) => [id, false] as const)]));
    },
    [graph, shown],
  );
  return { ...laid, toggle, reveal };
}
