import { Link } from '@tanstack/react-router';

import { Actor, Ago } from '../../ui';
import type { Facts } from './model';

/** Who made it, and who changed it last, when and why. */
export function Origin({ program, provenance }: { program: string; provenance: NonNullable<Facts['provenance']> }) {
  const { actor, reason, runId, createdIn, modifiedIn } = provenance;
  const revision = (number: number) => (
    <Link to="/p/$program/history" params={{ program }} search={{ sel: `r${number}` }} className="numeric">
      r{number}
    </Link>
  );
  const changed = createdIn.number !== modifiedIn.number;
  return (
    <section className="panel" aria-labelledby="origin-title">
      <div className="panel-head">
        <h2 id="origin-title">Origin</h2>
      </div>
      <div className="panel-body type-origin">
        <p className="type-origin-line">
          <span>{changed ? 'changed last by' : 'made by'}</span>
          <Actor {...actor} />
          <span>
            in {revision(modifiedIn.number)}, <Ago at={modifiedIn.createdAt} />
          </span>
        </p>
        {changed && <p className="muted">made in {revision(createdIn.number)}</p>}
        {reason ? <p>“{reason}”</p> : <p className="muted">Its author left no reason.</p>}
        {runId !== null && (
          <p>
            <Link to="/runs/$run" params={{ run: runId }}>
              The run that did it
            </Link>
          </p>
        )}
      </div>
    </section>
  );
}
