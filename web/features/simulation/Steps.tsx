import { useEffect, useRef, useState } from 'react';
import { useClient } from 'urql';

import { RunTraceDocument, type StepFragment } from '../../generated/graphql';
import { chase, type Chase } from '../../lib/chase';
import { useBack } from '../../lib/useBack';
import { ProblemPanel } from '../../ui';
import { namedOp, useNames } from './names';
import { short } from './model';
import { refusalOf, type Refusal } from './refusal';

/** How many steps are shown at once. */
const PAGE = 120;

/** Which steps are listed. */
export type Filter = 'all' | 'node' | 'function' | 'value';

interface Wanted {
  from: number;
  position: number;
  nodes: string[] | null;
  functions: string[] | null;
  value: string | null;
}

/** Where the page begins that has the newest step in its second half. */
export function pageAround(position: number, page: number): number {
  return Math.max(0, Math.ceil((position - page) / (page / 2)) * (page / 2));
}

/** The steps around where the run stands: a page of them, never all. */
export function Steps(props: {
  sim: string;
  position: number;
  filter: Filter;
  onFilter(filter: Filter): void;
  selected: string | null;
  functionRef: string;
  next: string | null;
  onSeek(step: number): void;
  onWhy(step: StepFragment): void;
}) {
  const { sim, position, filter, onFilter, selected, functionRef, next, onSeek, onWhy } = props;
  const client = useClient();
  const [typed, setTyped] = useState('');
  /** Where the page begins that the reader chose, and the pages before it; null follows the run. */
  const [chosen, setChosen] = useState<{ from: number; before: number[] } | null>(null);
  const [page, setPage] = useState<{ steps: readonly StepFragment[]; next: number | null; of: string } | null>(null);
  const [refusal, setRefusal] = useState<Refusal>();
  const list = useRef<HTMLDivElement>(null);
  const asks = useRef<Chase<Wanted>>(null);

  useEffect(() => {
    const chased = chase<Wanted>(async ({ position, ...wanted }, isLeft) => {
      const variables = { id: sim, first: PAGE, ...wanted };
      const { data, error } = await client
        .query(RunTraceDocument, variables, { requestPolicy: 'network-only' })
        .toPromise();
      if (isLeft()) return;
      const trace = data?.simulation?.trace;
      if (!trace) return setRefusal(refusalOf(error));
      setRefusal(undefined);
      const steps = trace.steps.filter(({ seq }) => seq < position);
      setPage({ steps, next: trace.nextSeq, of: JSON.stringify(wanted) });
    });
    asks.current = chased;
    return () => chased.leave();
  }, [client, sim]);

  const node = filter === 'node' && selected !== null ? selected : null;
  const value = filter === 'value' && typed.trim() !== '' ? typed.trim() : null;
  const only = filter === 'function' ? functionRef : null;
  const [attempt, setAttempt] = useState(0);
  const retry = () => setAttempt((before) => before + 1);
  useBack(refusal, retry);
  const from = chosen?.from ?? (filter === 'all' ? pageAround(position, PAGE) : 0);
  useEffect(
    () =>
      asks.current?.want({
        from,
        position,
        nodes: node === null ? null : [node],
        functions: only === null ? null : [only],
        value,
      }),
    [client, sim, from, position, node, only, value, attempt],
  );

  const newest = page?.steps.at(-1)?.seq;
  useEffect(() => {
    const element = list.current;
    if (element && chosen === null) element.scrollTop = element.scrollHeight;
  }, [newest, chosen]);

  const later = () =>
    page?.next != null && setChosen((before) => ({ from: page.next ?? 0, before: [...(before?.before ?? []), from] }));
  const earlier = () => {
    if (filter === 'all') return setChosen({ from: Math.max(0, from - PAGE), before: [] });
    setChosen((before) => {
      const previous = before?.before.at(-1);
      return previous === undefined ? null : { from: previous, before: before?.before.slice(0, -1) ?? [] };
    });
  };
  const choose = (next: Filter) => {
    onFilter(next);
    setChosen(null);
  };
  return (
    <div className="steps">
      <div className="steps-bar">
        <label>
          <span className="hidden">Which steps</span>
          <select className="field" value={filter} onChange={(event) => choose(event.target.value as Filter)}>
            <option value="all">all steps</option>
            <option value="node">of the selected node{selected ? ` ${selected}` : ''}</option>
            <option value="function">of this function</option>
            <option value="value">with a value</option>
          </select>
        </label>
        {filter === 'value' && (
          <input
            className="field mono"
            aria-label="Value with its type"
            placeholder="i32:7"
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
        )}
        <span className="gap" />
        <button
          type="button"
          className="button plain"
          disabled={from === 0 && !chosen?.before.length}
          onClick={earlier}
        >
          Earlier
        </button>
        <button
          type="button"
          className="button plain"
          disabled={page?.next == null || page.next >= position}
          onClick={later}
        >
          Later
        </button>
        {chosen !== null && (
          <button type="button" className="button plain" onClick={() => setChosen(null)}>
            Newest
          </button>
        )}
      </div>
      {refusal ? (
        <div className="player-pad">
          <ProblemPanel problem={refusal} onRetry={retry} />
        </div>
      ) : filter === 'node' && selected === null ? (
        <p className="muted player-none">Select a node in the graph or the text.</p>
      ) : (
        // Scrolled by keys.
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        <div ref={list} className="steps-list" tabIndex={0} role="region" aria-label="Steps that were made">
          <Rows steps={page?.steps ?? []} newest={position - 1} onSeek={onSeek} onWhy={onWhy} />
          {page?.steps.length === 0 && <p className="muted player-none">No step yet.</p>}
          {chosen === null && filter === 'all' && next !== null && (
            <p className="steps-next mono">
              <span className="numeric">{position.toLocaleString('en')}</span> next: {next}
            </p>
          )}
        </div>
      )}
    </div>
  );
}

/** Steps, each with a way to it and to what its value follows from. */
export function Rows(props: {
  steps: readonly StepFragment[];
  newest: number;
  onSeek(step: number): void;
  onWhy(step: StepFragment): void;
}) {
  const { steps, newest, onSeek, onWhy } = props;
  const names = useNames();
  return (
    <ol className="steps-rows">
      {steps.map((step, at) => (
        <li key={step.seq} data-seq={step.seq} data-current={step.seq === newest}>
          {step.function !== steps[at - 1]?.function && (
            <span className="steps-function muted mono">{names.get(step.function)?.path ?? step.function}</span>
          )}
          <button
            type="button"
            className="steps-row"
            title={step.note ?? `Go to before step ${step.seq}`}
            onClick={() => onSeek(step.seq)}
          >
            <span className="muted numeric">{step.seq.toLocaleString('en')}</span>
            <code className="muted">{step.node}</code>
            <code className="steps-op">{short(namedOp(step.op, names), 34)}</code>
            <code className="steps-values">
              {step.inputs.map((value) => short(value, 18)).join(', ')}
              {step.outputs.length > 0 && <b> → {step.outputs.map((value) => short(value, 24)).join(', ')}</b>}
            </code>
          </button>
          {(step.outputs.length > 0 || step.inputs.length > 0) && (
            <button
              type="button"
              className="button plain small"
              aria-label={`Why, of step ${step.seq}`}
              onClick={() => onWhy(step)}
            >
              why
            </button>
          )}
        </li>
      ))}
    </ol>
  );
}
