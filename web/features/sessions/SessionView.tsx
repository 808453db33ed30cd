import { Link, useParams } from '@tanstack/react-router';
import { MessageSquarePlus } from 'lucide-react';
import { useCallback, useEffect, useEffectEvent, useLayoutEffect, useRef, useState } from 'react';

import { FlowsDocument } from '../../generated/graphql';
import { useAsk } from '../../lib/ask';
import { useCaller } from '../../lib/caller';
import { LiveMark } from '../../lib/LiveMark';
import { setTitle } from '../../lib/title';
import { useKept } from '../../lib/useKept';
import { Actor, Ago, counted, ProblemPanel, Skeleton, SkeletonRows, useMoment } from '../../ui';
import { isOver, shortId } from '../runs';
import { forgetOpening, openingOf } from './begun';
import { Composer } from './Composer';
import { Exchange, Said } from './Exchange';
import { askedOf, newestOf, sayingWords, turnsOf, wordsFieldOf, type Question, type Saying, type Turn } from './model';
import { useConversation } from './useConversation';
import { useTurn } from './useTurn';
import './sessions.css';

/** Nearer to the end than this, in pixels, the reader reads on. */
const NEAR = 80;
/** How long the first words wait for the stream that tells what comes of them, in milliseconds. */
const PATIENCE = 3_000;

/** Something that was said and that the server may not have yet. */
interface Sending {
  words: string;
  /** The newest run, and the question that is answered, when it was said. */
  newest: string | null;
  answers: string | null;
}

/** One conversation. */
export function SessionView() {
  const { session: id } = useParams({ from: '/sessions/$session' });
  // Another session is another page.
  return <Conversation key={id} id={id} />;
}

/** Whether what was said stands in the conversation by now. */
function landed({ newest, answers }: Sending, turns: readonly Turn[]): boolean {
  if (answers === null) return (turns.at(-1)?.id ?? null) !== newest;
  const question = turns.flatMap(({ interrupts }) => interrupts ?? []).find((each) => each.id === answers);
  return question !== undefined && question.status !== 'OPEN';
}

