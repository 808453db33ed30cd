import { CircleDot, Plus, X } from 'lucide-react';
import { useState, type FormEvent } from 'react';

import type { BreakpointInput } from '../../generated/graphql';
import { Message } from '../../ui';
import { inputOf, short, type Breakpoint } from './model';
import { useNames } from './names';
import type { Refusal } from './refusal';

/** Reads what a reader typed as a place to stop at: a node, a variable or bytes to watch, or a function. */
export function placeTyped(text: string): BreakpointInput | null {
  const place = text.trim();
  if (place === '') return null;
  if (/^n\d+$/.test(place)) return { node: place };
  if (/^v\d+$/.test(place) || place.startsWith('memory[')) return { watch: place };
  return { function: place };
}

/** Where the run stops, with conditions, and a line to add a place. */
export function Breakpoints(props: {
  breakpoints: readonly Breakpoint[];
  refusal: Refusal | undefined;
  busy: boolean;
  selected: string | null;
  /** What a node or a variable of the function at hand is called. */
  nameOf(ref: string): string | undefined;
  onSet(breakpoints: BreakpointInput[]): Promise<boolean>;
  onSelect(ref: string): void;
}) {
  const { breakpoints, refusal, busy, selected, nameOf, onSet, onSelect } = props;
  const names = useNames();
  const [place, setPlace] = useState('');
  const [condition, setCondition] = useState('');
  const given = breakpoints.map(inputOf);

  const add = async (event: FormEvent) => {
    event.preventDefault();
    const typed = placeTyped(place === '' ? (selected ?? '') : place);
    if (!typed) return;
    const next = { ...typed, ...(condition.trim() !== '' && { condition: condition.trim() }) };
    if (!(await onSet([...given, next]))) return;
    setPlace('');
    setCondition('');
  };
  const titleOf = ({ node, function: name, watch }: Breakpoint) => {
    if (name) return `function ${names.get(name)?.path ?? name}`;
    const ref = node ?? watch ?? '';
    const called = nameOf(ref) ?? names.get(ref)?.path;
    return `${node ? 'node' : 'change of'} ${ref}${called ? ` ${short(called, 30)}` : ''}`;
  };
  return (
    <div className="stops">
      {breakpoints.length === 0 && (
        <p className="muted player-none">
          No breakpoint. Press <kbd>x</kbd> at a node, click beside a line or a node, or add a place here.
        </p>
      )}
      <ul aria-label="Breakpoints">
        {breakpoints.map((breakpoint, at) => {
          const title = titleOf(breakpoint);
          return (
            <li key={title} className="stops-row" data-here={breakpoint.here}>
              <CircleDot size={13} aria-hidden />
              {breakpoint.node ? (
                <button type="button" className="link mono" onClick={() => onSelect(breakpoint.node ?? '')}>
                  {title}
                </button>
              ) : (
                <span className="mono">{title}</span>
              )}
              <Condition
                key={breakpoint.condition}
                title={title}
                condition={breakpoint.condition ?? ''}
                onSet={(text) => onSet(given.with(at, { ...bare(given[at]), ...(text !== '' && { condition: text }) }))}
              />
              <span className="muted numeric" title="How often it was met on the way forward">
                {breakpoint.here && <strong>here · </strong>}
                {breakpoint.hits.toLocaleString('en')} {breakpoint.hits === 1 ? 'hit' : 'hits'}
              </span>
              <button
                type="button"
                className="button plain icon small"
                aria-label={`Remove the breakpoint: ${title}`}
                onClick={() => void onSet(given.toSpliced(at, 1))}
              >
                <X size={13} aria-hidden />
              </button>
              {breakpoint.message && (
                <p className="value-wrong">
                  <Message>{breakpoint.message}</Message>
                </p>
              )}
            </li>
          );
        })}
      </ul>
      <form className="stops-add" onSubmit={(event) => void add(event)} aria-label="Another breakpoint">
        <label>
          <span className="muted">Stop at</span>
          <input
            className="field mono"
            autoComplete="off"
            spellCheck={false}
            placeholder={selected ?? 'n12, m::f, v5, memory[0..8]'}
            title="A node, a function, a variable or global, or bytes of memory"
            value={place}
            onChange={(event) => setPlace(event.target.value)}
          />
        </label>
        <label>
          <span className="muted">where</span>
          <input
            className="field mono"
            autoComplete="off"
            spellCheck={false}
            placeholder="eq.i32 i, 5"
            value={condition}
            onChange={(event) => setCondition(event.target.value)}
          />
        </label>
        <button type="submit" className="button" disabled={busy || (place.trim() === '' && selected === null)}>
          <Plus size={13} aria-hidden />
          Add
        </button>
      </form>
      {refusal && refusal.path[0]?.startsWith('breakpoints') && (
        <p className="value-wrong player-pad" role="alert">
          <Message>{refusal.message}</Message>
          {refusal.column !== null && `, at column ${refusal.column}`}
          {refusal.candidates.length > 0 && `; there is ${refusal.candidates.join(', ')}`}
        </p>
      )}
    </div>
  );
}

/** A breakpoint without its condition. */
function bare(breakpoint: BreakpointInput | undefined): BreakpointInput {
  return Object.fromEntries(Object.entries(breakpoint ?? {}).filter(([name]) => name !== 'condition'));
}

function Condition(props: { title: string; condition: string; onSet(condition: string): Promise<boolean> }) {
  const { title, condition, onSet } = props;
  const [text, setText] = useState(condition);
  const submit = () => {
    if (text.trim() !== condition) void onSet(text.trim());
  };
  return (
    <input
      className="field mono stops-condition"
      aria-label={`Condition of ${title}`}
      placeholder="always"
      spellCheck={false}
      value={text}
      onChange={(event) => setText(event.target.value)}
      onBlur={submit}
      onKeyDown={(event) => {
        if (event.key === 'Enter') submit();
        if (event.key === 'Escape') setText(condition);
      }}
    />
  );
}
