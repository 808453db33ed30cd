import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { CircleSlash, Play } from 'lucide-react';
import { useEffect, useMemo, useState } from 'react';

import { RunStateNowDocument } from '../../generated/graphql';
import { useAgain, useAsk } from '../../lib/ask';
import { useCaller } from '../../lib/caller';
import { useOffer } from '../../lib/commands';
import { LiveMark } from '../../lib/LiveMark';
import { setTitle } from '../../lib/title';
import {
  Actor,
  Ago,
  counted,
  Empty,
  Json,
  lasting,
  Message,
  Notice,
  ProblemPanel,
  SkeletonRows,
  useInTurn,
  useMoment,
} from '../../ui';
import { Evidence, QuestionCard, useWords, type Armed, type Outcome, type Question } from '../approvals';
import { CancelDialog, ForkDialog, MoveDialog, RewindDialog } from './Dialogs';
import { EndsBy } from './EndsBy';
import { FlowPicture } from './FlowPicture';
import { atWork } from './live';
import { errorOf, isOver, shortId, STATUSES } from './model';
import { Now } from './Now';
import type { Density } from './search';
import { StatusBadge } from './StatusBadge';
import { Timeline, type StepActs } from './Timeline';
import { sumOf, sumWords, type Span } from './spans';
import { asksOf, rowsOf, stepKey, supersededOf, waitedIn, type Step } from './timeline';
import { useRun, type Head } from './useRun';
import './runs.css';

const DENSITIES: readonly Density[] = ['compact', 'normal', 'detailed'];
const NO_STEPS: readonly Step[] = [];
const NO_SPANS: readonly Span[] = [];

/** What the page is about to ask. */
type Asking = { what: 'cancel' } | { what: 'move' } | { what: 'fork'; step: Step } | { what: 'rewind'; step: Step };

/** One run: how it stands, what it did, and what it asks. */
export function RunView() {
  const { run: id } = useParams({ from: '/runs/$run' });
  // Another run is another page.
  return <RunPage key={id} id={id} />;
}

