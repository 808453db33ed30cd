import { Link } from '@tanstack/react-router';
import {
  ChevronDown,
  ChevronRight,
  CircleAlert,
  CircleCheck,
  GitFork,
  Hourglass,
  LoaderCircle,
  Moon,
  Undo2,
  type LucideIcon,
} from 'lucide-react';
import { useMemo, useState, type KeyboardEvent } from 'react';

import { Badge, counted, Json, lasting, Message } from '../../ui';
import { errorOf } from './model';
import type { Density } from './search';
import { factsOf, notesOf, sumWords, tellingOf, type Span, type Sum } from './spans';
import { scaleOf, stepState, waitedIn, type Asked, type Row, type Scale, type Step } from './timeline';

/** What can be done with a run at a step. */
export interface StepActs {
  /** Why nothing can; null where it can. */
  lacks: string | null;
  fork(step: Step): void;
  rewind(step: Step): void;
}

/** The steps of a run, one under the other. */
export function Timeline(props: {
  rows: readonly Row[];
  steps: readonly Step[];
  asked: readonly Asked[];
  /** The steps that wait for an answer, by index. */
  asks: ReadonlySet<number>;
  waiting: boolean;
  density: Density;
  program: string | null;
  now: number;
  acts: StepActs;
}) {
  const { rows, steps, asked, asks, waiting, density, program, now, acts } = props;
  const scale = useMemo(() => scaleOf(steps, asked, now), [steps, asked, now]);
  const onKeyDown = (event: KeyboardEvent<HTMLOListElement>) => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (by === 0 || !(event.target instanceof HTMLElement) || !event.target.matches('.step-toggle')) return;
    event.preventDefault();
    const toggles = [...event.currentTarget.querySelectorAll<HTMLElement>('.step-toggle')];
    toggles[toggles.indexOf(event.target) + by]?.focus();
  };
  return (
    // The arrows go from button to button, which the list only holds.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <ol className={`timeline ${density}`} aria-label="Steps, the first at the top" onKeyDown={onKeyDown}>
      {rows.map((row) =>
        row.type === 'gap' ? (
          <GapRow key={row.key} row={row} />
        ) : (
          <StepRow
            key={row.key}
            row={row}
            waited={waitedIn(row.step, asked, now)}
            asks={asks.has(row.step.index)}
            waiting={waiting}
            density={density}
            program={program}
            scale={scale}
            now={now}
            acts={acts}
          />
        ),
      )}
    </ol>
  );
}

function GapRow({ row: { from, to, open, what } }: { row: Row & { type: 'gap' } }) {
  const Icon = what === 'answer' ? Hourglass : Moon;
  const long = lasting(to - from);
  const words =
    what === 'answer'
      ? open
        ? `waiting for an answer for ${long}`
        : `waited ${long} for an answer`
      : open
        ? `nothing has happened for ${long}`
        : `nothing happened for ${long}`;
  return (
    <li
      className="gap-row muted"
      title={`${new Date(from).toLocaleString()} – ${open ? 'now' : new Date(to).toLocaleString()}`}
    >
      <Icon size={13} aria-hidden />
      {words}
    </li>
  );
}

const STATES: Record<ReturnType<typeof stepState>, { icon: LucideIcon; tone: string }> = {
  done: { icon: CircleCheck, tone: 'fine' },
  failed: { icon: CircleAlert, tone: 'error' },
  running: { icon: LoaderCircle, tone: 'running' },
  waiting: { icon: Hourglass, tone: 'warn' },
};

