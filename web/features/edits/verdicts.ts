// Verdicts of revisions, asked for together: rows want them one by one, and each costs the server a verification.
import { useCallback, useSyncExternalStore } from 'react';
import { useClient, type Client } from 'urql';

import { FeedVerdictsDocument, type FeedVerdictsQuery } from '../../generated/graphql';
import { chase } from '../../lib/chase';
import { problemOf, type Problem } from '../../lib/problems';

type View = NonNullable<NonNullable<FeedVerdictsQuery['nodes']>[number]>;
/** What the verifier says at a revision. */
export type Verified = Extract<View, { __typename: 'Program' }>;
/** What has come of asking for a verdict. */
export type Answer = { verified: Verified } | { problem: Problem };

/** So many are asked for at once; what is wanted beside them comes next, the newest first. */
export const BATCH = 10;

/** The verdicts of a program, as far as they are known. Revisions never change, and neither do their verdicts. */
export interface Verdicts {
  of(revision: number): Answer | undefined;
  /** Wants a verdict; what failed is asked for again. */
  want(revision: number): void;
  subscribe(listener: () => void): () => void;
}

/** Opens verdicts; `ask` answers for some revisions, in their order. */
export function openVerdicts(ask: (revisions: readonly number[]) => Promise<readonly Answer[]>): Verdicts {
  const answers = new Map<number, Answer>();
  const wanted = new Set<number>();
  const listeners = new Set<() => void>();
  const work = chase<null>(async () => {
    // Rows that come into sight together want theirs in one turn.
    await Promise.resolve();
    while (wanted.size > 0) {
      const batch = [...wanted].sort((a, b) => b - a).slice(0, BATCH);
      const found = await ask(batch);
      batch.forEach((revision, at) => {
        wanted.delete(revision);
        const answer = found[at];
        if (answer) answers.set(revision, answer);
      });
      for (const listener of listeners) listener();
    }
  });
  return {
    of: (revision) => answers.get(revision),
    want(revision) {
      const known = answers.get(revision);
      if (wanted.has(revision) || (known && 'verified' in known)) return;
      wanted.add(revision);
      work.want(null);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Asks a server for verdicts. */
async function askFor(client: Client, program: string, revisions: readonly number[]): Promise<Answer[]> {
  // A view of a revision has the id of the program with the revision behind it.
  const views = revisions.map((number) => `${program}@r${number}`);
  const { data, error } = await client
    .query(FeedVerdictsDocument, { views }, { requestPolicy: 'network-only' })
    .toPromise();
  return revisions.map((_, at): Answer => {
    const view = data?.nodes?.[at];
    if (view?.__typename === 'Program' && view.verify) return { verified: view };
    const gone: Problem = { code: 'NOT_FOUND', message: 'the revision cannot be read', action: '' };
    return { problem: error ? problemOf(error) : gone };
  });
}

const opened = new WeakMap<Client, Map<string, Verdicts>>();

function verdictsOf(client: Client, program: string): Verdicts {
  const programs = opened.get(client) ?? new Map<string, Verdicts>();
  opened.set(client, programs);
  const verdicts = programs.get(program) ?? openVerdicts((revisions) => askFor(client, program, revisions));
  programs.set(program, verdicts);
  return verdicts;
}

/** The verdict of a revision, once it is there. */
export function useVerdict(program: string, revision: number): Answer | undefined {
  const client = useClient();
  const verdicts = verdictsOf(client, program);
  const subscribe = useCallback(
    (listener: () => void) => {
      const leave = verdicts.subscribe(listener);
      verdicts.want(revision);
      return leave;
    },
    [verdicts, revision],
  );
  return useSyncExternalStore(subscribe, () => verdicts.of(revision));
}