function RunPage({ id }: { id: string }) {
  const search = useSearch({ from: '/runs/$run' });
  const navigate = useNavigate();
  const lacks = useCaller().lacks('EDIT');
  const { head, problem, live, stopped, working, steps, spans, reload } = useRun(id);
  const going = head !== null && !isOver(head.status);
  const waiting = head?.status === 'WAITING';
  // What goes on is looked at by the second.
  const now = useMoment(head?.status === 'RUNNING' ? 'seconds' : 'minutes');
  const inTurn = useInTurn();
  const [asking, setAsking] = useState<Asking | null>(null);
  const words = useWords();
  const [outcomes, setOutcomes] = useState<ReadonlyMap<string, Outcome>>(new Map());
  const density: Density = search.density ?? 'normal';
  const failedOnly = search.failed === true;
  const asked = useMemo(() => head?.interrupts ?? [], [head]);
  const asks = useMemo(() => asksOf(asked), [asked]);
  const stepList = useMemo(
    // Where a step that asks leads to is known before it is answered, but nothing has gone there.
    () => steps.tail.edges?.map(({ node }) => (asks.has(node.index) ? { ...node, goto: null } : node)) ?? NO_STEPS,
    [steps.tail, asks],
  );
  const spanList = useMemo(() => spans.tail.edges?.map(({ node }) => node) ?? NO_SPANS, [spans.tail]);

  const name = head ? `${head.flow.name} ${shortId(head.id)}` : `Run ${shortId(id)}`;
  const word = head ? STATUSES[head.status].word : null;
  useEffect(() => setTitle(word ? `${name} ${word}` : name), [name, word]);
  useOffer(
    going && lacks === null
      ? [{ id: 'cancel-run', label: 'Cancel this run…', icon: CircleSlash, run: () => setAsking({ what: 'cancel' }) }]
      : [],
  );

  const rows = useMemo(
    () => rowsOf({ steps: stepList, spans: spanList, asked, waiting, cut: steps.tail.next !== null, now }, failedOnly),
    [stepList, spanList, asked, waiting, steps.tail.next, now, failedOnly],
  );
  const standing = useMemo(() => {
    const gone = supersededOf(stepList, spanList);
    return gone.size === 0 ? stepList : stepList.filter((step) => !gone.has(stepKey(step)));
  }, [stepList, spanList]);
  const place = useMemo(
    () => head && { status: head.status, node: head.node, failed: errorOf(head.error)?.node ?? null },
    [head],
  );

  if (problem && !head)
    return (
      <div className="page narrow">
        <h1>Run</h1>
        <ProblemPanel problem={problem} onRetry={reload} />
        <Link to="/runs">All runs</Link>
      </div>
    );
  if (!head || !place)
    return (
      <div className="page">
        <h1 className="hidden">Run</h1>
        <SkeletonRows rows={8} label="Loading the run" />
      </div>
    );

  // What came of the reader's answer stays where they gave it, and so does what they wrote too late.
  const open = asked.filter(({ id, status }) => status === 'OPEN' || outcomes.has(id) || words.has(id));
  const closed = asked.filter((question) => !open.includes(question));
  const show = (density: Density, failed: boolean) =>
    void navigate({
      to: '/runs/$run',
      params: { run: id },
      search: { ...(density !== 'normal' && { density }), ...(failed && { failed: true as const }) },
      replace: true,
      resetScroll: false,
    });
  const acts: StepActs = {
    lacks,
    fork: (step) => setAsking({ what: 'fork', step }),
    rewind: (step) => setAsking({ what: 'rewind', step }),
  };
  return (
    <div ref={inTurn} className="page run-page">
      <Header
        head={head}
        live={live}
        now={now}
        waited={stepList.reduce((sum, step) => sum + (step.branch === '' ? waitedIn(step, asked, now) : 0), 0)}
        spans={spanList}
        allSpans={spans.tail.next === null}
        lacks={lacks}
        onCancel={() => setAsking({ what: 'cancel' })}
      />
      {stopped && (
        <ProblemPanel
          problem={{ ...stopped, action: `Nothing arrives any more. ${stopped.action}` }}
          onRetry={reload}
        />
      )}
      {live === 'reconnecting' && (
        <Notice tone="warn" title="The connection is lost. Reconnecting; what happens meanwhile is not lost." />
      )}
      {head.outdated && (
        <Notice
          tone="warn"
          title={`Its flow has a newer version by now: the run is ${isOver(head.status) ? 'neither forked nor rewound' : 'not gone on with'} before it is moved.`}
          actions={
            <button
              type="button"
              className="button"
              onClick={() => setAsking({ what: 'move' })}
              disabled={lacks !== null}
              title={lacks ?? undefined}
            >
              Move…
            </button>
          }
        />
      )}
      <RunError error={head.error} />
      {head.interrupts === null && <Notice tone="warn" title="What this run asks could not be read." />}
      {open.map((question) => (
        <section key={question.id} className="panel panel-body run-question" aria-label="What the run asks">
          <OpenQuestion
            question={question}
            outcome={outcomes.get(question.id)}
            onOutcome={(outcome) => {
              setOutcomes((before) => new Map(before).set(question.id, outcome));
              reload();
            }}
          />
        </section>
      ))}
      <section className="panel" aria-labelledby="flow-title">
        <div className="panel-head run-flow-head">
          <h2 id="flow-title">Flow</h2>
          <span className="muted run-line">
            <Message>{head.flow.doc}</Message>
          </span>
          {steps.more && <span className="end muted">as far as the first {counted(stepList.length, 'step')}</span>}
        </div>
        <div className="panel-body">
          <FlowPicture flow={head.flow} steps={standing} run={place} />
        </div>
      </section>
      <section className="panel" aria-labelledby="timeline-title" aria-busy={steps.busy}>
        <div className="panel-head run-timeline-head">
          <h2 id="timeline-title">Timeline</h2>
          <span className="muted numeric">{counted(steps.tail.total, 'step')}</span>
          <div className="end">
            <label className="check">
              <input type="checkbox" checked={failedOnly} onChange={(event) => show(density, event.target.checked)} />
              failed only
            </label>
            <fieldset className="densities">
              <legend className="hidden">How much is shown of each step</legend>
              {DENSITIES.map((each) => (
                <button
                  key={each}
                  type="button"
                  className="button"
                  aria-pressed={each === density}
                  onClick={() => show(each, failedOnly)}
                >
                  {each}
                </button>
              ))}
            </fieldset>
          </div>
        </div>
        {steps.problem && (
          <div className="panel-body">
            <ProblemPanel problem={steps.problem} onRetry={steps.reload} />
          </div>
        )}
        {!steps.tail.edges && !steps.problem && <SkeletonRows rows={5} label="Loading the steps" />}
        {rows.length > 0 && (
          <Timeline
            rows={rows}
            steps={stepList}
            asked={asked}
            asks={asks}
            waiting={waiting}
            density={density}
            program={head.program?.name ?? null}
            now={now}
            acts={acts}
          />
        )}
        {steps.tail.edges && rows.length === 0 && (
          <Empty icon={Play} title={failedOnly ? 'No step failed' : 'No step has begun yet'}>
            {failedOnly && steps.more && <p>Of the {counted(stepList.length, 'step')} that are loaded.</p>}
          </Empty>
        )}
        {steps.more && (
          <div className="more">
            <button type="button" className="button" onClick={steps.more}>
              Show more steps: {stepList.length} of {counted(steps.tail.total, 'step')}
            </button>
          </div>
        )}
        {spans.more && density === 'detailed' && (
          <div className="more">
            <button type="button" className="button" onClick={spans.more}>
              Load more spans: {spanList.length} of {counted(spans.tail.total, 'span')}
            </button>
          </div>
        )}
        {spans.problem && density === 'detailed' && (
          <div className="panel-body">
            <ProblemPanel problem={spans.problem} onRetry={spans.reload} />
          </div>
        )}
        {atWork(working, head, stepList).map((each) => (
          <Now key={each.node} working={each} now={now} />
        ))}
      </section>
      {closed.length > 0 && (
        <section className="panel" aria-labelledby="answers-title">
          <div className="panel-head">
            <h2 id="answers-title">Questions and answers</h2>
          </div>
          <ul className="run-answers">
            {closed.map((question) => (
              <li key={question.id}>
                <QuestionCard
                  question={question}
                  armed={null}
                  outcome={undefined}
                  named={false}
                  onArm={() => {}}
                  onOutcome={() => {}}
                />
              </li>
            ))}
          </ul>
        </section>
      )}
      <section className="panel" aria-labelledby="inside-title">
        <div className="panel-head">
          <h2 id="inside-title">Inside</h2>
        </div>
        <div className="panel-body run-inside">
          <details>
            <summary>Input</summary>
            <Json value={head.input} label="Input of the run" />
          </details>
          <State id={id} moment={`${head.cursor} ${steps.tail.total}`} />
          {head.plan && head.plan.length > 0 && (
            <details>
              <summary>Plan</summary>
              <ol className="run-plan">
                {head.plan.map((line, at) => (
                  // Lines have no names; the list is replaced as a whole.
                  <li key={at}>
                    <Message>{line}</Message>
                  </li>
                ))}
              </ol>
            </details>
          )}
          {head.progress && head.progress.length > 0 && (
            <details>
              <summary>Progress</summary>
              <ul className="evidence-progress">
                {head.progress.map((line, at) => (
                  // Lines have no names; the list only grows.
                  <li key={at}>
                    <Message>{line}</Message>
                  </li>
                ))}
              </ul>
            </details>
          )}
        </div>
      </section>
      {asking?.what === 'cancel' && <CancelDialog run={id} onDone={reload} onClose={() => setAsking(null)} />}
      {asking?.what === 'move' && <MoveDialog run={id} onDone={reload} onClose={() => setAsking(null)} />}
      {asking?.what === 'fork' && (
        <ForkDialog run={id} step={asking.step} program={head.program?.name ?? null} onClose={() => setAsking(null)} />
      )}
      {asking?.what === 'rewind' && (
        <RewindDialog
          run={id}
          step={asking.step}
          later={standing.filter(({ index }) => index > asking.step.index)}
          cut={steps.tail.next !== null}
          onDone={(made) => (made === id ? reload() : void navigate({ to: '/runs/$run', params: { run: made } }))}
          onClose={() => setAsking(null)}
        />
      )}
    </div>
  );
}

