import { useEffect, useMemo, useRef, useState } from 'react';
import { useClient } from 'urql';

import { TypeNamedDocument, TypeShownDocument } from '../../generated/graphql';
import { chase, type Chase } from '../../lib/chase';
import { problemOf, type Problem } from '../../lib/problems';
import { revisionKey } from '../../lib/program';
import { containersOf, foundBy, holdersOf, resolverOf, type Container, type Facts, type Resolve } from './model';

/** A type at a revision, with what contains it. */
export interface Loaded {
  facts: Facts;
  resolve: Resolve;
  containers: Container[];
  /** Whether there are more of these. */
  truncated: boolean;
  holders: ReturnType<typeof holdersOf>;
  /** The revision that it was read at. */
  revision: number | null;
}

/** What an address names that is no type. */
function isNone(name: string): Problem {
  return {
    ...problemOf(null),
    code: 'NOT_FOUND',
    message: `\`${name}\` is no type`,
    action: 'The program has something else by this name.',
  };
}

/** Loads a type at a revision, and again when that is another one. What was there stays meanwhile. */
export function useType(
  programId: string,
  name: string,
  revision: number | undefined,
): { loaded: Loaded | undefined; problem: Problem | undefined; retry(): void } {
  const client = useClient();
  const [loading, setLoading] = useState<{ loaded?: Loaded; problem?: Problem }>({});
  const loads = useRef<Chase<number | undefined>>(null);
  const [attempt, setAttempt] = useState(0);

  useEffect(() => {
    // Found once, it is asked for by its ref: its name may become another.
    let key = name;
    const fresh = { requestPolicy: 'network-only' } as const;
    const load = async (revision: number | undefined, isLeft: () => boolean) => {
      const at = revisionKey(revision).at ?? null;
      const found = await client.query(TypeNamedDocument, { id: programId, name: key, at }, fresh).toPromise();
      if (isLeft()) return;
      const program = found.data?.program;
      if (!program?.impact) throw found.error ?? new Error('the answer has no types');
      const named = foundBy(program, key);
      if (!named) return setLoading(({ loaded }) => ({ ...(loaded && { loaded }), problem: isNone(name) }));
      const shown = await client.query(TypeShownDocument, { type: named.id }, fresh).toPromise();
      if (isLeft()) return;
      const facts = shown.data?.node;
      if (facts?.__typename !== 'TypeDef') throw shown.error ?? new Error('the answer has no type');
      key = facts.ref;
      const resolve = resolverOf(program.types?.nodes ?? []);
      setLoading({
        loaded: {
          facts,
          resolve,
          containers: containersOf(program, facts.ref, resolve),
          truncated: program.impact.truncated,
          holders: holdersOf(program, facts.ref, resolve),
          revision: program.revision?.number ?? null,
        },
      });
    };
    const chased = chase<number | undefined>(async (revision, isLeft) => {
      try {
        await load(revision, isLeft);
      } catch (error) {
        if (!isLeft()) setLoading(({ loaded }) => ({ ...(loaded && { loaded }), problem: problemOf(error) }));
      }
    });
    loads.current = chased;
    return () => chased.leave();
  }, [client, programId, name]);

  useEffect(() => loads.current?.want(revision), [client, programId, name, revision, attempt]);

  const retry = useMemo(() => () => setAttempt((before) => before + 1), []);
  return { loaded: loading.loaded, problem: loading.problem, retry };
}
