import { useCallback, useRef, useState } from 'react';
import { useClient } from 'urql';

import { AnswerQuestionDocument } from '../../generated/graphql';
import { freshKey } from '../../lib/key';
import { problemOf, type Problem } from '../../lib/problems';
import type { Decision } from './model';

/** What came of an answer. */
export type Outcome =
  | { state: 'answered'; decision: Decision }
  /** Somebody else was first: what they decided stands. */
  | { state: 'already'; decision: Decision }
  /** What was asked is not so any more. */
  | { state: 'stale'; reason: string }
  | { state: 'failed'; problem: Problem };

/** Sends answers, each once. */
export function useAnswer(): {
  busy: boolean;
  send(id: string, answer: unknown, reason: string): Promise<Outcome>;
} {
  const client = useClient();
  const [busy, setBusy] = useState(false);
  const last = useRef<{ said: string; key: string } | null>(null);

  const send = useCallback(
    async (id: string, answer: unknown, reason: string): Promise<Outcome> => {
      const words = reason.trim();
      const said = JSON.stringify([id, answer, words]);
      // The same answer again, after a lost connection perhaps, is one answer; another one is another.
      const key = last.current?.said === said ? last.current.key : freshKey();
      last.current = { said, key };
      setBusy(true);
      const input = { interruptId: id, answer, idempotencyKey: key, ...(words && { reason: words }) };
      const { data, error } = await client.mutation(AnswerQuestionDocument, { input }).toPromise();
      setBusy(false);
      const outcome = data?.answerInterrupt?.outcome;
      switch (outcome?.__typename) {
        case undefined:
          return { state: 'failed', problem: problemOf(error) };
        case 'Answered':
          return { state: 'answered', decision: outcome.decision };
        case 'AlreadyAnswered':
          return { state: 'already', decision: outcome.decision };
        case 'StaleInterrupt':
          return { state: 'stale', reason: outcome.reason };
      }
    },
    [client],
  );
  return { busy, send };
}
