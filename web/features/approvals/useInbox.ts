import { useEffect, useEffectEvent, useReducer } from 'react';
import { useClient } from 'urql';

import {
  QuestionProgramEventsDocument,
  QuestionsDocument,
  QuestionsOfRunDocument,
  type InterruptStatus,
} from '../../generated/graphql';
import { useSocket } from '../../lib/connection';
import { follow } from '../../lib/follow';
import { usePages, type Pages } from '../../lib/pages';
import { useQuestions } from '../questions';
import { merged, refreshed, type Question } from './model';

/** More runs than these at once are one reason to load the list again. */
const SINGLY = 8;
/** Changes of programs within so many milliseconds are one reason to look again. */
const GATHERED = 300;

const NONE: ReadonlyMap<string, Question> = new Map();

/** What has become of questions since a list of a status was loaded. */
interface News {
  status: InterruptStatus;
  map: ReadonlyMap<string, Question>;
}

/** The news after the questions of a run were read again; none where there is nothing to go by. */
function afterNews(
  news: News,
  { status, listed, now }: { status: InterruptStatus; listed: readonly Question[]; now: readonly Question[] | null },
): News {
  if (now === null) return { status, map: NONE };
  const known = news.status === status ? news.map : NONE;
  return { status, map: refreshed(known, [...listed, ...known.values()], now, status) };
}

/** The questions with a status, live. */
export function useInbox(status: InterruptStatus): Omit<Pages<Question>, 'next'> & {
  more: (() => void) | undefined;
  /** Loads the list again; what was answered meanwhile leaves it. */
  refresh(): void;
  /** Asks for the questions of a run as they are now. */
  reread(run: string): void;
} {
  const client = useClient();
  const socket = useSocket();
  const { changed } = useQuestions();
  const pages = usePages({
    document: QuestionsDocument,
    variables: { status },
    pageOf: ({ interrupts }) => interrupts,
    keyOf: ({ id }: Question) => id,
  });
  const [fresh, dispatch] = useReducer(afterNews, { status, map: NONE });
  const map = fresh.status === status ? fresh.map : NONE;
  const items = pages.items && merged(pages.items, map, status);

  const take = useEffectEvent((now: readonly Question[]) => dispatch({ status, listed: pages.items ?? [], now }));
  const reread = (run: string) => {
    const answer = client.query(QuestionsOfRunDocument, { run }, { requestPolicy: 'network-only' });
    void answer.toPromise().then(({ data }) => data?.run?.interrupts && take(data.run.interrupts));
  };
  const refresh = () => {
    dispatch({ status, listed: [], now: null });
    pages.refresh();
  };

  const onChanged = useEffectEvent(() => {
    if (changed.runs === null || changed.runs.length > SINGLY) refresh();
    else changed.runs.forEach(reread);
  });
  useEffect(() => {
    if (changed.turn > 0) onChanged();
  }, [changed.turn]);

  const onPrograms = useEffectEvent((programs: ReadonlySet<string>) => {
    const stale = items?.filter(
      ({ status, base, run }) => status === 'OPEN' && base && run?.program && programs.has(run.program.programId),
    );
    new Set(stale?.slice(0, SINGLY).map(({ runId }) => runId)).forEach(reread);
  });
  useEffect(() => {
    if (status !== 'OPEN') return;
    let programs = new Set<string>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = follow(socket, {
      document: QuestionProgramEventsDocument,
      variables: (after) => ({ after }),
      cursorOf: ({ programEvents }) => programEvents.cursor,
      after: null,
      onEvent: ({ programEvents: { __typename, programId } }) => {
        if (__typename !== 'RevisionCommitted') return;
        programs.add(programId);
        timer ??= setTimeout(() => {
          timer = undefined;
          onPrograms(programs);
          programs = new Set();
        }, GATHERED);
      },
      onStatus: () => {},
      // Whoever may not follow programs is told by the answer that a base is stale.
      onProblem: () => {},
    });
    return () => {
      clearTimeout(timer);
      end();
    };
  }, [socket, status]);

  const { total, fetching, problem, more } = pages;
  return { items, total, fetching, problem, more, refresh, reread };
}