function Conversation({ id }: { id: string }) {
  const talk = useConversation(id);
  const { head, runs, states, live, listening, working, reread } = talk;
  const { busy, problem, send } = useTurn(id);
  const { name, lacks: lacksScope } = useCaller();
  const flows = useAsk(FlowsDocument, {});
  const [opening] = useState(() => openingOf(id));
  const [words, setWords] = useKept(`words ${id}`, () => '');
  const [toBegin, setToBegin] = useState(opening !== null);
  const [sending, setSending] = useState<Sending | null>(
    opening && { words: opening.words, newest: null, answers: null },
  );
  const [refused, setRefused] = useState(false);
  const turns = turnsOf(runs);
  const latest = useRef<readonly Turn[]>([]);
  useLayoutEffect(() => {
    latest.current = turns;
  });
  const asked = askedOf(turns);
  const newest = turns.at(-1);
  const running = newest?.status === 'RUNNING';
  const now = useMoment(running ? 'seconds' : 'minutes');

  const title = head ? (head.title ?? `Conversation ${shortId(id)}`) : 'Conversation';
  useEffect(() => setTitle(title), [title]);

  const say = useCallback(
    async (
      saying: Saying,
      turn: Record<string, unknown>,
      before: { newest: string | null; asked: Question | null },
      key?: string,
    ) => {
      setWords('');
      const said = { words: sayingWords(saying), newest: before.newest, answers: before.asked?.id ?? null };
      setRefused(false);
      setSending(said);
      const taken = await send(turn, key);
      reread();
      // An answer that is lost on its way is none where what was said stands in the conversation.
      if (taken || landed(said, latest.current)) return;
      setRefused(true);
      // Nothing that was typed is lost.
      setWords((now) => (now === '' ? saying.words : now));
    },
    [send, reread, setWords],
  );

  // The words that began the session are said here, where what comes of them is heard.
  const begin = useEffectEvent(() => {
    const first = openingOf(id);
    if (!first) return;
    forgetOpening(id);
    setToBegin(false);
    void say(
      { words: first.words },
      { text: first.words, ...(first.options && { options: first.options }) },
      { newest: null, asked: null },
      first.key,
    );
  });
  useEffect(() => {
    if (!opening) return;
    const timer = setTimeout(() => begin(), listening || live === 'stopped' ? 0 : PATIENCE);
    return () => clearTimeout(timer);
  }, [opening, listening, live]);

  const missing = sending !== null && !landed(sending, turns);
  const waitsToLand = missing && !refused;
  const log = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const first = useRef<{ id: string | undefined; height: number }>({ id: undefined, height: 0 });
  useLayoutEffect(() => {
    const element = log.current;
    if (!element) return;
    const oldest = turns[0]?.id;
    if (follows.current) element.scrollTop = element.scrollHeight;
    // What came in above does not move what is read.
    else if (oldest !== first.current.id) element.scrollTop += element.scrollHeight - first.current.height;
    first.current = { id: oldest, height: element.scrollHeight };
  });

  // What the flow says is told to who does not see it; what was there when the page was opened is not.
  const said = newestOf(turns, states);
  const [told, setTold] = useState('');
  const heard = useRef<string | null | undefined>(undefined);
  useEffect(() => {
    if (!head) return;
    if (heard.current !== undefined && said !== null && said !== heard.current) setTold(said);
    heard.current = said;
  }, [head, said]);

  if (talk.problem && !head)
    return (
      <div className="page narrow">
        <h1>Conversation</h1>
        <ProblemPanel problem={talk.problem} onRetry={talk.reload} />
        <Link to="/sessions">All conversations</Link>
      </div>
    );
  if (!head)
    return (
      // Another element than the conversation, whose parts are larger or smaller.
      <div key="waiting" className="talk">
        <header className="talk-head">
          <h1 className="hidden">Conversation</h1>
          <Skeleton width={240} height={40} />
        </header>
        <div className="talk-log">
          <div className="talk-lines">
            <SkeletonRows rows={8} height={56} label="Loading the conversation" />
          </div>
        </div>
      </div>
    );

  const flow = flows.data?.flows?.find((each) => each.name === head.workflow);
  const talks = flow === undefined || wordsFieldOf(flow.inputSchema) !== null;
  const lacks = lacksScope('EDIT');
  const goesOn = newest !== undefined && !isOver(newest.status) && asked === null;
  const waits = goesOn
    ? running
      ? 'The run goes on: its question or its end is waited for.'
      : 'The run waits for another one.'
    : null;
  const note =
    live === 'reconnecting' ? 'The connection is lost. Reconnecting; what happens meanwhile is not lost.' : null;
  return (
    <div className="talk">
      <header className="talk-head">
        <div className="talk-title">
          <h1 title={head.title ?? undefined}>{title}</h1>
          <LiveMark live={live} />
        </div>
        <p className="talk-facts muted">
          <span className="mono">{head.workflow}</span>
          <Actor {...head.startedBy} />
          <Ago at={head.createdAt} />
          <Link to="/runs" search={{ session: id }}>
            its runs
          </Link>
          <Link to="/sessions/new" search={{ flow: head.workflow }} className="talk-new">
            <MessageSquarePlus size={13} aria-hidden />
            new conversation
          </Link>
        </p>
      </header>
      <div
        ref={log}
        className="talk-log"
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls is reached by keyboard.
        tabIndex={0}
        role="group"
        aria-label="What was said, the newest at the bottom"
        data-busy={toBegin || undefined}
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
          follows.current = scrollHeight - scrollTop - clientHeight < NEAR;
        }}
      >
        <div className="talk-lines">
          {talk.earlier && (
            <div className="talk-earlier">
              <button type="button" className="button" onClick={talk.earlier}>
                Show earlier: {runs.length} of {counted(talk.total, 'run')}
              </button>
            </div>
          )}
          {turns.length === 0 && !waitsToLand && <p className="muted">Nothing has been said yet.</p>}
          <ol className="talk-turns" aria-label="Turns">
            {turns.map((turn) => (
              <Exchange
                key={turn.id}
                flow={head.workflow}
                turn={turn}
                state={states.get(turn.id)}
                loaded={states.has(turn.id)}
                working={turn === newest ? working : []}
                now={now}
              />
            ))}
          </ol>
          {waitsToLand && (
            <Said from="user" who={name ?? 'you'} at={null}>
              {sending.words}
            </Said>
          )}
        </div>
      </div>
      <div className="talk-foot-bar">
        {talk.stopped && (
          <ProblemPanel
            problem={{ ...talk.stopped, action: `Nothing arrives any more. ${talk.stopped.action}` }}
            onRetry={talk.reload}
          />
        )}
        {talk.problem && <ProblemPanel problem={talk.problem} onRetry={reread} />}
        {problem && refused && missing && <ProblemPanel problem={problem} />}
        {talks ? (
          <Composer
            asked={asked}
            waits={waits}
            lacks={lacks}
            busy={busy || toBegin}
            note={note}
            words={words}
            onWords={setWords}
            onSend={(saying, turn) => void say(saying, turn, { newest: newest?.id ?? null, asked })}
          />
        ) : (
          <p className="muted">
            The flow <span className="mono">{head.workflow}</span> holds no conversations.{' '}
            {asked ? (
              <Link to="/runs/$run" params={{ run: asked.runId }}>
                Answer it on the page of its run
              </Link>
            ) : (
              <Link to="/runs/new" search={{ flow: head.workflow, session: id }}>
                Start a run of it
              </Link>
            )}
            .
          </p>
        )}
      </div>
      <output className="hidden">{told}</output>
    </div>
  );
}
