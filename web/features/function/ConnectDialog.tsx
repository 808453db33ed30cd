import { useEffect, useEffectEvent, useId, useMemo, useRef, useState } from 'react';

import { beginning, endsOf, refusal, startsOf, type End, type Start } from './connect';
import type { Graph } from './model';

/** Chooses a value and an input that takes it from now on. What does not fit is said where it is chosen. */
export function ConnectDialog(props: {
  graph: Graph;
  selected: string | null;
  onConnect(start: Start, end: End): void;
  onClose(): void;
}) {
  const { graph, selected, onConnect, onClose } = props;
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const to = useRef<HTMLSelectElement>(null);
  const starts = useMemo(() => startsOf(graph), [graph]);
  const ends = useMemo(() => endsOf(graph), [graph]);
  const [chosen, setChosen] = useState(() => {
    const { start, end } = beginning(graph, selected);
    const first = (list: readonly { box?: string; node?: string; port: number }[], is: Start | End | undefined) =>
      is ? list.findIndex((each) => JSON.stringify(each) === JSON.stringify(is)) : -1;
    return { start: first(starts, start), end: first(ends, end) };
  });
  const given = chosen.start >= 0;
  const open = useEffectEvent(() => {
    dialog.current?.showModal();
    // What is selected gives its value: where to is the question.
    if (given) to.current?.focus();
  });
  useEffect(() => open(), []);
  const start = starts[chosen.start];
  const end = ends[chosen.end];
  const why = start && end ? refusal(graph, start, end) : null;
  return (
    <dialog ref={dialog} className="dialog" aria-labelledby={`${id}title`} onClose={onClose}>
      <form
        className="connect"
        onSubmit={(event) => {
          event.preventDefault();
          if (!start || !end || why !== null) return;
          dialog.current?.close();
          onConnect(start, end);
        }}
      >
        <h2 id={`${id}title`}>Connect a value with an input</h2>
        <label htmlFor={`${id}from`}>From</label>
        <select
          id={`${id}from`}
          className="field mono"
          value={chosen.start}
          onChange={(event) => setChosen({ ...chosen, start: Number(event.target.value) })}
        >
          <option value={-1}>choose a value</option>
          {fittingFirst(starts, (each) => (end ? refusal(graph, each, end) : null)).map(({ each, at, why }) => (
            <option key={at} value={at} disabled={why !== null && at !== chosen.start}>
              {each.label}: {each.type}
              {why && ` — the input ${why}`}
            </option>
          ))}
        </select>
        <label htmlFor={`${id}to`}>To</label>
        <select
          ref={to}
          id={`${id}to`}
          className="field mono"
          value={chosen.end}
          onChange={(event) => setChosen({ ...chosen, end: Number(event.target.value) })}
        >
          <option value={-1}>choose an input</option>
          {fittingFirst(ends, (each) => (start ? refusal(graph, start, each) : null)).map(({ each, at, why }) => (
            <option key={at} value={at} disabled={why !== null && at !== chosen.end}>
              {each.label}: {each.type}
              {each.now === null && ' (a hole)'}
              {why && ` — ${why}`}
            </option>
          ))}
        </select>
        <p className="connect-why error-text" role="status">
          {why && `${end?.label} ${why}.`}
        </p>
        <div className="acts">
          <span className="gap" />
          <button type="button" className="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button type="submit" className="button primary" disabled={!start || !end || why !== null}>
            Preview
          </button>
        </div>
      </form>
    </dialog>
  );
}

/** What fits before what is refused, each with its place in the list. */
function fittingFirst<Each>(list: readonly Each[], refused: (each: Each) => string | null) {
  const all = list.map((each, at) => ({ each, at, why: refused(each) }));
  return all.sort((a, b) => Number(a.why !== null) - Number(b.why !== null));
}
