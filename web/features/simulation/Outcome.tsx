import { Link } from '@tanstack/react-router';
import { Ban, CircleCheck, CircleX, Clock, Construction } from 'lucide-react';

import { short, type State } from './model';

/** How the run ended, with what stopped it. */
export function Outcome({ state, program }: { state: State; program: string }) {
  const outcome = state.result?.outcome;
  const rev = state.program.revision?.number;
  if (state.status === 'CANCELLED')
    return (
      <p className="outcome plain" data-outcome="Cancelled">
        <Ban size={14} aria-hidden />
        <strong>It was cancelled.</strong> It cannot be moved any more; begin another run.
      </p>
    );
  if (state.status === 'EXPIRED')
    return (
      <p className="outcome plain" data-outcome="Expired">
        <Clock size={14} aria-hidden />
        <strong>It is not kept any more.</strong> Begin another run with the same inputs.
      </p>
    );
  if (!outcome) return null;
  const steps = `after ${state.result?.steps.toLocaleString('en')} steps`;
  switch (outcome.__typename) {
    case 'Returned':
      return (
        <p className="outcome ok" data-outcome="Returned">
          <CircleCheck size={14} aria-hidden />
          <strong>Returned</strong>
          <code>{outcome.values.map((value) => short(value, 400)).join(', ') || 'nothing'}</code>
          <span className="muted">{steps}</span>
        </p>
      );
    case 'Trapped':
      return (
        <p className="outcome error" data-outcome="Trapped">
          <CircleX size={14} aria-hidden />
          <strong>Trapped</strong> <code>{outcome.code}</code> {outcome.trapped}
          <span className="muted">{steps}; step back to see how it came to that.</span>
        </p>
      );
    case 'ContractViolated':
      return (
        <p className="outcome error" data-outcome="ContractViolated">
          <CircleX size={14} aria-hidden />
          <strong>A contract did not hold:</strong> {outcome.violated} <code>{outcome.contract.text?.trim()}</code>
          <span className="muted">{steps}</span>
        </p>
      );
    case 'LimitReached':
      return (
        <p className="outcome warn" data-outcome="LimitReached">
          <Clock size={14} aria-hidden />
          <strong>Limit of {outcome.limit}:</strong> {outcome.reached}
          <span className="muted">{steps}; a run with more may go on.</span>
        </p>
      );
    case 'ReachedHole':
      return (
        <p className="outcome warn" data-outcome="ReachedHole">
          <Construction size={14} aria-hidden />
          <strong>It came to something that is not there yet:</strong> {outcome.missing}
          <Link
            to="/p/$program/f/$function"
            params={{ program, function: outcome.at.function }}
            search={{ ...(rev !== undefined && { rev }), ...(outcome.node && { node: outcome.node.ref }) }}
          >
            Go to the hole
          </Link>
        </p>
      );
    case 'NotVerified':
      return (
        <p className="outcome error" data-outcome="NotVerified">
          <CircleX size={14} aria-hidden />
          <strong>It has errors:</strong> {outcome.unverified}
          <Link
            to="/p/$program/f/$function"
            params={{ program, function: outcome.function.ref }}
            search={rev === undefined ? {} : { rev }}
          >
            {outcome.function.path}
          </Link>
        </p>
      );
    case 'Cancelled':
      return null;
  }
}
