import { useEffect, useRef, useState } from 'react';
import { useClient } from 'urql';

import { MapCallsDocument, MapFunctionsDocument, MapModulesDocument } from '../../generated/graphql';
import { chase, type Chase } from '../../lib/chase';
import type { Page } from '../../lib/pages';
import { problemOf, type Problem } from '../../lib/problems';
import { revisionKey } from '../../lib/program';
import { mapOf, type CallData, type FunctionData, type ModuleData, type ProgramMap } from './model';

/** How far a map is loaded. What was there stays while a newer revision is on its way. */
export interface MapLoading {
  map: ProgramMap | undefined;
  /** How many functions have arrived, of how many, before the first map. */
  progress: { done: number; total: number } | null;
  problem: Problem | undefined;
}

/** Why a load was given up: the answer does not matter. */
class Left extends Error {}

/** Loads the map of a program at a revision, and again when that is another one. */
export function useMap(programId: string, revision: number | undefined): MapLoading & { retry: () => void } {
  const client = useClient();
  const [loading, setLoading] = useState<MapLoading>({ map: undefined, progress: null, problem: undefined });
  const [attempt, setAttempt] = useState(0);
  const loads = useRef<Chase<number | undefined>>(null);

  useEffect(() => {
    const fresh = { requestPolicy: 'network-only' } as const;
    const chased = chase<number | undefined>(async (revision, isLeft) => {
      const variables = { id: programId, at: revisionKey(revision).at ?? null };
      /** Reads a list to its end. */
      const all = async <Item>(
        ask: (after: string | null) => Promise<{ page: Page<Item> | null | undefined; error: unknown }>,
        onPage: (done: number, total: number) => void = () => {},
      ): Promise<Item[]> => {
        const items: Item[] = [];
        let after: string | null = null;
        do {
          const { page, error } = await ask(after);
          if (isLeft()) throw new Left();
          if (!page) throw error ?? new Error('the answer has no list');
          items.push(...page.nodes);
          onPage(items.length, page.totalCount);
          after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
        } while (after !== null);
        return items;
      };
      try {
        const modules = all<ModuleData>(async (after) => {
          const { data, error } = await client.query(MapModulesDocument, { ...variables, after }, fresh).toPromise();
          return { page: data?.program?.modules, error };
        });
        const functions = all<FunctionData>(
          async (after) => {
            const { data, error } = await client
              .query(MapFunctionsDocument, { ...variables, after }, fresh)
              .toPromise();
            return { page: data?.program?.functions, error };
          },
          (done, total) => setLoading((before) => ({ ...before, progress: { done, total } })),
        );
        const calls = all<CallData>(async (after) => {
          const { data, error } = await client.query(MapCallsDocument, { ...variables, after }, fresh).toPromise();
          return { page: data?.program?.callGraph, error };
        });
        const map = mapOf(...(await Promise.all([modules, functions, calls])));
        setLoading({ map, progress: null, problem: undefined });
      } catch (error) {
        if (isLeft() || error instanceof Left) return;
        setLoading((before) => ({ ...before, progress: null, problem: problemOf(error) }));
      }
    });
    loads.current = chased;
    return () => chased.leave();
  }, [client, programId]);

  useEffect(() => loads.current?.want(revision), [client, programId, revision, attempt]);

  return { ...loading, retry: () => setAttempt((before) => before + 1) };
}