function StepRow(props: {
  row: Row & { type: 'step' };
  waited: number;
  asks: boolean;
  waiting: boolean;
  density: Density;
  program: string | null;
  scale: Scale;
  now: number;
  acts: StepActs;
}) {
  const { row, waited, asks, waiting, density, program, scale, now, acts } = props;
  const { step, spans, sum, superseded } = row;
  const [open, setOpen] = useState(false);
  const state = asks ? 'waiting' : stepState(step, waiting);
  const { icon: Icon, tone } = STATES[state];
  const from = Date.parse(step.startedAt);
  const to = step.endedAt === null ? now : Date.parse(step.endedAt);
  const took = step.latencyMs ?? to - from;
  const left = scale.at(from) * 100;
  const right = scale.at(to) * 100;
  const error = errorOf(step.error);
  const nothing = Object.keys((step.update ?? {}) as object).length === 0;
  const name = `step ${step.index}${step.branch && ` in branch ${step.branch}`}, ${step.node}, ${state}`;
  const Chevron = open ? ChevronDown : ChevronRight;
  return (
    <li
      className={`step ${state}${superseded ? ' superseded' : ''}`}
      data-step={step.index}
      data-node={step.node}
      data-state={state}
    >
      <div className="step-line">
        <button type="button" className="step-toggle" aria-expanded={open} onClick={() => setOpen(!open)}>
          <Chevron size={13} aria-hidden />
          <span className="hidden">step</span>
          <span className="step-index numeric">{step.index}</span>
          <Icon size={14} aria-hidden className={state === 'running' ? `${tone} turning` : tone} />
          <span className="step-node mono">{step.node}</span>
          <span className="hidden">{state}</span>
        </button>
        {step.branch && <Badge title={`The parallel branch ${step.branch}`}>∥ {step.branch}</Badge>}
        {superseded && <Badge title="A rewind has taken it back">taken back</Badge>}
        {step.attempt > 1 && <Badge tone="warn">attempt {step.attempt}</Badge>}
        <span className="step-bar" aria-hidden>
          <span style={{ left: `${left}%`, width: `${Math.max(0.6, right - left)}%` }} />
        </span>
        <span className="step-time muted numeric" title={new Date(from).toLocaleString()}>
          {step.endedAt === null && state === 'running' ? `${lasting(took)} so far` : lasting(took)}
        </span>
      </div>
      {density !== 'compact' && <Facts step={step} node={spans[0]?.span} sum={sum} waited={waited} program={program} />}
      {density !== 'compact' && error && (
        <p className="step-error">
          <code>{error.code}</code> <Message>{error.message}</Message>
        </p>
      )}
      {density === 'detailed' && spans.length > 1 && <Spans spans={spans} now={now} />}
      {open && (
        <div className="step-more">
          {density === 'compact' && (
            <Facts step={step} node={spans[0]?.span} sum={sum} waited={waited} program={program} />
          )}
          {step.error !== null && step.error !== undefined && (
            <>
              <h3>Error</h3>
              <Json value={step.error} label={`Error of ${name}`} />
            </>
          )}
          <h3>What it changed in the state</h3>
          {nothing ? (
            <p className="muted">Nothing{step.endedAt === null ? ' yet' : ''}.</p>
          ) : (
            <Json value={step.update} label={`Update of ${name}`} />
          )}
          {density !== 'detailed' && spans.length > 1 && (
            <>
              <h3>Spans</h3>
              <Spans spans={spans} now={now} />
            </>
          )}
          {step.branch === '' && !superseded && (
            <div className="step-acts">
              <button
                type="button"
                className="button"
                disabled={acts.lacks !== null}
                title={acts.lacks ?? undefined}
                onClick={() => acts.fork(step)}
              >
                <GitFork size={14} aria-hidden />
                Fork from here…
              </button>
              <button
                type="button"
                className="button"
                disabled={acts.lacks !== null}
                title={acts.lacks ?? undefined}
                onClick={() => acts.rewind(step)}
              >
                <Undo2 size={14} aria-hidden />
                Rewind to here…
              </button>
              {acts.lacks && <span className="muted">{acts.lacks}</span>}
            </div>
          )}
        </div>
      )}
    </li>
  );
}

