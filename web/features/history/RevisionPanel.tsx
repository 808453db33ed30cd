import { Link } from '@tanstack/react-router';
import { Flag, GitBranchPlus, GitMerge, History, Undo2, UserX, Workflow, X } from 'lucide-react';
import type { ReactNode } from 'react';

import { HistoryDiffDocument, HistoryRevisionDocument } from '../../generated/graphql';
import { useAsk } from '../../lib/ask';
import { Actor, Ago, Badge, counted, ProblemPanel, SkeletonRows } from '../../ui';
import { DiffView } from '../preview';
import type { Action } from './actions';
import type { Forgetting } from './ForgetDialog';
import { headline, MAIN, movesContent } from './model';
import type { Naming } from './NameDialog';

/** What can be done from a panel. */
export interface Doing {
  /** The branch that would move. */
  branch: string;
  /** Its head; null where that is not known. */
  head: number | null;
  /** Checkpoints of a revision, by name. */
  checkpointOf(number: number): string | null;
  act(action: Action): void;
  name(naming: Naming): void;
  forget(forgetting: Forgetting): void;
}

/** The revisions that are selected: one with what it changed, two with how they differ, more to be taken back together. */
export function RevisionPanel(props: {
  programId: string;
  program: string;
  selection: readonly number[];
  doing: Doing;
  onClear(): void;
}) {
  const { programId, program, selection, doing, onClear } = props;
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
        <One key={from} programId={programId} program={program} number={from} doing={doing} />
      </>
    );
  return (
    <>
      {head(selection.length === 2 ? `r${from} compared with r${to}` : counted(selection.length, 'revision'))}
      <div className="revision-acts">
        <button
          type="button"
          className="button"
          onClick={() => doing.act({ type: 'revert', branch: doing.branch, of: { revisions: selection } })}
        >
          <Undo2 size={14} aria-hidden />
          Take {selection.length === 2 ? 'both' : 'all'} back…
        </button>
      </div>
      {selection.length === 2 && to !== undefined ? (
        <Difference programId={programId} program={program} from={`r${from}`} to={`r${to}`} />
      ) : (
        <p className="panel-body muted">
          {selection.map((number) => `r${number}`).join(', ')}. Two at a time are compared.
        </p>
      )}
    </>
  );
}

function One(props: { programId: string; program: string; number: number; doing: Doing }) {
  const { programId, program, number, doing } = props;
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
  const isHead = number === doing.head;
  const checkpoint = doing.checkpointOf(number);
  return (
    <>
      <div className="revision-facts-panel">
        <p className="revision-headline">{headline(revision)}</p>
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
      <div className="revision-acts">
        {content && kind !== 'CREATE' && (
          <button
            type="button"
            className="button"
            onClick={() => doing.act({ type: 'revert', branch: here, of: { revisions: [number] } })}
          >
            <Undo2 size={14} aria-hidden />
            Take back…
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
            className="button"
            onClick={() => doing.act({ type: 'revert', branch: here, of: { author: actor.name } })}
          >
            <UserX size={14} aria-hidden />
            Take back all by {actor.name}…
          </button>
        )}
        {content && runId !== null && (
          <button
            type="button"
            className="button"
            onClick={() => doing.act({ type: 'revert', branch: here, of: { runId } })}
          >
            <Workflow size={14} aria-hidden />
            Take back its whole run…
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
      </div>
      {kind === 'CREATE' ? (
        <p className="panel-body muted">
          The first revision: {counted(changed.added, 'entity', 'entities')} in {counted(changed.functions, 'function')}
          .{' '}
          <Link to="/p/$program" params={{ program }}>
            See the program
          </Link>
        </p>
      ) : content ? (
        <Difference programId={programId} program={program} from={`r${number}~1`} to={`r${number}`} />
      ) : (
        <p className="panel-body muted">It gave a name and changed no content.</p>
      )}
    </>
  );
}

function Difference(props: { programId: string; program: string; from: string; to: string }) {
  const { programId, program, from, to } = props;
  const { data, problem, refresh } = useAsk(
    HistoryDiffDocument,
    { id: programId, from, to },
    // Revisions never change, and neither does how two of them differ.
    { requestPolicy: 'cache-first' },
  );
  const diff = data?.program?.diff;
  if (problem && !diff)
    return (
      <div className="panel-body">
        <ProblemPanel problem={problem} onRetry={refresh} />
      </div>
    );
  if (!diff) return <SkeletonRows rows={6} label="Comparing" />;
  return <DiffView diff={diff} program={program} />;
}
