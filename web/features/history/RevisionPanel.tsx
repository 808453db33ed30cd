import { Link } from '@tanstack/react-router';
import { Flag, GitBranchPlus, GitMerge, History, Undo2, UserX, Workflow, X } from 'lucide-react';
import { useMemo, type ReactNode } from 'react';
import { useClient } from 'urql';

import { HistoryDiffDocument, HistoryRevisionDocument } from '../../generated/graphql';
import { useAsk } from '../../lib/ask';
import { Actor, Ago, Badge, counted, Long, ProblemPanel, SkeletonRows } from '../../ui';
import { DiffView, type DiffPlace } from '../preview';
import { partsBetween, type Action } from './actions';
import type { Forgetting } from './ForgetDialog';
import { headline, MAIN, movesContent, type Item, type Place } from './model';
import type { Naming } from './NameDialog';
import type { HistorySearch } from './search';

/** How a difference is looked at, which the address says. */
export interface Look {
  search: HistorySearch;
  onLook(parts: { [Key in 'diff' | 'fn' | 'node']?: HistorySearch[Key] | null }): void;
}

/** What can be done from a panel. */
export interface Doing {
  /** Why the reader may change nothing, in words; null where they may. */
  lacks: string | null;
  /** The branch that would move. */
  branch: string;
  /** Its head; null where that is not known. */
  head: number | null;
  /** Checkpoints of a revision, by name. */
  checkpointOf(number: number): string | null;
  /** Where revisions are taken back, or why they cannot be. */
  takenBackOn(revisions: readonly Item[]): Place;
  /** The revisions that are loaded. */
  known: readonly Item[];
  act(action: Action): void;
  name(naming: Naming): void;
  forget(forgetting: Forgetting): void;
}

/** The revisions that are selected: one with what it changed, two with how they differ, more to be taken back together. */
export function RevisionPanel(props: {
  programId: string;
  program: string;
  selection: readonly number[];
  look: Look;
  doing: Doing;
  onClear(): void;
}) {
  const { programId, program, selection, look, doing, onClear } = props;
  const [from, to] = selection;
  if (from === undefined) return null;
  const head = (title: ReactNode) => (
    <div className="panel-head">
      <h2>{title}</h2>
      <span className="end">
        <button type="button" className="button plain" onClick={onClear}>
          <X size={14} aria-hidden />
          <span>Close</span>
        </button>
      </span>
    </div>
  );
  if (selection.length === 1)
    return (
      <>
        {head(`r${from}`)}
        <One key={from} programId={programId} program={program} number={from} look={look} doing={doing} />
      </>
    );
  const place = doing.takenBackOn(doing.known.filter(({ number }) => selection.includes(number)));
  return (
    <>
      {head(selection.length === 2 ? `r${from} compared with r${to}` : counted(selection.length, 'revision'))}
      <fieldset className="revision-acts" disabled={doing.lacks !== null} title={doing.lacks ?? undefined}>
        <legend className="hidden">What can be done</legend>
        <button
          type="button"
          className="button"
          {...acting(place, (branch) => doing.act({ type: 'revert', branch, of: { revisions: selection } }))}
        >
          <Undo2 size={14} aria-hidden />
          Take {selection.length === 2 ? 'both' : 'all'} back{onOther(place, doing)}…
        </button>
      </fieldset>
      {selection.length === 2 && to !== undefined ? (
        <Compared programId={programId} program={program} from={`r${from}`} to={`r${to}`} look={look} />
      ) : (
        <p className="panel-body muted">
          {selection.map((number) => `r${number}`).join(', ')}. Two at a time are compared.
        </p>
      )}
    </>
  );
}

/** What a button does on a branch, or the reason why it does nothing. */
function acting(
  place: Place,
  act: (branch: string) => void,
): { disabled?: true; title?: string; onClick?: () => void } {
  return 'why' in place ? { disabled: true, title: place.why } : { onClick: () => act(place.branch) };
}

/** The branch that is moved where it is another one than is looked at. */
function onOther(place: Place, { branch }: Doing): string {
  return 'branch' in place && place.branch !== branch ? ` on ${place.branch}` : '';
}

