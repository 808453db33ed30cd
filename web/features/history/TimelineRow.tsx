import { Link } from '@tanstack/react-router';
import { Flag, GitBranch, Undo2 } from 'lucide-react';
import { memo, type KeyboardEvent } from 'react';

import { Actor, Ago, Badge, Counts } from '../../ui';
import type { Rail } from './lanes';
import { headline, movesContent, selectionText, type Item, type Label } from './model';
import { RailPicture } from './Rails';
import { searchOf, type HistorySearch } from './search';

/** One revision of the timeline: its place, what it did, by whom, and what points at it. */
export const TimelineRow = memo(function TimelineRow(props: {
  item: Item;
  program: string;
  search: HistorySearch;
  rail: Rail;
  lanes: number;
  labels: readonly Label[] | undefined;
  selected: boolean;
  onToggle(number: number): void;
}) {
  const { item, program, search, rail, lanes, labels, selected, onToggle } = props;
  const { number, actor, kind, undone, branch, changed, createdAt, onBehalfOf } = item;
  const classes = ['revision', undone && 'undone', selected && 'selected'];
  return (
    <li className={classes.filter(Boolean).join(' ')} data-revision={number}>
      <label className="revision-check" title="Compare it with another one">
        <input type="checkbox" checked={selected} onChange={() => onToggle(number)} />
        <span className="hidden">Select r{number}</span>
      </label>
      <RailPicture rail={rail} lanes={lanes} item={item} />
      <span className="number mono numeric">r{number}</span>
      <div className="revision-main">
        <p className="revision-line">
          <Link
            to="/p/$program/history"
            params={{ program }}
            search={searchOf({ ...search, sel: selectionText([number]), node: null })}
            className="revision-link"
            aria-current={selected ? 'true' : undefined}
            replace
            resetScroll={false}
            onKeyDown={walk}
          >
            <span className="hidden">r{number} </span>
            <span className="headline">{headline(item)}</span>
          </Link>
          {labels?.map((label) => (
            <Badge
              key={label.name}
              tone={label.kind === 'branch' ? 'teal' : 'info'}
              title={`${label.kind} ${label.name}`}
            >
              {label.kind === 'branch' ? <GitBranch size={12} aria-hidden /> : <Flag size={12} aria-hidden />}
              <span className="hidden">{label.kind} </span>
              <span className="clip">{label.name}</span>
            </Badge>
          ))}
        </p>
        <p className="revision-line under">
          <Actor {...actor} />
          {onBehalfOf && <span className="muted">for {onBehalfOf}</span>}
          {kind !== 'EDIT' && <Badge>{kind.toLowerCase()}</Badge>}
          {undone && (
            <Badge>
              <Undo2 size={12} aria-hidden />
              undone
            </Badge>
          )}
          {branch !== 'main' && <span className="muted on-branch">on {branch}</span>}
        </p>
      </div>
      <span className="revision-facts">
        <Ago at={createdAt} />
        {movesContent(item) && <Counts {...changed} />}
      </span>
    </li>
  );
});

/** Up and down lead from one revision to the next. */
function walk(event: KeyboardEvent<HTMLAnchorElement>): void {
  const row = event.currentTarget.closest('.revision');
  const next =
    event.key === 'ArrowDown' ? row?.nextElementSibling : event.key === 'ArrowUp' ? row?.previousElementSibling : null;
  const link = next?.querySelector<HTMLElement>('.revision-link');
  if (!link) return;
  event.preventDefault();
  link.focus();
}
