import { useNavigate, useSearch } from '@tanstack/react-router';
import { ArrowLeft, Inbox, Keyboard } from 'lucide-react';
import { useEffect, useRef, useState, type KeyboardEvent } from 'react';

import type { InterruptStatus } from '../../generated/graphql';
import { LiveMark } from '../../lib/LiveMark';
import { setTitle } from '../../lib/title';
import { Ago, Badge, counted, Empty, Message, ProblemPanel, SkeletonRows, Tabs, useMedia } from '../../ui';
import { useQuestions } from '../questions';
import type { Armed } from './AnswerForm';
import { Evidence } from './Evidence';
import { KeyList } from './KeyList';
import { commandOf } from './keys';
import { answerWords, choicesOf, mannerOf, moved, movedOn, nextOpen, STATUSES, typeWord, type Question } from './model';
import { QuestionCard } from './QuestionCard';
import { useInbox } from './useInbox';
import type { Outcome } from './useAnswer';
import './approvals.css';

const TABS: readonly { id: InterruptStatus; word: string }[] = [
  { id: 'OPEN', word: 'Open' },
  { id: 'ANSWERED', word: 'Answered' },
  { id: 'EXPIRED', word: 'Expired' },
  { id: 'CANCELLED', word: 'Cancelled' },
];

/** Below this width the list and a question stand in one place; the style sheet has the same. */
const NARROW = '(max-width: 900px)';

/** The questions of runs, and their answers. */
export function ApprovalsView() {
  const navigate = useNavigate();
  const search = useSearch({ from: '/approvals' });
  const status: InterruptStatus = search.status ?? 'OPEN';
  const { open, live } = useQuestions();
  const { items, total, fetching, problem, more, refresh, reread } = useInbox(status);
  const narrow = useMedia(NARROW);
  const [armed, setArmed] = useState<{ id: string; armed: Armed } | null>(null);
  const [outcomes, setOutcomes] = useState<ReadonlyMap<string, Outcome>>(new Map());
  const [told, setTold] = useState('');
  const root = useRef<HTMLDivElement>(null);
  const keyList = useRef<HTMLDialogElement>(null);

  useEffect(() => setTitle('Approvals'), []);
  useEffect(() => root.current?.focus({ preventScroll: true }), []);

  const first = narrow ? null : (items?.[0]?.id ?? null);
  const selectedId = search.id ?? first;
  const selected = items?.find(({ id }) => id === selectedId);
  const show = (id: string | null, by: InterruptStatus = status) =>
    void navigate({
      to: '/approvals',
      search: { ...(by !== 'OPEN' && { status: by }), ...(id !== null && { id }) },
      replace: true,
      resetScroll: false,
    });
  const select = (id: string | null) => {
    setArmed(null);
    show(id);
    // Where the list makes room for the question and the other way round, what had the focus goes.
    const next = () => (narrow ? root.current : id !== null && document.getElementById(rowId(id))) || null;
    requestAnimationFrame(() => next()?.focus({ preventScroll: narrow }));
  };
  const arm = (question: Question, next: Armed | null) => setArmed(next && { id: question.id, armed: next });

  const onOutcome = (question: Question, outcome: Outcome) => {
    setOutcomes((before) => new Map(before).set(question.id, outcome));
    reread(question.runId);
    if (outcome.state !== 'answered') return;
    const { verb } = answerWords(outcome.decision.answer);
    const next = items ? nextOpen(items, question.id) : null;
    setTold(`You ${verb}: ${question.question}${next === null ? '. No other question is open here.' : ''}`);
    // A conflict stays in view; what went well makes room for the next.
    if (next !== null) select(next);
  };

  const onKeyDown = (event: KeyboardEvent) => {
    const command = commandOf(event);
    if (command === null || !items) return;
    if (command === 'keys') keyList.current?.showModal();
    else if (command === 'next') select(moved(items, selectedId, 1));
    else if (command === 'previous') select(moved(items, selectedId, -1));
    else if (!selected) return;
    else if (command === 'open') void navigate({ to: '/runs/$run', params: { run: selected.runId } });
    else if (selected.status !== 'OPEN') return;
    else {
      const manner = mannerOf(selected);
      const choice = typeof command === 'object' ? choicesOf(selected.choices)[command.choose] : undefined;
      if (command === 'approve' && manner === 'confirm') arm(selected, { way: 'approve' });
      else if (command === 'approve' && manner === 'text') arm(selected, { way: 'text' });
      else if (command === 'reject' && manner === 'confirm') arm(selected, { way: 'reject' });
      else if (manner === 'choice' && choice !== undefined) arm(selected, { way: 'choose', choice });
      else return;
    }
    event.preventDefault();
  };

  const list = (
    <section className="inbox-list" aria-label="Questions" aria-busy={fetching}>
      {problem && (
        <div className="panel-body">
          <ProblemPanel problem={problem} onRetry={refresh} />
        </div>
      )}
      {!items && !problem && <SkeletonRows rows={6} height={64} label="Loading questions" />}
      {items?.length === 0 && <Nothing status={status} />}
      {items && items.length > 0 && (
        <ol aria-label={`${counted(total, 'question')}, ${status === 'OPEN' ? 'the oldest' : 'the newest'} first`}>
          {items.map((question) => (
            <Row
              key={question.id}
              question={question}
              selected={question.id === selected?.id}
              outcome={outcomes.get(question.id)}
              tab={status}
              onSelect={() => select(question.id)}
            />
          ))}
        </ol>
      )}
      {more && (
        <div className="more">
          <button type="button" className="button" onClick={more}>
            Show more: {items?.length} of {counted(total, 'question')}
          </button>
        </div>
      )}
      {items?.some((question) => question.status !== status) && (
        <div className="more">
          <button type="button" className="button" onClick={refresh}>
            Take away what is not {STATUSES[status].word} any more
          </button>
        </div>
      )}
    </section>
  );
  const detail = selected && (
    <section className="inbox-side" aria-label="The question">
      {narrow && (
        <button type="button" className="button inbox-back" onClick={() => select(null)}>
          <ArrowLeft size={14} aria-hidden />
          All questions
        </button>
      )}
      <QuestionCard
        key={selected.id}
        question={selected}
        armed={armed?.id === selected.id ? armed.armed : null}
        outcome={outcomes.get(selected.id)}
        named
        onArm={(next) => arm(selected, next)}
        onOutcome={(outcome) => onOutcome(selected, outcome)}
      />
      <Evidence key={`evidence of ${selected.id}`} question={selected} parts="all" />
    </section>
  );

  return (
    // The keys work wherever the focus is within; what they do has a button each.
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions
    <div ref={root} className="inbox" tabIndex={-1} onKeyDown={onKeyDown}>
      <div className="inbox-head">
        <h1>Approvals</h1>
        <LiveMark live={live} />
        <span className="muted wide">What runs ask of people, and what was decided.</span>
        <button
          type="button"
          className="button plain end"
          onClick={() => keyList.current?.showModal()}
          aria-keyshortcuts="?"
        >
          <Keyboard size={14} aria-hidden />
          Keys
          <kbd aria-hidden>?</kbd>
        </button>
      </div>
      <Tabs
        label="Which questions"
        panel="inbox-panel"
        tabs={TABS.map(({ id, word }) => ({
          id,
          label: (
            <>
              {word}
              {id === 'OPEN' && open !== null && open > 0 && <span className="count numeric">{open}</span>}
            </>
          ),
        }))}
        current={status}
        onChange={(next) => {
          setArmed(null);
          show(null, next);
        }}
      />
      <div
        id="inbox-panel"
        role="tabpanel"
        aria-labelledby={`tab-${status}`}
        className="inbox-panes"
        data-empty={items?.length === 0 && !detail}
      >
        {narrow && detail ? detail : list}
        {!narrow && detail}
      </div>
      <output className="hidden">{told}</output>
      <KeyList dialog={keyList} />
    </div>
  );
}

