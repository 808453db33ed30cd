import { Link } from '@tanstack/react-router';
import { ChevronLeft, ChevronRight, Equal, Import } from 'lucide-react';
import { useCallback, useEffect, useMemo, useState } from 'react';

import { Empty, Notice, ProblemPanel, SkeletonRows } from '../../ui';
import { AlteredList, GraphPane, nextOf, NodeDetails, useFolds, useOpening, type GraphNode } from '../function';
import { MoreChanges, type Changes, type Difference, type FunctionChange } from '../preview';
import { ChangeList } from './ChangeList';
import { Legend } from './Legend';
import { aboutFunction, differing, opened, tallyOf } from './model';
import { useSides, type After, type Both } from './useSides';
import './difference.css';

const UNLIT: ReadonlySet<string> = new Set();
const WORDS: Record<FunctionChange['change'], string> = {
  ADDED: 'added',
  REMOVED: 'removed',
  MODIFIED: 'changed',
  RENAMED: 'renamed',
  MOVED: 'moved',
};

interface Choice {
  difference: Difference;
  /** The functions that differ. */
  changes: Changes;
  program: string;
  /** The node that is selected, by ref. */
  selected: string | null;
  /** Looks at another function. */
  onOwner(ref: string): void;
  onSelect(ref: string | null): void;
}

/** How one of the functions that differ does so, as a graph; without a name the first of them. */
export function DifferenceGraph(props: Choice & { owner: string | undefined }) {
  const { program, difference, changes, owner, onOwner } = props;
  const { diff } = difference;
  const { items, more, fetching, problem } = changes;
  const named = items.find(({ ref }) => ref === owner);
  const change = named ?? items[0];
  // An address may name a function that comes late.
  const sought = owner !== undefined && !named && !problem && (more !== undefined || fetching);
  useEffect(() => {
    if (sought) more?.();
  });
  if (sought) return <SkeletonRows rows={6} label="Looking for the function" />;
  if (!change) return <p className="muted diff-same">What differs is not in a function. The text has all of it.</p>;
  const from = change.change === 'ADDED' ? null : (diff.from?.number ?? null);
  const to = change.change === 'REMOVED' ? null : (diff.to?.number ?? 'foreseen');
  return (
    <div className="difference">
      <div className="difference-head">
        <label className="difference-choice">
          <span>Function</span>
          <select className="field mono" value={change.ref} onChange={(event) => onOwner(event.target.value)}>
            {items.map(({ ref, path, change }) => (
              <option key={ref} value={ref}>
                {path} ({WORDS[change]})
              </option>
            ))}
          </select>
        </label>
        <MoreChanges changes={changes} />
        <span className="diff-links">
          {[from, to].map(
            (rev, at) =>
              typeof rev === 'number' && (
                <Link key={at} to="/p/$program/f/$function" params={{ program, function: change.ref }} search={{ rev }}>
                  {at === 0 ? 'before' : 'after'} <span className="numeric">r{rev}</span>
                  <span className="hidden"> of {change.path}</span>
                </Link>
              ),
          )}
        </span>
      </div>
      <Loaded key={`${change.ref} ${from} ${to}`} {...props} change={change} from={from} to={to} />
    </div>
  );
}

interface Compared extends Choice {
  change: FunctionChange;
  from: number | null;
  to: After;
}

function Loaded(props: Compared) {
  const { both, progress, problem, retry } = useSides({ ...props, ...props.difference });
  if (both?.heads.before?.import || both?.heads.after?.import)
    return (
      <>
        <About both={both} />
        <Empty icon={Import} title="The host provides this function">
          <p>It has no body, so there is no graph of it.</p>
        </Empty>
      </>
    );
  if (both) return <Drawn {...props} both={both} />;
  if (problem)
    return (
      <div className="panel-body">
        <ProblemPanel problem={problem} onRetry={retry} />
      </div>
    );
  return (
    <div data-busy="true">
      <SkeletonRows rows={6} label="Loading both sides" />
      {progress && (
        <output className="muted diff-same">
          Loading nodes: {progress.done.toLocaleString('en')} of {progress.total.toLocaleString('en')}
        </output>
      )}
    </div>
  );
}

