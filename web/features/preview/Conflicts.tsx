import { Split } from 'lucide-react';

import { Badge } from '../../ui';
import { conflictsByRef, type Choices, type Conflict } from './model';

/** What collides, by entity, with what stands there on each side; with `onChoose` one side can be taken. */
export function Conflicts(props: {
  conflicts: readonly Conflict[];
  choices?: Choices;
  onChoose?: (ref: string, side: 'OURS' | 'THEIRS') => void;
}) {
  const { conflicts, choices, onChoose } = props;
  return (
    <ul className="conflicts" aria-label="Conflicts">
      {conflictsByRef(conflicts).map(([ref, all]) => (
        <li key={ref} className="conflict">
          <div className="conflict-head">
            <Split size={14} aria-hidden />
            <strong className="mono">{ref}</strong>
            {onChoose && (
              <fieldset className="choice">
                <legend className="hidden">Whose {ref} is taken</legend>
                {(['OURS', 'THEIRS'] as const).map((side) => (
                  <label key={side}>
                    <input
                      type="radio"
                      name={`side-${ref}`}
                      checked={choices?.get(ref) === side}
                      onChange={() => onChoose(ref, side)}
                    />
                    {side === 'OURS' ? 'keep ours' : 'take theirs'}
                  </label>
                ))}
              </fieldset>
            )}
          </div>
          {all.map(({ kind, message, base, ours, theirs }, index) => (
            // Conflicts have no names; the list is replaced as a whole.
            <div key={index} className="conflict-body">
              <p>
                <Badge tone="error">{kind}</Badge> {message}
              </p>
              {(base !== null || ours !== null || theirs !== null) && (
                <dl className="sides">
                  <SideText name="base" text={base} />
                  <SideText name="ours" text={ours} />
                  <SideText name="theirs" text={theirs} />
                </dl>
              )}
            </div>
          ))}
        </li>
      ))}
    </ul>
  );
}

function SideText({ name, text }: { name: string; text: string | null }) {
  return (
    <div>
      <dt className="muted">{name}</dt>
      <dd>{text === null ? <span className="muted">not there</span> : <pre>{text.trimEnd()}</pre>}</dd>
    </div>
  );
}
