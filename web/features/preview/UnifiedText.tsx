import { useMemo, useState, type CSSProperties } from 'react';

import { counted } from '../../ui';
import { changedWithin, type Piece } from './inline';
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
          <Lines lines={lines} />
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

function Lines({ lines }: { lines: readonly DiffLine[] }) {
  const within = useMemo(() => changedWithin(lines), [lines]);
  return (
    <div className="unified-lines">
      {lines.map((line, index) => (
        // Lines have no names; a diff is replaced as a whole.
        <Line key={index} line={line} pieces={within.get(index) ?? [{ text: line.text, changed: false }]} />
      ))}
    </div>
  );
}

function Line(props: { line: DiffLine; pieces: readonly Piece[] }) {
  const { line, pieces } = props;
  const { kind, text, before, after } = line;
  const Changed = kind === 'removed' ? 'del' : 'ins';
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
      {/* What is wrapped stands below where the line begins. */}
      <code style={{ '--indent': `${text.search(/\S|$/) + 2}ch` } as CSSProperties}>
        {pieces.map(({ text, changed }, index) =>
          changed ? (
            <Changed key={index}>
              <Referring text={text} />
            </Changed>
          ) : (
            <Referring key={index} text={text} />
          ),
        )}
      </code>
    </div>
  );
}

/** Text in which refs recede. */
function Referring({ text }: { text: string }) {
  return text.split(/(#[a-z]\d+\b)/).map((part, index) =>
    // The odd parts are what the text was cut at.
    index % 2 === 1 ? (
      <span key={index} className="ref">
        {part}
      </span>
    ) : (
      part
    ),
  );
}