function Header(props: {
  head: Head;
  live: React.ComponentProps<typeof LiveMark>['live'];
  now: number;
  waited: number;
  spans: readonly Span[];
  allSpans: boolean;
  lacks: string | null;
  onCancel(): void;
}) {
  const { head, live, now, waited, spans, allSpans, lacks, onCancel } = props;
  const {
    id,
    status,
    flow,
    session,
    program,
    startedBy,
    createdAt,
    endedAt,
    deadline,
    parent,
    forkedFrom,
    node,
    provider,
  } = head;
  const sum = useMemo(() => sumOf(spans), [spans]);
  const took = (endedAt ? Date.parse(endedAt) : now) - Date.parse(createdAt);
  return (
    <header className="run-head">
      <div className="page-head">
        <h1>
          {flow.name} <span className="muted mono run-id">{shortId(id)}</span>
        </h1>
        <span data-status={status}>
          <StatusBadge status={status} />
        </span>
        {!isOver(status) && <LiveMark live={live} />}
        <div className="end">
          <Link to="/runs/new" search={{ flow: flow.name, from: id }} className="button">
            <Play size={14} aria-hidden />
            Start another like this
          </Link>
          {!isOver(status) && (
            <button
              type="button"
              className="button"
              onClick={onCancel}
              disabled={lacks !== null}
              title={lacks ?? undefined}
            >
              <CircleSlash size={14} aria-hidden />
              Cancel…
            </button>
          )}
        </div>
      </div>
      {lacks && <p className="muted">{lacks}</p>}
      <dl className="run-facts">
        <Fact name="conversation">
          <Link
            to="/sessions/$session"
            params={{ session: session.id }}
            className="run-line"
            title={session.title ?? 'The conversation that it belongs to'}
          >
            {session.title ?? shortId(session.id)}
          </Link>
          <Link to="/runs" search={{ session: session.id }} className="muted">
            its runs
          </Link>
        </Fact>
        <Fact name="version">
          <span className="mono" title={flow.definitionHash}>
            {flow.version}
          </span>
        </Fact>
        <Fact name="started by">
          <Actor {...startedBy} /> <Ago at={createdAt} />
        </Fact>
        {program && (
          <Fact name="program">
            <Link to="/p/$program" params={{ program: program.name }} className="mono">
              {program.name}
            </Link>
          </Fact>
        )}
        {node && !isOver(status) && (
          <Fact name="at">
            <span className="mono">{node}</span>
          </Fact>
        )}
        <Fact name={endedAt ? 'took' : 'for'}>
          <span className="numeric">{lasting(took)}</span>
          {waited > 60_000 && <span className="muted">· {lasting(waited)} of it for answers</span>}
        </Fact>
        {deadline && !endedAt && (
          <Fact name="deadline">
            <EndsBy at={deadline} />
          </Fact>
        )}
        {sum && (
          <Fact name="models">
            <span className="numeric" data-sum>
              {sumWords(sum).join(' · ')}
            </span>
            {!allSpans && <span className="muted"> as far as loaded</span>}
          </Fact>
        )}
        {!sum && spans.length > 0 && <Fact name="provider">{provider === 'rules' ? 'rules, no model' : provider}</Fact>}
        {parent && (
          <Fact name="parent">
            <Link to="/runs/$run" params={{ run: parent.id }}>
              {parent.flow.name} <span className="mono">{shortId(parent.id)}</span>
            </Link>
          </Fact>
        )}
        {forkedFrom && (
          <Fact name="forked from">
            <Link to="/runs/$run" params={{ run: forkedFrom }} className="mono">
              {shortId(forkedFrom)}
            </Link>
          </Fact>
        )}
      </dl>
    </header>
  );
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div>
      <dt className="muted">{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function RunError({ error }: { error: unknown }) {
  const told = errorOf(error);
  if (!told) return null;
  const where = told.node && ` at ${told.node}${told.attempt === null ? '' : `, attempt ${told.attempt}`}`;
  return (
    <Notice tone="error" title={`The run failed${where ?? ''}.`}>
      <p>
        <code>{told.code}</code> <Message>{told.message}</Message>
      </p>
    </Notice>
  );
}

/** A question that is answered on the page of its run, in the same way as in the inbox. */
function OpenQuestion(props: { question: Question; outcome: Outcome | undefined; onOutcome(outcome: Outcome): void }) {
  const { question, outcome, onOutcome } = props;
  const [armed, setArmed] = useState<Armed | null>(null);
  return (
    <>
      <QuestionCard
        question={question}
        armed={armed}
        outcome={outcome}
        named={false}
        onArm={setArmed}
        onOutcome={onOutcome}
      />
      <Evidence question={question} parts="difference" />
    </>
  );
}

/** The state of the run, when it is asked for. */
function State(props: { id: string; moment: string }) {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>State</summary>
      {open && <StateNow {...props} />}
    </details>
  );
}

function StateNow({ id, moment }: { id: string; moment: string }) {
  const { data, problem, refresh } = useAsk(RunStateNowDocument, { id });
  useAgain(refresh, moment);
  if (problem) return <ProblemPanel problem={problem} onRetry={refresh} />;
  if (!data) return <SkeletonRows rows={3} label="Loading the state" />;
  return <Json value={data.runState} label="State of the run" />;
}
