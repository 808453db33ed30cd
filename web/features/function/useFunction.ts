import type { TypedDocumentNode } from '@urql/core';
import { useEffect, useRef, useState } from 'react';
import { useClient, type Client } from 'urql';

import {
  FunctionHeadDocument,
  FunctionNodesDocument,
  FunctionNodesEndDocument,
  FunctionRegionsDocument,
  FunctionRegionsEndDocument,
} from '../../generated/graphql';
import { functionKey, revisionKey } from '../../lib/program';
import { chase, type Chase } from '../../lib/chase';
import { allPages } from '../../lib/pages';
import { problemOf, type Problem } from '../../lib/problems';
import { resolverOf, type Resolve } from '../type';
import { graphOf, type Graph, type Head, type NodeData, type RegionData } from './model';

/** A function at a revision, with its graph. */
export interface Loaded {
  head: Head;
  graph: Graph;
  /** The revision that it was read at. */
  revision: number | null;
}

/** How far a function is loaded. What was there stays while a newer revision is on its way. */
export interface Loading {
  loaded: Loaded | undefined;
  /** What is known before the nodes are. */
  head: Head | undefined;
  /** Finds the types that are written in it. */
  resolve: Resolve | undefined;
  /** How many nodes have arrived, of how many. */
  progress: { done: number; total: number } | null;
  problem: Problem | undefined;
}

/** The nodes and regions of a function, which its content hash stands for. */
interface Content {
  hash: string;
  ref: string;
  nodes: NodeData[];
  regions: RegionData[];
}

/** Why a load was given up: the answer does not matter. */
class Left extends Error {}

async function contentOf(
  client: Client,
  variables: { id: string; ref: string; at: string | null },
  hash: string,
  isLeft: () => boolean,
  onProgress: (done: number, total: number) => void,
): Promise<Content> {
  type Own = typeof variables & { after: string | null };
  const asked = async <Data, Part>(
    document: TypedDocumentNode<Data, Own>,
    after: string | null,
    partOf: (data: Data) => Part | null | undefined,
  ): Promise<Part> => {
    const own = { ...variables, after };
    const { data, error } = await client.query(document, own, { requestPolicy: 'network-only' }).toPromise();
    if (isLeft()) throw new Left();
    return (data && partOf(data)) ?? fail(error);
  };
  const [regions, nodes] = await Promise.all([
    allPages<RegionData>({
      ask: (after) => asked(FunctionRegionsDocument, after, (data) => data.program?.function?.regions),
      endOf: (after) => asked(FunctionRegionsEndDocument, after, (data) => data.program?.function?.regions?.pageInfo),
      onPage: () => {},
    }),
    allPages<NodeData>({
      ask: (after) => asked(FunctionNodesDocument, after, (data) => data.program?.function?.nodes),
      endOf: (after) => asked(FunctionNodesEndDocument, after, (data) => data.program?.function?.nodes?.pageInfo),
      onPage: onProgress,
    }),
  ]);
  return { hash, ref: variables.ref, nodes, regions };
}

function fail(error: unknown): never {
  throw error ?? new Error('the answer has no function');
}

/**
 * Loads a function at a revision, and again when that is another one. Nodes are asked for only when they have changed.
 * Without a name there is nothing to load.
 */
export function useFunction(
  programId: string,
  name: string | null,
  revision: number | undefined,
): Loading & { retry: () => void } {
  const client = useClient();
  const [loading, setLoading] = useState<Loading>({
    loaded: undefined,
    head: undefined,
    resolve: undefined,
    progress: null,
    problem: undefined,
  });
  const loads = useRef<Chase<number | undefined>>(null);
  const [attempt, setAttempt] = useState(0);

  useEffect(() => {
    if (name === null) return;
    let kept: Content | null = null;
    // Found once, it is asked for by its ref: its name may become another.
    let key = functionKey(name);
    const load = async (revision: number | undefined, isLeft: () => boolean) => {
      const at = revisionKey(revision).at ?? null;
      const variables = { id: programId, ...key, at };
      const { data, error } = await client
        .query(FunctionHeadDocument, variables, { requestPolicy: 'network-only' })
        .toPromise();
      if (isLeft()) return;
      const program = data?.program;
      const head = program?.function;
      if (!program || !head) return fail(error);
      key = functionKey(head.ref);
      const resolve = resolverOf(program.types?.nodes ?? []);
      setLoading((before) => ({ ...before, head, resolve, problem: undefined }));
      if (kept?.ref !== head.ref || kept.hash !== head.contentHash) {
        const progress = (done: number, total: number) =>
          setLoading((before) => ({ ...before, progress: done < total ? { done, total } : null }));
        kept = await contentOf(client, { id: programId, ref: head.ref, at }, head.contentHash, isLeft, progress);
      }
      const graph = graphOf(head, program, kept.nodes, kept.regions);
      const loaded = { head, graph, revision: program.revision?.number ?? null };
      setLoading({ loaded, head, resolve, progress: null, problem: undefined });
    };
    const chased = chase<number | undefined>(async (revision, isLeft) => {
      try {
        await load(revision, isLeft);
      } catch (error) {
        if (isLeft() || error instanceof Left) return;
        setLoading((before) => ({ ...before, progress: null, problem: problemOf(error) }));
      }
    });
    loads.current = chased;
    return () => chased.leave();
  }, [client, programId, name]);

  useEffect(() => loads.current?.want(revision), [client, programId, name, revision, attempt]);

  return { ...loading, retry: () => setAttempt((before) => before + 1) };
}
