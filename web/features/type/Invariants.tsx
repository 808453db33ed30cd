import { Link } from '@tanstack/react-router';
import { ShieldCheck } from 'lucide-react';

import { demandOf } from '../../lib/text';
import { Message } from '../../ui';
import type { Facts } from './model';

/** What holds of each value of the type that enters or leaves a public function. */
export function Invariants(props: { program: string; contracts: Facts['contracts']; rev: number | undefined }) {
  const { program, contracts, rev } = props;
  return (
    <section className="panel" aria-labelledby="invariants-title">
      <div className="panel-head">
        <h2 id="invariants-title">Invariants</h2>
        <span className="end muted numeric">{contracts.length}</span>
      </div>
      {contracts.length === 0 ? (
        <p className="panel-body muted">None: whatever its parts allow is a value of it.</p>
      ) : (
        <ul className="type-list">
          {contracts.map(({ ref, message, text, region: { owner } }) => (
            <li key={ref} className="type-invariant">
              <ShieldCheck size={14} aria-hidden className="muted" />
              <div>
                <p>
                  <Message>{message}</Message>{' '}
                  <span className="muted">
                    <code>{ref}</code>, stated in{' '}
                    <Link
                      to="/p/$program/f/$function"
                      params={{ program, function: owner.ref }}
                      search={rev === undefined ? {} : { rev }}
                      className="mono"
                    >
                      {owner.path}
                    </Link>
                  </span>
                </p>
                {text && <pre>{demandOf(text).join('\n')}</pre>}
              </div>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
