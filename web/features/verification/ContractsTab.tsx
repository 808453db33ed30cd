import { CircleStop, Play, ShieldCheck } from 'lucide-react';
import { useEffect, useEffectEvent, useState, type FormEvent } from 'react';

import { useCaller } from '../../lib/caller';
import { counted, Empty, ProblemPanel, SkeletonRows } from '../../ui';
import { useLive } from '../edits';
import { ContractRow } from './ContractRow';
import { brokenOf, saying, type Contracted } from './model';
import type { Functions } from './useFunctions';
import { useContractSearch } from './useSearch';

/** What functions demand and promise, and the search for inputs on which they break it. */
export function ContractsTab(props: {
  at: string | null;
  functions: Functions;
  /** Told how many functions the search has found to break. */
  onBroken(broken: number): void;
}) {
  const { at, functions, onBroken } = props;
  const { programId, name: program } = useLive();
  const [all, setAll] = useState(false);
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const { search, problem, start, cancel } = useContractSearch(() => {});
  const { list } = functions;
  const running = search.status === 'running';
  const broken = brokenOf(search);
  const tell = useEffectEvent(onBroken);
  useEffect(() => {
    if (search.status !== 'idle') tell(broken);
  }, [search.status, broken]);

  if (functions.problem && !list) return <ProblemPanel problem={functions.problem} onRetry={functions.refresh} />;
  if (!list)
    return (
      <div className="panel">
        <SkeletonRows rows={6} label="Loading the contracts" />
      </div>
    );
  const listed = list.filter(({ contracts, visibility }) => contracts.length > 0 || (all && visibility !== 'PRIVATE'));
  const chosen = listed.filter(({ ref }) => !left.has(ref));
  const lacks = useCaller().lacks('SIMULATE');
  const begin = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (running) return cancel();
    const form = new FormData(event.currentTarget);
    const number = (name: string) => Number(form.get(name));
    start({
      programId,
      ...(at !== null && { at }),
      functions: chosen.map(({ ref }) => ref),
      cases: number('cases'),
      timeoutMs: number('seconds') * 1000,
      seed: number('seed'),
      addCases: form.get('add') !== null,
    });
  };
  const toggle = ({ ref }: Contracted) =>
    setLeft((before) => {
      const next = new Set(before);
      if (!next.delete(ref)) next.add(ref);
      return next;
    });

  return (
    <>
      <form className="panel budget" onSubmit={begin} aria-label="Search for inputs that break functions">
        <div className="panel-head">
          <h2>Look for inputs that break them</h2>
          <span className="end">
            <output className={broken > 0 ? 'error-text' : 'muted'}>{saying(search, chosen.length)}</output>
            {/* One button, which so keeps the focus. */}
            <button
              type="submit"
              className={running ? 'button' : 'button primary'}
              disabled={!running && (chosen.length === 0 || lacks !== null)}
              title={lacks ?? undefined}
            >
              {running ? <CircleStop size={14} aria-hidden /> : <Play size={14} aria-hidden />}
              {running ? 'Cancel' : `Check ${counted(chosen.length, 'function')}`}
            </button>
          </span>
        </div>
        <fieldset className="budget-fields" disabled={running}>
          <legend className="hidden">How far it goes</legend>
          <Field name="cases" label="inputs for each" value={1000} min={1} max={1_000_000} />
          <Field name="seconds" label="seconds for all" value={10} min={1} max={60} />
          <Field name="seed" label="seed" value={0} min={0} max={4_294_967_295} />
          <label className="check">
            <input type="checkbox" name="add" />
            keep what breaks as test cases
          </label>
          <label className="check">
            <input type="checkbox" checked={all} onChange={(event) => setAll(event.target.checked)} />
            also public functions without contracts
          </label>
        </fieldset>
        {problem && (
          <div className="panel-body">
            <ProblemPanel problem={problem} />
          </div>
        )}
      </form>
      <div className="panel">
        {listed.length === 0 ? (
          <Empty icon={ShieldCheck} title="No function has a contract yet">
            <p>
              <code>require</code> says what a function demands of its callers, <code>ensure</code> what it promises.
            </p>
          </Empty>
        ) : (
          <ul aria-label="Functions">
            {listed.map((each) => (
              <ContractRow
                key={each.ref}
                contracted={each}
                program={program}
                programId={programId}
                at={at}
                chosen={!left.has(each.ref)}
                disabled={running}
                attempt={search.attempts.get(each.ref)}
                onToggle={() => toggle(each)}
              />
            ))}
          </ul>
        )}
      </div>
    </>
  );
}

function Field(props: { name: string; label: string; value: number; min: number; max: number }) {
  const { name, label, value, min, max } = props;
  return (
    <label className="budget-field">
      <input
        className="field numeric"
        type="number"
        name={name}
        defaultValue={value}
        min={min}
        max={max}
        step={1}
        required
      />
      {label}
    </label>
  );
}
