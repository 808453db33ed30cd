import { useCallback, useRef, useState } from 'react';
import { useClient } from 'urql';

import { TakeTurnDocument } from '../../generated/graphql';
import { freshKey } from '../../lib/key';
import { problemOf, type Problem } from '../../lib/problems';

/** Why a turn was not taken, and what to do about it. */
function refusal(error: unknown): Problem {
  const problem = problemOf(error);
  switch (problem.code) {
    case 'BAD_REQUEST':
      return { ...problem, action: 'It was not taken. Your words stand below.' };
    case 'NOT_FOUND':
      return { ...problem, action: 'It was not taken: the conversation, its flow or its question is not here.' };
    case 'UNSUPPORTED':
      return { ...problem, action: 'It was not taken: this server or your token cannot do that.' };
    default:
      return { ...problem, action: `It was not taken, or nobody knows. ${problem.action}` };
  }
}

/** Says things in a session, each once. */
export function useTurn(session: string): {
  busy: boolean;
  problem: Problem | undefined;
  /** Says something; true where the server has taken it. */
  send(turn: Record<string, unknown>, key?: string): Promise<boolean>;
} {
  const client = useClient();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const last = useRef<{ said: string; key: string } | null>(null);

  const send = useCallback(
    async (turn: Record<string, unknown>, given?: string): Promise<boolean> => {
      const said = JSON.stringify(turn);
      // The same again after it was not taken, or after a lost connection, is one turn.
      const key = given ?? (last.current?.said === said ? last.current.key : freshKey());
      last.current = { said, key };
      setBusy(true);
      setProblem(undefined);
      const input = { ...turn, sessionId: session, idempotencyKey: key };
      const { data, error } = await client.mutation(TakeTurnDocument, { input }).toPromise();
      setBusy(false);
      if (!data?.turn) {
        setProblem(refusal(error));
        return false;
      }
      last.current = null;
      return true;
    },
    [client, session],
  );
  return { busy, problem, send };
}
