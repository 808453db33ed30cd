import { diffLines, hunks } from './diff';

const SIGNS = { same: ' ', added: '+', removed: '−' };
const WORDS = { same: '', added: 'added: ', removed: 'removed: ' };
/** Lines around what differs. */
const AROUND = 3;

/** How two texts differ: signs as well as colours. */
export function DiffView({ label, before, after }: { label: string; before: string; after: string }) {
  const shown = hunks(diffLines(before, after), AROUND);
  if (shown.length === 0) return <p className="muted">The text is the same.</p>;
  return (
    // Scrolled by keys.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className="diff" role="region" tabIndex={0} aria-label={label}>
      <div className="diff-lines">
        {shown.map((line, at) =>
          line === null ? (
            <div key={at} className="diff-gap" aria-hidden>
              ⋯
            </div>
          ) : (
            <div key={at} className={`diff-line ${line.kind}`}>
              <span className="diff-number" aria-hidden>
                {line.before ?? ''}
              </span>
              <span className="diff-number" aria-hidden>
                {line.after ?? ''}
              </span>
              <span className="diff-sign" aria-hidden>
                {SIGNS[line.kind]}
              </span>
              <span className="hidden">{WORDS[line.kind]}</span>
              {line.text}
            </div>
          ),
        )}
      </div>
    </div>
  );
}
