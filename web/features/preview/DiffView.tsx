import { Link } from '@tanstack/react-router';
import { Equal, Minus, PenLine, Plus, type LucideIcon } from 'lucide-react';
import { lazy, Suspense, useId, useMemo, useState } from 'react';

import { Badge, counted, Counts, ProblemPanel, RestItem, SkeletonRows, Tabs, type Tone } from '../../ui';
import { isSame, type Diff, type Difference, type FunctionChange, type Shown } from './model';
import { UnifiedText } from './UnifiedText';
import { filesOf, isCut, kindOf, looksByRef, type DiffFile, type Looks } from './unified';
import { PAGE, useChanges, type Changes } from './useChanges';
import './preview.css';

type Sign = 'added' | 'removed' | 'modified';

const SIGNS: Record<Sign, LucideIcon> = { added: Plus, removed: Minus, modified: PenLine };
const TONES: Record<string, Tone> = { ADDED: 'ok', REMOVED: 'error', MODIFIED: 'warn', RENAMED: 'info', MOVED: 'info' };
const ICONS: Record<string, LucideIcon> = { ADDED: Plus, REMOVED: Minus };
/** More entities of one function than these are shown only when asked for. */
const SHOWN = 24;

/** The graph and what lays it out take a while to load, and most differences are read without. */
const DifferenceGraph = lazy(async () => ({ default: (await import('../difference')).DifferenceGraph }));

/** What of a difference is looked at. */
export interface Look {
  shown: Shown;
  /** The function whose graph is shown, by ref; without it the first. */
  owner: string | undefined;
  /** The node that is selected in the graph, by ref. */
  node: string | null;
}

/** Where it is kept what is looked at. */
export interface DiffPlace extends Look {
  onLook(parts: Partial<Look>): void;
}

/** Keeps what is looked at as long as whoever uses it is shown. */
export function useDiffPlace(first: Shown): DiffPlace {
  const [look, setLook] = useState<Look>({ shown: first, owner: undefined, node: null });
  return { ...look, onLook: (parts) => setLook((before) => ({ ...before, ...parts })) };
}

/** How two states differ: function by function with what became of their nodes, as text, or each function as a graph. */
export function DiffView(props: Difference & { program: string; place?: DiffPlace }) {
  const { diff, program, first = 'structure' } = props;
  const changes = useChanges(props);
  const id = useId();
  const own = useDiffPlace(first);
  const { shown, owner, node, onLook } = props.place ?? own;
  const files = useMemo(() => filesOf(diff.text ?? ''), [diff.text]);
  const looks = useMemo(() => looksByRef(files), [files]);
  const { changed } = diff;
  if (isSame(diff))
    return (
      <p className="fine-line muted diff-same">
        <Equal size={14} aria-hidden />
        The content is the same.
      </p>
    );
  const known = new Set(changes.items.map(({ path }) => path));
  const whole = changes.items.length >= changes.total;
  // What is not known to be a function is none only once all of them are known.
  const others = whole ? files.filter(({ path }) => !known.has(path)) : [];
  return (
    <div className="diff">
      <div className="diff-head">
        <Tabs
          label="How the difference is shown"
          panel={`${id}panel`}
          tabs={[
            { id: `${id}structure`, label: 'Structure' },
            { id: `${id}text`, label: 'Text' },
            { id: `${id}graph`, label: 'Graph' },
          ]}
          current={`${id}${shown}`}
          onChange={(tab) => onLook({ shown: tab.slice(id.length) as Shown })}
        />
        <span className="diff-counts">
          <Counts {...changed} />
          <span className="muted">in {counted(changed.functions, 'function')}</span>
        </span>
      </div>
      <div id={`${id}panel`} role="tabpanel" aria-labelledby={`tab-${id}${shown}`} className="diff-panel">
        {shown === 'graph' ? (
          <Suspense fallback={<SkeletonRows rows={6} label="Loading the graph" />}>
            <DifferenceGraph
              difference={props}
              changes={changes}
              program={program}
              owner={owner}
              selected={node}
              onOwner={(owner) => onLook({ owner, node: null })}
              onSelect={(node) => onLook({ node })}
            />
          </Suspense>
        ) : shown === 'structure' ? (
          <ul className="diff-functions">
            {changes.items.map((change) => (
              <FunctionRow
                key={change.ref}
                change={change}
                diff={diff}
                looks={looks}
                program={program}
                onGraph={() => onLook({ shown: 'graph', owner: change.ref, node: null })}
              />
            ))}
            {others.map((file) => (
              <OtherRow key={file.path} file={file} diff={diff} program={program} />
            ))}
            {!whole && (
              <li className="diff-function">
                <MoreChanges changes={changes} />
              </li>
            )}
          </ul>
        ) : diff.text === null ? (
          <p className="muted diff-same">
            The text of this difference is too long to show. The structure has all of it.
          </p>
        ) : (
          <>
            <UnifiedText files={files} />
            {isCut(diff.text) && (
              <p className="muted diff-same">The text goes on, and is too long to show. The structure has all of it.</p>
            )}
          </>
        )}
      </div>
    </div>
  );
}