function Facts(props: {
  step: Step;
  /** The span of its node. */
  node: Span | undefined;
  sum: Sum | null;
  waited: number;
  program: string | null;
}) {
  const { step, node, sum, waited, program } = props;
  const { goto, receipts, revision } = step;
  const parts: React.ReactNode[] = [];
  if (waited > 60_000) parts.push(<span key="waited">{lasting(waited)} of it waiting for an answer</span>);
  if (receipts > 0)
    parts.push(
      <span key="receipts" title="Effects that were carried out once and are not repeated">
        {counted(receipts, 'receipt')}
      </span>,
    );
  if (sum) parts.push(<span key="models">{sumWords(sum).join(' · ')}</span>);
  // The step's own error is told below.
  for (const [name, value] of node ? factsOf(node) : [])
    if (name !== 'error' && name !== 'message')
      parts.push(
        <span key={name} data-fact={name}>
          {name} <span className="mono">{value}</span>
        </span>,
      );
  if (goto)
    parts.push(
      <span key="goto">
        went to <span className="mono">{goto === 'END' ? 'the end' : goto}</span>
      </span>,
    );
  if (revision)
    parts.push(
      program === null ? (
        <span key="revision">committed r{revision.number}</span>
      ) : (
        <Link key="revision" to="/p/$program/history" params={{ program }} search={{ sel: `r${revision.number}` }}>
          committed r{revision.number}
        </Link>
      ),
    );
  if (parts.length === 0) return null;
  return <p className="step-facts muted">{parts}</p>;
}

/** Spans that are shown at once. */
const SHOWN = 60;

function Spans({ spans, now }: { spans: readonly { span: Span; depth: number }[]; now: number }) {
  const [all, setAll] = useState(false);
  const root = spans[0];
  if (!root) return null;
  const begun = Date.parse(root.span.startedAt);
  const ended = Math.max(...spans.map(({ span }) => (span.endedAt === null ? now : Date.parse(span.endedAt))));
  const whole = Math.max(1, ended - begun);
  const inner = spans.slice(1);
  const shown = all ? inner : inner.slice(0, SHOWN);
  return (
    <>
      <ol className="spans" aria-label="Spans">
        {shown.map(({ span, depth }) => {
          const from = Date.parse(span.startedAt);
          const to = span.endedAt === null ? now : Date.parse(span.endedAt);
          const telling = tellingOf(span);
          return (
            <li key={span.id} className={span.ok === false ? 'span failed' : 'span'}>
              <details>
                <summary style={{ paddingLeft: (depth - 1) * 14 }}>
                  <Badge tone={span.ok === false ? 'error' : 'plain'}>{span.kind}</Badge>
                  <span className="span-name">
                    {span.name}
                    {telling !== null && (
                      <span className="muted">
                        {' '}
                        <Message>{telling}</Message>
                      </span>
                    )}
                    {span.ok === false && <span className="hidden"> failed</span>}
                  </span>
                  <span className="step-bar" aria-hidden>
                    <span
                      style={{
                        left: `${((from - begun) / whole) * 100}%`,
                        width: `${Math.max(0.6, ((to - from) / whole) * 100)}%`,
                      }}
                    />
                  </span>
                  <span className="step-time muted numeric">{lasting(to - from)}</span>
                </summary>
                <SpanFacts span={span} />
              </details>
            </li>
          );
        })}
      </ol>
      {inner.length > shown.length && (
        <button type="button" className="button" onClick={() => setAll(true)}>
          Show {counted(inner.length - shown.length, 'other span')}
        </button>
      )}
    </>
  );
}

/** What a span says for people, then all that is noted of it. */
function SpanFacts({ span }: { span: Span }) {
  const facts = factsOf(span);
  const notes = notesOf(span);
  const given = notes['lmlang.tool.arguments'];
  return (
    <div className="span-more">
      {facts.length > 0 && (
        <dl className="span-facts">
          {facts.map(([name, value]) => (
            <div key={name}>
              <dt className="muted">{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
      {given !== undefined && (
        <>
          <h3>Arguments</h3>
          <Json value={given} label={`Arguments of ${span.name}`} />
        </>
      )}
      <h3>All that is noted</h3>
      <Json value={notes} label={`Attributes of ${span.name}`} />
    </div>
  );
}
