import { useNavigate, useSearch } from '@tanstack/react-router';
import { History, Redo2, Undo2, UserX } from 'lucide-react';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { useClient } from 'urql';

import { HistoryNamesDocument } from '../../generated/graphql';
import { useAsk } from '../../lib/ask';
import { useCaller } from '../../lib/caller';
import { useOffer } from '../../lib/commands';
import { setTitle } from '../../lib/title';
import { counted, Empty, ProblemPanel, SkeletonRows } from '../../ui';
import { useLive } from '../edits';
import { PreviewDialog, type Change } from '../preview';
import { ask, textOf, wordsOf, type Action } from './actions';
import { Filters } from './Filters';
import { ForgetDialog, type Forgetting } from './ForgetDialog';
import { railsOf } from './lanes';
import {
  headline,
  headOf,
  labelsByNumber,
  MAIN,
  movedBy,
  newestBranches,
  selectionOf,
  selectionText,
  takenBackOn,
  toggled,
  type Item,
} from './model';
import { NameDialog, type Naming } from './NameDialog';
import { NamesPanel } from './NamesPanel';
import { RevisionPanel, type Doing, type Look } from './RevisionPanel';
import { searchOf, type HistorySearch } from './search';
import { TimelineRow } from './TimelineRow';
import { useTimeline } from './useTimeline';
import './history.css';

/** What is said of an action that was done, with the numbers that tell one from the next. */
interface Told {
  text: string;
  revision: number | null;
}