/** The way to those functions of a difference that are not loaded, or why they did not come. */
export function MoreChanges({ changes: { items, total, fetching, problem, more } }: { changes: Changes }) {
  const rest = total - items.length;
  if (rest <= 0) return null;
  return (
    <>
      {problem && <ProblemPanel problem={problem} />}
      <button type="button" className="button plain" aria-busy={fetching} onClick={more}>
        Show {rest > PAGE && `${PAGE} of `}
        {counted(rest, 'other function')}
      </button>
    </>
  );
}

function FunctionRow(props: {
  change: FunctionChange;
  diff: Diff;
  looks: Map<string, Looks>;
  program: string;
  onGraph(): void;
}) {
  const { change, diff, looks, program, onGraph } = props;
  const [all, setAll] = useState(false);
  const Icon = ICONS[change.change] ?? PenLine;
  const entities = (['removed', 'modified', 'added'] as const).flatMap((sign) =>
    change[sign].map((ref) => ({ sign, ref })),
  );
  const shown = all ? entities : entities.slice(0, SHOWN);
  const rest = entities.length - shown.length;
  return (
    <li className="diff-function">
      <div className="diff-function-head">
        <Icon size={14} aria-hidden className={`sign-${change.change.toLowerCase()}`} />
        <span className="mono diff-path">{change.path}</span>
        <Badge tone={TONES[change.change] ?? 'plain'}>{change.change.toLowerCase()}</Badge>
        <span className="diff-links">
          <button type="button" className="link" onClick={onGraph}>
            graph<span className="hidden"> of {change.path}</span>
          </button>
          {change.change !== 'ADDED' && diff.from && (
            <FunctionLink program={program} change={change} rev={diff.from.number} word="before" />
          )}
          {change.change !== 'REMOVED' && diff.to && (
            <FunctionLink program={program} change={change} rev={diff.to.number} word="after" />
          )}
        </span>
      </div>
      {entities.length > 0 && (
        <ul className="diff-entities" aria-label={`What differs in ${change.path}`}>
          {shown.map(({ sign, ref }) => (
            <Entity
              key={ref}
              sign={sign}
              entity={ref}
              looks={looks.get(ref)}
              program={program}
              owner={change.ref}
              rev={(sign === 'removed' ? diff.from : diff.to)?.number ?? null}
            />
          ))}
          <RestItem rest={rest} onShow={() => setAll(true)} />
        </ul>
      )}
    </li>
  );
}

/** Something that differs and is no function. */
function OtherRow({ file, diff, program }: { file: DiffFile; diff: Diff; program: string }) {
  const { path, change, added, removed } = file;
  const Icon = ICONS[change] ?? PenLine;
  const kind = kindOf(file);
  const link = (rev: number, word: string) => (
    <Link to="/p/$program/t/$type" params={{ program, type: path }} search={{ rev }}>
      {word} <span className="numeric">r{rev}</span>
      <span className="hidden"> of {path}</span>
    </Link>
  );
  return (
    <li className="diff-function">
      <div className="diff-function-head">
        <Icon size={14} aria-hidden className={`sign-${change.toLowerCase()}`} />
        <span className="mono diff-path">{path}</span>
        <span className="muted">{kind ?? 'not a function'}</span>
        <Badge tone={TONES[change] ?? 'plain'}>{change.toLowerCase()}</Badge>
        <span className="counts">
          {added > 0 && <span className="added">+{added}</span>}
          {removed > 0 && <span className="removed">−{removed}</span>}
          <span className="hidden">lines</span>
        </span>
        {kind === 'type' && (
          <span className="diff-links">
            {change !== 'ADDED' && diff.from && link(diff.from.number, 'before')}
            {change !== 'REMOVED' && diff.to && link(diff.to.number, 'after')}
          </span>
        )}
      </div>
    </li>
  );
}

function FunctionLink(props: { program: string; change: FunctionChange; rev: number; word: string }) {
  const { program, change, rev, word } = props;
  return (
    <Link to="/p/$program/f/$function" params={{ program, function: change.ref }} search={{ rev }}>
      {word} <span className="numeric">r{rev}</span>
      <span className="hidden"> of {change.path}</span>
    </Link>
  );
}

function Entity(props: {
  sign: Sign;
  entity: string;
  looks: Looks | undefined;
  program: string;
  owner: string;
  rev: number | null;
}) {
  const { sign, entity, looks, program, owner, rev } = props;
  const Icon = SIGNS[sign];
  const { before = null, after = null } = looks ?? {};
  const text =
    sign === 'modified' && before !== null && after !== null && before !== after
      ? `${before} → ${after}`
      : sign === 'removed'
        ? before
        : (after ?? before);
  const what = (
    <>
      <Icon size={12} aria-hidden />
      <span className="hidden">{sign} </span>
      {text && <span className="look">{text} </span>}
      <span className="ref">{entity}</span>
    </>
  );
  return (
    <li className={`entity ${sign}`}>
      {rev !== null && entity.startsWith('n') ? (
        <Link to="/p/$program/f/$function" params={{ program, function: owner }} search={{ rev, node: entity }}>
          {what}
        </Link>
      ) : (
        <span>{what}</span>
      )}
    </li>
  );
}
