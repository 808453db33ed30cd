import { Flag, GitBranch, GitMerge, History, Trash2 } from 'lucide-react';

import { Actor, Ago, SkeletonRows } from '../../ui';
import { MAIN, type Branch, type Checkpoint } from './model';
import type { Doing } from './RevisionPanel';

/** The names of a program's history: where its branches stand, and what can be gone back to by name. */
export function NamesPanel(props: {
  loading: boolean;
  branches: readonly Branch[];
  checkpoints: readonly Checkpoint[];
  doing: Doing;
  onSelect(number: number): void;
}) {
  const { loading, branches, checkpoints, doing, onSelect } = props;
  const here = doing.branch;
  return (
    <div className="names in-turn">
      <p className="names-hint muted">
        Select a revision to see what it changed, or two by their boxes to see how they differ.
      </p>
      <section aria-labelledby="branches-title">
        <div className="panel-head">
          <h2 id="branches-title">Branches</h2>
          {!loading && <span className="end muted numeric">{branches.length}</span>}
        </div>
        {loading && <SkeletonRows rows={2} label="Loading the branches" />}
        <ul>
          {inOrder(branches).map(({ name, head, createdAt }) => (
            <li key={name} className="name-row">
              <GitBranch size={14} aria-hidden className="muted" />
              <span className="name-main">
                <strong>{name}</strong>
                {name !== MAIN && <Ago at={createdAt} />}
              </span>
              <RevisionButton number={head.number} onSelect={onSelect} />
              {name !== here && (
                <button
                  type="button"
                  className="button"
                  disabled={doing.lacks !== null}
                  title={doing.lacks ?? undefined}
                  onClick={() => doing.act({ type: 'merge', branch: here, from: name })}
                >
                  <GitMerge size={14} aria-hidden />
                  Merge into {here}…<span className="hidden"> {name}</span>
                </button>
              )}
              {name !== MAIN && (
                <DeleteButton
                  lacks={doing.lacks}
                  what={`the branch ${name}`}
                  onClick={() => doing.forget({ kind: 'branch', name, at: head.number })}
                />
              )}
            </li>
          ))}
        </ul>
      </section>
      <section aria-labelledby="checkpoints-title">
        <div className="panel-head">
          <h2 id="checkpoints-title">Checkpoints</h2>
          {!loading && <span className="end muted numeric">{checkpoints.length}</span>}
        </div>
        {!loading && checkpoints.length === 0 && (
          <p className="panel-body muted">None yet. A revision that is selected can be given a name.</p>
        )}
        <ul>
          {checkpoints.map(({ name, message, actor, createdAt, revision }) => (
            <li key={name} className="name-row">
              <Flag size={14} aria-hidden className="muted" />
              <span className="name-main">
                <strong>{name}</strong>
                {message && <span className="muted">{message}</span>}
                <span className="revision-line">
                  <Actor {...actor} />
                  <Ago at={createdAt} />
                </span>
              </span>
              {revision && (
                <>
                  <RevisionButton number={revision.number} onSelect={onSelect} />
                  <button
                    type="button"
                    className="button"
                    disabled={doing.lacks !== null}
                    title={doing.lacks ?? undefined}
                    onClick={() => doing.act({ type: 'restore', branch: here, to: revision.number, checkpoint: name })}
                  >
                    <History size={14} aria-hidden />
                    Restore…<span className="hidden"> {name}</span>
                  </button>
                </>
              )}
              <DeleteButton
                lacks={doing.lacks}
                what={`the checkpoint ${name}`}
                onClick={() => doing.forget({ kind: 'checkpoint', name, at: revision?.number ?? null })}
              />
            </li>
          ))}
        </ul>
      </section>
    </div>
  );
}

function DeleteButton({ lacks, what, onClick }: { lacks: string | null; what: string; onClick(): void }) {
  return (
    <button
      type="button"
      className="button plain icon"
      aria-label={`Delete ${what}…`}
      title={lacks ?? `Delete ${what}…`}
      disabled={lacks !== null}
      onClick={onClick}
    >
      <Trash2 size={14} aria-hidden />
    </button>
  );
}

/** `main` first, then what moved last. */
function inOrder(branches: readonly Branch[]): Branch[] {
  return [...branches].sort(
    (a, b) => Number(b.name === MAIN) - Number(a.name === MAIN) || b.head.number - a.head.number,
  );
}

function RevisionButton({ number, onSelect }: { number: number; onSelect(number: number): void }) {
  return (
    <button type="button" className="button plain mono numeric" onClick={() => onSelect(number)}>
      r{number}
    </button>
  );
}