/** The revisions of a program on one line, how any two differ, and the way back. */
export function HistoryView() {
  const { programId, name: program, feed } = useLive();
  const client = useClient();
  const navigate = useNavigate();
  const search = useSearch({ from: '/p/$program/history' });
  const [action, setAction] = useState<Action | null>(null);
  const [naming, setNaming] = useState<Naming | null>(null);
  const [forgetting, setForgetting] = useState<Forgetting | null>(null);
  const [told, setTold] = useState<Told | null>(null);

  const newest = feed.items[0]?.number ?? null;
  const names = useAsk(HistoryNamesDocument, { id: programId });
  const branches = useMemo(() => names.data?.program?.branches?.nodes ?? [], [names.data]);
  const checkpoints = useMemo(() => names.data?.program?.checkpoints?.nodes ?? [], [names.data]);
  const shown = useMemo(() => (search.branch ? [search.branch] : newestBranches(branches)), [branches, search.branch]);
  const filter = {
    author: search.author ?? null,
    touching: search.touching ?? null,
    merged: !search.branch,
  };
  // Where they cannot be read, `main` is shown.
  const known = names.data !== undefined || names.problem !== undefined;
  const timeline = useTimeline(programId, shown, known, filter, feed.items);
  // The picture that is kept still is without them here, too.
  const waiting = useMemo(() => new Set(feed.waiting.map(({ number }) => number)), [feed.waiting]);
  const items = useMemo(() => timeline.items?.filter(({ number }) => !waiting.has(number)), [timeline.items, waiting]);
  const lacks = useCaller().lacks('EDIT');

  useEffect(() => {
    setTitle(`History · ${program}`);
  }, [program]);
  const refreshNames = names.refresh;
  useEffect(() => refreshNames(), [refreshNames, newest, feed.names.shown]);

  const go = useCallback(
    (next: HistorySearch) =>
      void navigate({
        to: '/p/$program/history',
        params: { program },
        search: next,
        replace: true,
        resetScroll: false,
      }),
    [navigate, program],
  );
  const selection = useMemo(() => selectionOf(search.sel), [search.sel]);
  const select = useCallback(
    (numbers: readonly number[]) => go(searchOf({ ...search, sel: selectionText(numbers), node: null })),
    [go, search],
  );
  const look = useMemo(
    (): Look => ({
      search,
      onLook: (parts) => go(searchOf({ ...search, ...parts })),
    }),
    [go, search],
  );
  const toggle = useCallback((number: number) => select(toggled(selection, number)), [select, selection]);

  // What is not there is not moved.
  const branch = branches.find(({ name }) => name === search.branch)?.name ?? MAIN;
  // What a paused picture does not show yet still makes a preview stale.
  const arrived = [...feed.waiting, ...feed.items];
  const head = headOf(branch, branches, arrived);
  const movedHead = action ? headOf(action.branch, branches, arrived) : null;
  const placeOf = (revisions: readonly Item[]) =>
    takenBackOn(revisions, {
      here: branch,
      line: search.branch === branch ? new Set(items?.map(({ number }) => number)) : null,
      branches,
    });
  const labels = useMemo(() => labelsByNumber(branches, checkpoints), [branches, checkpoints]);
  const authors = useMemo(() => [...new Set(items?.map(({ actor }) => actor.name))].sort(), [items]);
  const filtered = filter.author !== null || filter.touching !== null;
  const { rails, lanes } = useMemo(
    // Lines between revisions that were filtered would tell of neighbours that are none.
    () => (filtered ? { rails: [], lanes: 1 } : railsOf(items ?? [])),
    [items, filtered],
  );

  const moved =
    !filtered && (action?.type === 'undo' || action?.type === 'redo')
      ? movedBy(action.type, action.branch, items ?? [])
      : null;
  const change = useMemo(
    (): Change | null =>
      action && {
        ...wordsOf(action),
        subject: (
          <>
            {moved && (
              <>
                {action.type === 'undo' ? 'Takes back' : 'Brings back'} <b>r{moved.number}</b> by {moved.actor.name}: “
                {headline(moved)}”.{' '}
              </>
            )}
            On the branch {action.branch}
            {movedHead !== null && `, which stands at r${movedHead}`}. One revision is appended; nothing is rewritten or
            lost.
          </>
        ),
        ask: (asking) => ask(client, programId, action, asking),
        ...(action.type === 'merge' && {
          pair: `${programId} ${action.from} ${action.branch}`,
          sides: { ours: action.branch, theirs: action.from },
          settle: (ref, conflicts, asking) => textOf(client, programId, action, ref, conflicts, asking),
        }),
      },
    // The head is only told: the dialog asks on the one that it has seen.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
    [action, client, programId],
  );
  const done = (text: string, revision: number | null) => {
    setTold({ text, revision });
    timeline.refresh();
    names.refresh();
  };

  const doing: Doing = {
    lacks,
    branch,
    head,
    checkpointOf: (number) => checkpoints.find(({ revision }) => revision?.number === number)?.name ?? null,
    takenBackOn: placeOf,
    known: items ?? [],
    act: setAction,
    name: setNaming,
    forget: setForgetting,
  };
  const offers = [
    {
      id: 'undo',
      label: `Undo the last change on ${branch}…`,
      icon: Undo2,
      run: () => setAction({ type: 'undo', branch }),
    },
    { id: 'redo', label: `Redo on ${branch}…`, icon: Redo2, run: () => setAction({ type: 'redo', branch }) },
  ];
  useOffer(lacks === null ? offers : []);
  const onBranch = branch === MAIN ? '' : ` on ${branch}`;
  return (
    <div className="history" data-selected={selection.length > 0} data-diff={search.diff}>
      <div className="history-head">
        <h1>History</h1>
        <Filters search={search} branches={branches} authors={authors} onChange={go} />
        <div className="history-acts">
          {search.author && (
            <button
              type="button"
              className="button long"
              disabled={lacks !== null}
              title={lacks ?? undefined}
              onClick={() => setAction({ type: 'revert', branch, of: { author: search.author ?? '' } })}
            >
              <UserX size={14} aria-hidden />
              <span className="clip">Take back all by {search.author}…</span>
            </button>
          )}
          <output className="muted told">{told?.text}</output>
          <button
            type="button"
            className="button"
            disabled={lacks !== null}
            title={lacks ?? undefined}
            onClick={() => setAction({ type: 'undo', branch })}
          >
            <Undo2 size={14} aria-hidden />
            Undo{onBranch}…
          </button>
          <button
            type="button"
            className="button"
            disabled={lacks !== null}
            title={lacks ?? undefined}
            onClick={() => setAction({ type: 'redo', branch })}
          >
            <Redo2 size={14} aria-hidden />
            Redo{onBranch}…
          </button>
        </div>
      </div>
      <div className="history-panes">
        <section className="history-line" aria-label="Timeline" data-busy={items === undefined && !timeline.problem}>
          <TimelineList
            items={items}
            problem={timeline.problem}
            filtered={filtered}
            onRetry={timeline.refresh}
            onClear={() => go(searchOf({ branch: search.branch }))}
          >
            {(item, at) => (
              <TimelineRow
                key={item.number}
                item={item}
                program={program}
                search={search}
                rail={rails[at] ?? { lane: 0, strands: [] }}
                lanes={lanes}
                labels={labels.get(item.number)}
                selected={selection.includes(item.number)}
                onToggle={toggle}
              />
            )}
          </TimelineList>
          {items && !search.branch && shown.length < branches.length && (
            <p className="panel-body muted">
              These are the {shown.length} branches that moved last, of {branches.length}. Each can be chosen above.
            </p>
          )}
          {items && timeline.more && (
            <div className="more">
              <button type="button" className="button" onClick={timeline.more}>
                Show older revisions
              </button>
            </div>
          )}
        </section>
        <section className="history-side" aria-label="What is selected">
          {selection.length === 0 ? (
            <NamesPanel
              loading={!names.data && !names.problem}
              branches={branches}
              checkpoints={checkpoints}
              doing={doing}
              onSelect={(number) => select([number])}
            />
          ) : (
            <RevisionPanel
              programId={programId}
              program={program}
              selection={selection}
              look={look}
              doing={doing}
              onClear={() => select([])}
            />
          )}
        </section>
      </div>
      {change && action && (
        <PreviewDialog
          change={change}
          program={program}
          head={movedHead}
          onDone={(revision) => done(revision === null ? 'Done.' : `Done: r${revision}.`, revision)}
          onClose={() => setAction(null)}
        />
      )}
      {naming && (
        <NameDialog
          naming={naming}
          programId={programId}
          what={whatOf(items, naming.at)}
          taken={[...branches, ...checkpoints].map(({ name }) => name)}
          onDone={(name) => done(`Made the ${naming.kind} ${name}.`, null)}
          onClose={() => setNaming(null)}
        />
      )}
      {forgetting && (
        <ForgetDialog
          forgetting={forgetting}
          programId={programId}
          onDone={(text) => {
            done(text, null);
            // A branch that is gone has nothing to show.
            if (forgetting.kind === 'branch' && forgetting.name === search.branch)
              go(searchOf({ ...search, branch: null }));
          }}
          onClose={() => {
            setForgetting(null);
            // What could not be deleted may be gone already.
            names.refresh();
          }}
        />
      )}
    </div>
  );
}

