import { useEffect, useReducer, useRef } from 'react';

import { VerifyAttemptsDocument, type CheckContractsInput } from '../../generated/graphql';
import { useSocket } from '../../lib/connection';
import { OFFLINE, problemOf, type Problem } from '../../lib/problems';
import { further, IDLE, type Attempt, type Search } from './model';

type Step =
  | { type: 'started' }
  | { type: 'attempt'; attempt: Attempt }
  | { type: 'ended'; status: Search['status']; problem?: Problem };
type State = { search: Search; problem: Problem | undefined };

function after({ search, problem }: State, step: Step): State {
  switch (step.type) {
    case 'started':
      return { search: { ...IDLE, status: 'running' }, problem: undefined };
    case 'attempt':
      return { search: further(search, step.attempt), problem };
    case 'ended':
      return search.status === 'running'
        ? { search: { ...search, status: step.status }, problem: step.problem }
        : { search, problem };
  }
}

/** Searches for inputs that break functions; it goes on only as long as somebody looks. */
export function useContractSearch(
  onEnd: () => void,
): State & { start(input: CheckContractsInput): void; cancel(): void } {
  const socket = useSocket();
  const [state, dispatch] = useReducer(after, { search: IDLE, problem: undefined });
  const leave = useRef<() => void>(() => {});
  useEffect(() => () => leave.current(), []);

  const start = (input: CheckContractsInput) => {
    leave.current();
    dispatch({ type: 'started' });
    leave.current = socket.client.subscribe<{ contractAttempts: Attempt }>(
      { query: VerifyAttemptsDocument, variables: { input } },
      {
        next: ({ data, errors }) => {
          if (errors) dispatch({ type: 'ended', status: 'failed', problem: problemOf(errors) });
          else if (data) dispatch({ type: 'attempt', attempt: data.contractAttempts });
        },
        error: (error) => {
          const problem = problemOf(error);
          const action = problem.code === OFFLINE ? 'The connection was lost, and the search with it.' : problem.action;
          dispatch({ type: 'ended', status: 'failed', problem: { ...problem, action } });
        },
        complete: () => {
          dispatch({ type: 'ended', status: 'done' });
          onEnd();
        },
      },
    );
  };
  const cancel = () => {
    dispatch({ type: 'ended', status: 'cancelled' });
    leave.current();
  };
  return { ...state, start, cancel };
}
