import { useNavigate } from '@tanstack/react-router';
import { useCallback } from 'react';

import type { Graph, GraphNode } from './model';
import { openedBy } from './steps';
import type { Folds } from './useFolds';

/** What a reader does with the nodes of a graph that can be folded. */
export interface Opening {
  /** Selects a node, wherever it is folded away. */
  select(ref: string | null): void;
  /** Goes to the function that a node calls, or folds what it owns. */
  open(ref: string): void;
}

/** Selects and opens nodes. `revOf` tells the revision at which a node's callee is looked at; without one the newest. */
export function useOpening(
  graph: Graph | undefined,
  { picture, toggle, reveal }: Folds,
  about: {
    program: string;
    revOf(node: GraphNode): number | undefined;
    onSelect(ref: string | null): void;
  },
): Opening {
  const { program, revOf, onSelect } = about;
  const navigate = useNavigate();
  const select = useCallback(
    (ref: string | null) => {
      reveal(ref);
      onSelect(ref);
    },
    [reveal, onSelect],
  );
  const open = useCallback(
    (ref: string) => {
      const opened = openedBy(graph, picture?.boxes ?? [], ref);
      if (opened?.kind === 'fold') toggle(ref, opened.collapsed);
      if (opened?.kind !== 'callee') return;
      const rev = revOf(opened.node);
      void navigate({
        to: '/p/$program/f/$function',
        params: { program, function: opened.callee },
        search: rev === undefined ? {} : { rev },
      });
    },
    [graph, picture, toggle, navigate, program, revOf],
  );
  return { select, open };
}