function One(props: { programId: string; program: string; number: number; look: Look; doing: Doing }) {
  const { programId, program, number, look, doing } = props;
  const { data, problem, refresh } = useAsk(HistoryRevisionDocument, { id: programId, at: `r${number}` });
  const revision = data?.program?.revision;
  if (problem && !revision)
    return (
      <div className="panel-body">
        <ProblemPanel problem={problem} onRetry={refresh} />
      </div>
    );
  if (!revision) return <SkeletonRows rows={6} label="Loading the revision" />;
  const { actor, kind, undone, branch, createdAt, changed, onBehalfOf, target, runId } = revision;
  const content = movesContent(revision);
  const here = doing.branch;
  const place = doing.takenBackOn([revision]);
  const on = 'branch' in place ? place.branch : here;
  const isHead = number === doing.head;
  const checkpoint = doing.checkpointOf(number);
  return (
    <>
      <div className="revision-facts-panel">
        <p className="revision-headline">
          <Long>{headline(revision)}</Long>
        </p>
        <p className="revision-line">
          <Actor {...actor} />
          {actor.client && <span className="muted">with {actor.client}</span>}
          {onBehalfOf && <span className="muted">for {onBehalfOf}</span>}
          <Badge>{kind.toLowerCase()}</Badge>
          {undone && (
            <Badge>
              <Undo2 size={12} aria-hidden />
              undone
            </Badge>
          )}
          {branch !== MAIN && <Badge tone="teal">{branch}</Badge>}
          {target && <span className="muted">to r{target.number}</span>}
          <Ago at={createdAt} />
        </p>
      </div>
      <fieldset className="revision-acts" disabled={doing.lacks !== null} title={doing.lacks ?? undefined}>
        <legend className="hidden">What can be done</legend>
        {content && kind !== 'CREATE' && (
          <button
            type="button"
            className="button"
            {...acting(place, (branch) => doing.act({ type: 'revert', branch, of: { revisions: [number] } }))}
          >
            <Undo2 size={14} aria-hidden />
            Take back{onOther(place, doing)}…
          </button>
        )}
        {content && (
          <button
            type="button"
            className="button"
            disabled={isHead}
            title={isHead ? `${here} stands here` : undefined}
            onClick={() => doing.act({ type: 'restore', branch: here, to: number, checkpoint })}
          >
            <History size={14} aria-hidden />
            Restore…
          </button>
        )}
        {content && (
          <>
            <button type="button" className="button" onClick={() => doing.name({ kind: 'checkpoint', at: number })}>
              <Flag size={14} aria-hidden />
              Checkpoint…
            </button>
            <button type="button" className="button" onClick={() => doing.name({ kind: 'branch', at: number })}>
              <GitBranchPlus size={14} aria-hidden />
              Branch…
            </button>
          </>
        )}
        {content && (
          <button
            type="button"
            className="button long"
            onClick={() => doing.act({ type: 'revert', branch: on, of: { author: actor.name } })}
          >
            <UserX size={14} aria-hidden />
            <span className="clip" title={actor.name}>
              Take back all by {actor.name}
              {onOther(place, doing)}…
            </span>
          </button>
        )}
        {content && runId !== null && (
          <button
            type="button"
            className="button"
            onClick={() => doing.act({ type: 'revert', branch: on, of: { runId } })}
          >
            <Workflow size={14} aria-hidden />
            Take back its whole run{onOther(place, doing)}…
          </button>
        )}
        {branch !== here && content && (
          <button
            type="button"
            className="button"
            onClick={() => doing.act({ type: 'merge', branch: here, from: `r${number}` })}
          >
            <GitMerge size={14} aria-hidden />
            Merge into {here}…
          </button>
        )}
      </fieldset>
      {kind === 'CREATE' ? (
        <p className="panel-body muted">
          The first revision: {counted(changed.added, 'entity', 'entities')} in {counted(changed.functions, 'function')}
          .{' '}
          <Link to="/p/$program" params={{ program }}>
            See the program
          </Link>
        </p>
      ) : content ? (
        <Compared programId={programId} program={program} from={`r${number}~1`} to={`r${number}`} look={look} />
      ) : (
        <p className="panel-body muted">It gave a name and changed no content.</p>
      )}
    </>
  );
}

function Compared(props: { programId: string; program: string; from: string; to: string; look: Look }) {
  const { programId, program, from, to, look } = props;
  const { data, problem, refresh } = useAsk(
    HistoryDiffDocument,
    { id: programId, from, to },
    // Revisions never change, and neither does how two of them differ.
    { requestPolicy: 'cache-first' },
  );
  const client = useClient();
  const ask = useMemo(() => partsBetween(client, programId, from, to), [client, programId, from, to]);
  const diff = data?.program?.diff;
  if (problem && !diff)
    return (
      <div className="panel-body">
        <ProblemPanel problem={problem} onRetry={refresh} />
      </div>
    );
  if (!diff) return <SkeletonRows rows={6} label="Comparing" />;
  const { search, onLook } = look;
  const place: DiffPlace = {
    shown: search.diff ?? 'structure',
    owner: search.fn,
    node: search.node ?? null,
    onLook: ({ shown, owner, node }) =>
      onLook({
        ...(shown !== undefined && { diff: shown === 'structure' ? null : shown }),
        ...(owner !== undefined && { fn: owner }),
        ...(node !== undefined && { node }),
      }),
  };
  return <DiffView programId={programId} diff={diff} ask={ask} program={program} place={place} />;
}