function rowId(id: string): string {
  return `question-${id.replaceAll(/\W/g, '-')}`;
}

function Row(props: {
  question: Question;
  selected: boolean;
  outcome: Outcome | undefined;
  tab: InterruptStatus;
  onSelect(): void;
}) {
  const { question, selected, outcome, tab, onSelect } = props;
  const { run, status, decision } = question;
  const words = decision && answerWords(decision.answer);
  const state = STATUSES[status];
  return (
    <li>
      <button
        type="button"
        id={rowId(question.id)}
        data-question={question.id}
        className={status === tab ? 'inbox-row' : 'inbox-row settled'}
        aria-current={selected || undefined}
        onClick={onSelect}
      >
        <span className="inbox-row-text">
          <Message>{question.question}</Message>
        </span>
        <span className="inbox-row-facts">
          <Badge tone={question.type === 'escalation' ? 'error' : 'info'}>{typeWord(question.type)}</Badge>
          {movedOn(question) && status === 'OPEN' && <Badge tone="warn">program moved on</Badge>}
          {outcome && outcome.state !== 'answered' && <Badge tone="warn">your answer was not taken</Badge>}
          {words ? (
            <Badge tone={words.tone}>
              {words.verb} by {decision.actor.name}
            </Badge>
          ) : (
            status !== tab && <Badge tone={state.tone}>{state.word}</Badge>
          )}
          <span className="muted inbox-row-run">
            {run ? run.flow.name : question.runId}
            {run?.program && ` · ${run.program.name}`}
          </span>
          <span className="inbox-row-at">
            <Ago at={decision?.at ?? question.askedAt} />
          </span>
        </span>
      </button>
    </li>
  );
}

function Nothing({ status }: { status: InterruptStatus }) {
  if (status !== 'OPEN') return <Empty icon={Inbox} title={`No question is ${STATUSES[status].word}`} />;
  return (
    <Empty icon={Inbox} title="Nothing waits for you">
      <p>When a run needs a decision, its question appears here, in the title of this page and on its icon.</p>
    </Empty>
  );
}
