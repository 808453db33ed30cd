import { useState } from 'react';

import { counted } from '../../ui';
import { firstLines, type DiffFile, type DiffLine } from './unified';

const SIGNS = { added: '+', removed: '−', same: ' ', hunk: ' ' };
const WORDS = { added: 'added: ', removed: 'removed: ', same: '', hunk: '' };
/** More lines than these are shown only when asked for. */
const SHOWN = 600;

/** A unified diff: each line with its sign, so that colour is not alone. */
export function UnifiedText({ files }: { files: readonly DiffFile[] }) {
  const [all, setAll] = useState(false);
  const total = files.reduce((sum, { lines }) => sum + lines.length, 0);
  const shown = all ? files : firstLines(files, SHOWN);
  return (
    <div className="unified">
      {shown.map(({ path, lines, added, removed }, at) => (
        // One path can be told twice, of a type and a function.
        <section key={`${at} ${path}`} aria-label={path}>
          <h3 className="mono unified-path">
            {path}
            <span className="counts">
              {added > 0 && <span className="added">+{added}</span>}
              {removed > 0 && <span className="removed">−{removed}</span>}
            </span>
          </h3>
          {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls is reached by keyboard. */}
          <div className="unified-lines" tabIndex={0} role="group" aria-label={`Changed lines of ${path}`}>
            {lines.map((line, index) => (
              // Lines have no names; a diff is replaced as a whole.
              <Line key={index} line={line} />
            ))}
          </div>
        </section>
      ))}
      {total > SHOWN && !all && (
        <button type="button" className="button" onClick={() => setAll(true)}>
          Show all {counted(total, 'line')}
        </button>
      )}
    </div>
  );
}

function Line({ line: { kind, text, before, after } }: { line: DiffLine }) {
  return (
    <div className={`unified-line ${kind}`}>
      <span className="at numeric" aria-hidden>
        {before}
      </span>
      <span className="at numeric" aria-hidden>
        {after}
      </span>
      <span className="sign" aria-hidden>
        {SIGNS[kind]}
      </span>
      {WORDS[kind] && <span className="hidden">{WORDS[kind]}</span>}
      <code>
        {text.split(/(#[a-z]\d+\b)/).map((part, index) =>
          // The odd parts are what the text was cut at.
          index % 2 === 1 ? (
            <span key={index} className="ref">
              {part}
            </span>
          ) : (
            part
          ),
        )}
      </code>
    </div>
  );
}
