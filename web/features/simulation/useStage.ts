import { useCallback, useMemo, useState } from 'react';

import type { Problem } from '../../lib/problems';
import { around, useFunction, useLayout, type Loaded } from '../function';

/** How many functions are kept at hand. */
const KEPT = 24;
const NO_CHOICES: ReadonlyMap<string, boolean> = new Map();

/** A function on the stage of a run: its graph, and the picture of it. */
export interface Stage {
  loaded: Loaded | undefined;
  picture: ReturnType<typeof useLayout>['picture'];
  busy: boolean;
  failed: string | null;
  problem: Problem | undefined;
  retry(): void;
  toggle(id: string, collapsed: boolean): void;
}

/** Shows a function at a revision, with a node in view; functions that were shown come back at once. */
export function useStage(programId: string, ref: string, revision: number | undefined, at: string | null): Stage {
  const [shown, setShown] = useState<ReadonlyMap<string, Loaded>>(new Map());
  const [asked, setAsked] = useState(ref);
  const [choices, setChoices] = useState<ReadonlyMap<string, ReadonlyMap<string, boolean>>>(new Map());
  const cached = shown.get(ref);
  if (!cached && asked !== ref) setAsked(ref);
  const { loaded, problem, retry } = useFunction(programId, asked, revision);
  if (loaded && loaded.head.ref === asked && shown.get(asked) !== loaded)
    setShown(new Map([...[...shown].filter(([key]) => key !== asked).slice(1 - KEPT), [asked, loaded]]));

  const graph = cached?.graph;
  const mine = choices.get(ref) ?? NO_CHOICES;
  const { picture, of, busy, failed } = useLayout(graph, mine, at);
  const toggle = useCallback(
    (id: string, collapsed: boolean) =>
      setChoices((before) => new Map(before).set(ref, new Map(before.get(ref)).set(id, collapsed))),
    [ref],
  );

  const boxes = useMemo(() => new Set(picture?.boxes.map(({ box }) => box.id)), [picture]);
  // A place that is collapsed is opened when the run comes to it.
  const hidden = graph && of === graph && !busy && at !== null && graph.nodes.has(at) && !boxes.has(at);
  const closed = hidden ? around(graph, at).filter((id) => mine.get(id) !== false) : [];
  if (closed.length > 0)
    setChoices((before) => new Map(before).set(ref, new Map([...mine, ...closed.map((id) => [id, false] as const)])));

  const mineNow = of === graph;
  return {
    loaded: cached,
    picture: mineNow ? picture : null,
    busy: !cached || busy,
    failed: mineNow ? failed : null,
    problem: cached ? undefined : problem,
    retry,
    toggle,
  };
}
