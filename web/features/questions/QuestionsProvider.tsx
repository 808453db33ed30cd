import { createContext, use, useEffect, useReducer, type ReactNode } from 'react';
import { useClient } from 'urql';

import {
  OpenQuestionsDocument,
  QuestionEventsDocument,
  type QuestionEventsSubscription,
} from '../../generated/graphql';
import { useSocket } from '../../lib/connection';
import { follow } from '../../lib/follow';
import { UNAUTHENTICATED } from '../../lib/problems';
import { setWaiting } from '../../lib/title';
import { after, EMPTY, type Questions } from './model';

/** Events within so many milliseconds are one reason to ask again. */
const GATHERED = 150;

const Context = createContext<Questions>(EMPTY);

/** Counts the questions that wait, wherever the reader is: in the title, on the icon, and in words. */
export function QuestionsProvider({ children }: { children: ReactNode }) {
  const client = useClient();
  const socket = useSocket();
  const [questions, dispatch] = useReducer(after, EMPTY);
  const { open, told } = questions;

  useEffect(() => {
    let left = false;
    let gathered: QuestionEventsSubscription['runEvents'][] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const count = () => {
      const answer = client.query(OpenQuestionsDocument, {}, { requestPolicy: 'network-only' });
      void answer.toPromise().then(({ data }) => {
        // Who may not see them has none that wait.
        if (!left && data?.interrupts) dispatch({ type: 'counted', open: data.interrupts.totalCount });
      });
    };
    count();
    const end = follow(socket, {
      document: QuestionEventsDocument,
      variables: (after) => ({ after }),
      cursorOf: ({ runEvents }) => runEvents.cursor,
      after: null,
      onEvent: ({ runEvents }) => {
        gathered.push(runEvents);
        timer ??= setTimeout(() => {
          timer = undefined;
          dispatch({ type: 'happened', events: gathered });
          gathered = [];
          count();
        }, GATHERED);
      },
      onStatus: (live) => {
        // What happened between the first answers and the first event is in neither.
        if (live === 'connected') count();
        dispatch({ type: 'status', live });
      },
      onProblem: ({ code }) => {
        // Over HTTP the server says it again, to who asks for a token then.
        if (code === UNAUTHENTICATED) count();
      },
    });
    return () => {
      left = true;
      clearTimeout(timer);
      end();
    };
  }, [client, socket]);

  useEffect(() => setWaiting(open ?? 0), [open]);

  return (
    <Context value={questions}>
      {children}
      <output className="hidden" aria-live="polite" data-questions={open}>
        {told}
      </output>
    </Context>
  );
}

/** The questions that wait. */
export function useQuestions(): Questions {
  return use(Context);
}