function whatOf(items: readonly Item[] | undefined, number: number): string {
  const item = items?.find((each) => each.number === number);
  return item ? headline(item) : `r${number}`;
}

function TimelineList(props: {
  items: readonly Item[] | undefined;
  problem: { code: string; message: string; action: string } | undefined;
  filtered: boolean;
  onRetry(): void;
  onClear(): void;
  children: (item: Item, at: number) => React.ReactNode;
}) {
  const { items, problem, filtered, onRetry, onClear, children } = props;
  const failed = problem && (
    <div className="panel-body">
      <ProblemPanel problem={problem} onRetry={onRetry} />
    </div>
  );
  if (!items && failed) return failed;
  if (!items) return <SkeletonRows rows={10} height={56} label="Loading the history" />;
  if (items.length === 0)
    return (
      <Empty icon={History} title={filtered ? 'No revision is like this' : 'Nothing has happened yet'}>
        {filtered ? (
          <>
            <p>Look for another author or entity, or on another branch.</p>
            <button type="button" className="button" onClick={onClear}>
              Show all revisions
            </button>
          </>
        ) : (
          <p>Every edit of agents and people becomes a revision, which can be gone back to.</p>
        )}
      </Empty>
    );
  return (
    <>
      {failed}
      <ol className="revisions" aria-label={`${counted(items.length, 'revision')}, the newest first`}>
        {items.map(children)}
      </ol>
    </>
  );
}