/** What differs of the function beside its nodes; of one that is on one side only, that. */
function About({ both: { heads } }: { both: Both }) {
  const altered = useMemo(() => aboutFunction(heads), [heads]);
  if (!heads.before) return <p className="difference-say">The function is new: everything in it is added.</p>;
  if (!heads.after) return <p className="difference-say">The function is gone: everything in it is removed.</p>;
  return <AlteredList altered={altered} />;
}

function Drawn(props: Compared & { both: Both }) {
  const { program, changes, change, from, to, both, onOwner, onSelect } = props;
  const { graph } = both;
  const nodes = useMemo(() => differing(graph), [graph]);
  const tour = useMemo(() => nodes.map(({ ref }) => ref), [nodes]);
  const tally = useMemo(() => tallyOf(graph), [graph]);
  // A node of another function, or of none, is not selected here.
  const selected = props.selected !== null && graph.nodes.has(props.selected) ? props.selected : null;
  const [hovered, setHovered] = useState<string | null>(null);
  const [first] = useState(() => ({ node: selected ?? tour[0] ?? null, open: opened(graph) }));
  const folds = useFolds(graph, first.node, first.open);
  const { picture, busy, failed, toggle } = folds;

  const revOf = useCallback(
    ({ change }: GraphNode) => (change?.sign !== 'removed' && typeof to === 'number' ? to : from) ?? undefined,
    [from, to],
  );
  const { select, open: go } = useOpening(graph, folds, { program, revOf, onSelect });
  const open = (ref: string) => {
    const callee = graph.nodes.get(ref)?.callee;
    const change = changes.items.find(({ ref }) => ref === callee)?.change;
    // What is only foreseen is nowhere else yet.
    if (callee && to === 'foreseen' && change === 'ADDED') onOwner(callee);
    else go(ref);
  };

  const at = selected === null ? -1 : tour.indexOf(selected);
  const walk = (by: 1 | -1) => select(nextOf(tour, selected, by));
  return (
    <>
      <About both={both} />
      <Legend tally={tally} />
      <div className="difference-graph">
        {failed ? (
          <div className="page narrow">
            <Notice tone="warn" title="The graph cannot be laid out.">
              <p className="muted">The list below has all nodes that differ. {failed}</p>
            </Notice>
          </div>
        ) : picture ? (
          <GraphPane
            name={`the difference of ${change.path}`}
            graph={graph}
            picture={picture}
            busy={busy}
            selected={selected}
            hovered={hovered}
            lit={UNLIT}
            turn={0}
            follow={first.node}
            tour={tour}
            onSelect={select}
            onHover={setHovered}
            onToggle={toggle}
            onOpen={open}
          />
        ) : (
          <div className="graph-waiting" data-busy="true">
            <output className="muted">Laying out…</output>
          </div>
        )}
      </div>
      {nodes.length === 0 ? (
        <p className="fine-line muted diff-same">
          <Equal size={14} aria-hidden />
          Its nodes are the same.
        </p>
      ) : (
        <div className="difference-walk" role="toolbar" aria-label="What differs">
          <button type="button" className="button" onClick={() => walk(-1)}>
            <ChevronLeft size={14} aria-hidden />
            Previous
          </button>
          <button type="button" className="button" onClick={() => walk(1)}>
            Next
            <ChevronRight size={14} aria-hidden />
          </button>
          <span className="muted numeric">
            {at < 0 ? tour.length.toLocaleString('en') : `${at + 1} of ${tour.length.toLocaleString('en')}`}{' '}
            {tour.length === 1 ? 'node differs' : 'nodes differ'}
          </span>
        </div>
      )}
      {selected !== null && <NodeDetails node={selected} graph={graph} onSelect={select} onOpen={open} />}
      {nodes.length > 0 && <ChangeList name={change.path} nodes={nodes} selected={selected} onSelect={select} />}
    </>
  );
}
