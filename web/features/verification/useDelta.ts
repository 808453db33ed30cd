import { useEffect, useState } from 'react';

import { VerifyDeltaDocument, type VerifyDeltaSubscription } from '../../generated/graphql';
import { useSocket } from '../../lib/connection';
import { follow } from '../../lib/follow';

/** What a revision has changed about the findings. */
export type Delta = VerifyDeltaSubscription['diagnostics'];

const NOTHING = () => {};

/** What the newest revision up to one has changed about the findings, since the view was opened. */
export function useDelta(programId: string, upTo: number | null): Delta | null {
  const socket = useSocket();
  const [deltas, setDeltas] = useState<readonly Delta[]>([]);
  useEffect(
    () =>
      follow(socket, {
        document: VerifyDeltaDocument,
        variables: (after) => ({ program: programId, after }),
        cursorOf: ({ diagnostics }) => diagnostics.cursor,
        after: null,
        // A paused picture shows an older one than the newest: a few are kept.
        onEvent: ({ diagnostics }) => setDeltas((before) => [diagnostics, ...before].slice(0, 50)),
        // The frame of the program tells how the connection stands.
        onStatus: NOTHING,
        onProblem: NOTHING,
      }),
    [socket, programId],
  );
  return deltas.find(({ revision }) => upTo !== null && revision.number <= upTo) ?? null;
}
