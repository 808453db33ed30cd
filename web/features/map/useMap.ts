import { useEffect, useRef, useState } from 'react';
import { useClient, type Client } from 'urql';

import {
  MapCallsDocument,
  MapDiffDocument,
  MapFunctionsDocument,
  MapModuleDocument,
  MapModulesDocument,
} from '../../generated/graphql';
import { chase, type Chase } from '../../lib/chase';
import type { Page } from '../../lib/pages';
import { problemOf, type Problem } from '../../lib/problems';
import { useBack } from '../../lib/useBack';
import { revisionKey } from '../../lib/program';
import { mapOf, type CallData, type FunctionData, type ModuleData, type ProgramMap } from './model';
import { changedIn, modulesOf, renewed, type CallingData, type MapDiff, type Source } from './refresh';

/** How far a map is loaded. What was there stays while a newer revision is on its way. */
export interface MapLoading {
  map: ProgramMap | undefined;
  /** How many functions have arrived, of how many, before the first map. */
  progress: { done: number; total: number } | null;
  problem: Problem | undefined;
  /** The functions that the newest revision changed, with a number that tells one light from the next. */
  light: { turn: number; refs: readonly string[] };
  /** How many functions were asked for last: all, or those of the modules that changed. */
  asked: number;
}

/** A map with the revision that it is of. */
interface Loaded {
  revision: number | undefined;
  source: Source;
  map: ProgramMap;
}

/** Why a load was given up: the answer does not matter. */
class Left extends Error {}

const FRESH = { requestPolicy: 'network-only' } as const;

/** Asks for the parts of a map at one revision; whoever has left is told nothing more. */
function partsOf(client: Client, programId: string, revision: number | undefined, isLeft: () => boolean) {
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
  return {
    modules: () =>
      all<ModuleData>(async (after) => {
        const { data, error } = await client.query(MapModulesDocument, { ...variables, after }, FRESH).toPromise();
        return { page: data?.program?.modules, error };
      }),
    functions: (onPage: (done: number, total: number) => void) =>
      all<FunctionData>(async (after) => {
        const { data, error } = await client.query(MapFunctionsDocument, { ...variables, after }, FRESH).toPromise();
        return { page: data?.program?.functions, error };
      }, onPage),
    calls: () =>
      all<CallData>(async (after) => {
        const { data, error } = await client.query(MapCallsDocument, { ...variables, after }, FRESH).toPromise();
        return { page: data?.program?.callGraph, error };
      }),
    /** The functions of a module; null where there are more than are told at once. */
    module: async (module: string): Promise<readonly CallingData[] | null> => {
      const { data, error } = await client.query(MapModuleDocument, { ...variables, module }, FRESH).toPromise();
      if (isLeft()) throw new Left();
      const functions = data?.program?.functions;
      // A module that is gone has none.
      if (!functions) return problemOf(error).code === 'NOT_FOUND' ? [] : null;
      return functions.totalCount > functions.nodes.length ? null : functions.nodes;
    },
    since: async (base: number): Promise<MapDiff | null> => {
      const between = { id: programId, from: `r${base}`, to: `r${revision}` };
      const { data } = await client.query(MapDiffDocument, between, FRESH).toPromise();
      if (isLeft()) throw new Left();
      return data?.program?.diff ?? null;
    },
  };
}

/** Loads the map of a program at a revision, and of the next ones what differs. */
export function useMap(programId: string, revision: number | undefined): MapLoading & { retry: () => void } {
  const client = useClient();
  const [loading, setLoading] = useState<MapLoading>({
    map: undefined,
    progress: null,
    problem: undefined,
    light: { turn: 0, refs: [] },
    asked: 0,
  });
  const [attempt, setAttempt] = useState(0);
  const loads = useRef<Chase<number | undefined>>(null);

  useEffect(() => {
    let loaded: Loaded | null = null;
    const chased = chase<number | undefined>(async (revision, isLeft) => {
      const ask = partsOf(client, programId, revision, isLeft);
      /** Some modules as they are now in what was loaded; null where all is asked again. */
      const part = async (before: Loaded, diff: MapDiff): Promise<{ source: Source; asked: number } | null> => {
        const wanted = modulesOf(before.map, diff);
        if (wanted === null) return null;
        const [modules, parts] = await Promise.all([
          ask.modules(),
          Promise.all(wanted.map(async (module) => [module, await ask.module(module)] as const)),
        ]);
        const whole = parts.flatMap(([module, functions]) => (functions ? [[module, functions] as const] : []));
        if (whole.length < parts.length) return null;
        const source = renewed(before.source, modules, new Map(whole));
        return source && { source, asked: whole.reduce((sum, [, functions]) => sum + functions.length, 0) };
      };
      const whole = async (): Promise<{ source: Source; asked: number }> => {
        const [modules, functions, calls] = await Promise.all([
          ask.modules(),
          ask.functions((done, total) => setLoading((before) => ({ ...before, progress: { done, total } }))),
          ask.calls(),
        ]);
        return { source: { modules, functions, calls }, asked: functions.length };
      };
      try {
        const before: Loaded | null = loaded;
        const base = before?.revision;
        const diff = base === undefined || revision === undefined || base === revision ? null : await ask.since(base);
        const { source, asked } = (before && diff && (await part(before, diff))) ?? (await whole());
        const map = mapOf(source.modules, source.functions, source.calls);
        loaded = { revision, source, map };
        const touched = (diff && changedIn(diff)) ?? [];
        setLoading(({ light }) => ({
          map,
          progress: null,
          problem: undefined,
          light: touched.length === 0 ? light : { turn: light.turn + 1, refs: touched },
          asked,
        }));
      } catch (error) {
        if (isLeft() || error instanceof Left) return;
        setLoading((before) => ({ ...before, progress: null, problem: problemOf(error) }));
      }
    });
    loads.current = chased;
    return () => chased.leave();
  }, [client, programId]);

  useEffect(() => loads.current?.want(revision), [client, programId, revision, attempt]);

  const retry = () => setAttempt((before) => before + 1);
  useBack(loading.problem, retry);
  return { ...loading, retry };
}
