import { Link } from '@tanstack/react-router';
import { GitBranch, Undo2 } from 'lucide-react';
import { useRef } from 'react';

import { Actor, Ago, Badge, counted, Counts, Long, useSeen } from '../../ui';
import { useLive } from './live';
import { headline, touchedPlaces, type Item, type Touched } from './model';
import { Verdict } from './Verdict';

/** More functions than these are counted, not listed. */
const LISTED = 4;

/** One revision of the feed. */
export function FeedRow({ item }: { item: Item }) {
  const row = useRef<HTMLLIElement>(null);
  // A verdict costs the server a verification.
  const seen = useSeen(row);

  const places = touchedPlaces(item);
  const plain = item.kind === 'CHECKPOINT' || item.kind === 'BRANCH';
  return (
    <li ref={row} className={item.undone ? 'feed-row undone' : 'feed-row'} data-revision={item.number}>
      <span className="number mono numeric">r{item.number}</span>
      <div className="feed-main">
        <div className="feed-line">
          <Actor {...item.actor} />
          {item.kind !== 'EDIT' && <Badge>{item.kind.toLowerCase()}</Badge>}
          {item.branch !== 'main' && (
            <Badge tone="teal">
              <GitBranch size={12} aria-hidden />
              {item.branch}
            </Badge>
          )}
          {item.undone && (
            <Badge>
              <Undo2 size={12} aria-hidden />
              undone
            </Badge>
          )}
          {item.onBehalfOf && <span className="muted">for {item.onBehalfOf}</span>}
        </div>
        <p className={item.message ? 'feed-message' : 'feed-message muted'}>
          <Long>{headline(item)}</Long>
        </p>
        <Places places={places} rev={item.number} touched={item.touched} />
      </div>
      <div className="feed-facts">
        {!plain && <Counts {...item.changed} />}
        {!plain && <span className="feed-verdict">{seen && <Verdict revision={item.number} />}</span>}
      </div>
      <Ago at={item.createdAt} />
    </li>
  );
}

function Places(props: { places: readonly Touched[]; rev: number; touched: Item['touched'] }) {
  const { places, rev, touched } = props;
  const { name, feed } = useLive();
  if (places.length === 0) return null;
  const newest = feed.head === rev;
  const rest = places.length - LISTED;
  const total = touched?.totalCount ?? 0;
  // Of a large revision only the first places are known.
  const cut = total > (touched?.nodes.length ?? 0);
  return (
    <p className="feed-places">
      {places.slice(0, LISTED).map((place) =>
        place.function ? (
          <Link
            key={place.path}
            to="/p/$program/f/$function"
            params={{ program: name, function: place.function }}
            search={newest ? {} : { rev }}
            className="mono"
          >
            {place.path}
          </Link>
        ) : place.type ? (
          <Link
            key={place.path}
            to="/p/$program/t/$type"
            params={{ program: name, type: place.type }}
            search={newest ? {} : { rev }}
            className="mono"
          >
            {place.path}
          </Link>
        ) : (
          <span key={place.path} className="mono muted">
            {place.path}
          </span>
        ),
      )}
      {(cut || rest > 0) && <span className="muted">and {cut ? 'more' : counted(rest, 'other')}</span>}
      <span className="hidden">{counted(total, 'entity', 'entities')} touched</span>
    </p>
  );
}
