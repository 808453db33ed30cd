import type { Altered } from './model';

/** What differs, each from what to what. */
export function AlteredList({ altered }: { altered: readonly Altered[] }) {
  if (altered.length === 0) return null;
  return (
    <dl className="altered">
      {altered.map(({ what, was, is }) => (
        <div key={what}>
          <dt>{what}</dt>
          <dd className="mono">
            <del>
              <span className="hidden">was </span>
              {was ?? <i>nothing</i>}
            </del>{' '}
            <span aria-hidden>→</span>{' '}
            <ins>
              <span className="hidden">is </span>
              {is ?? <i>nothing</i>}
            </ins>
          </dd>
        </div>
      ))}
    </dl>
  );
}
