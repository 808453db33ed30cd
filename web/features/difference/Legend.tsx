import { counted } from '../../ui';
import { SignMark, type Sign } from '../function';
import type { Tally } from './model';

const SIGNS: readonly Sign[] = ['added', 'removed', 'changed'];

/** What shapes, colours and lines of the graph mean, and how much there is of each that there is. */
export function Legend({ tally: { nodes, edges, same } }: { tally: Tally }) {
  return (
    <ul className="legend" aria-label="Legend">
      {SIGNS.filter((sign) => nodes[sign] > 0).map((sign) => (
        <li key={sign}>
          <span className={`legend-box is-${sign}`} aria-hidden />
          <SignMark sign={sign} />
          <span className="muted">{counted(nodes[sign], 'node')}</span>
        </li>
      ))}
      {same > 0 && (
        <li>
          <span className="legend-box" aria-hidden />
          the same
          <span className="muted">{counted(same, 'node')}</span>
        </li>
      )}
      {(['added', 'removed'] as const)
        .filter((sign) => edges[sign] > 0)
        .map((sign) => (
          <li key={sign}>
            <svg className={`line is-${sign}`} width="34" height="12" viewBox="0 0 34 12" aria-hidden>
              <path d="M1,6L33,6" />
              <path
                className="line-sign"
                d="M13,6h8m-4,-4v8"
                {...(sign === 'removed' && { transform: 'rotate(45 17 6)' })}
              />
            </svg>
            <span className={`sign-word is-${sign}`}>{sign}</span>
            <span className="muted">{counted(edges[sign], 'edge')}</span>
          </li>
        ))}
    </ul>
  );
}
