import { Link } from '@tanstack/react-router';
import { Ban, CircleCheck, CircleX, Clock, Construction } from 'lucide-react';

import { demandOf } from '../../lib/text';
import { counted, Message } from '../../ui';
import { KeepCase } from './KeepCase';
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
  const steps = `after ${counted(state.result?.steps ?? 0, 'step')}`;
  switch (outcome.__typename) {
    case 'Returned':
      return (
        <p className="outcome ok" data-outcome="Returned">
          <CircleCheck size={14} aria-hidden />
          <strong>Returned</strong>
          <code>{outcome.values.map((value) => short(value, 400)).join(', ') || 'nothing'}</code>
          <span className="muted">{steps}</span>
          <KeepCase sim={state.id} program={program} values={outcome.values} />
        </p>
      );
    case 'Trapped':
      return (
        <p className="outcome error" data-outcome="Trapped">
          <CircleX size={14} aria-hidden />
          <strong>Trapped</strong> <code>{outcome.code}</code> <Message>{outcome.trapped}</Message>
          <span className="muted">{steps}; step back to see how it came to that.</span>
        </p>
      );
    case 'ContractViolated':
      return (
        <p className="outcome error" data-outcome="ContractViolated">
          <CircleX size={14} aria-hidden />
          <strong>A contract did not hold:</strong> <Message>{outcome.violated}</Message>{' '}
          <code>{demandOf(outcome.contract.text ?? '').join('; ')}</code>
          <span className="muted">{steps}</span>
        </p>
      );
    case 'LimitReached':
      return (
        <p className="outcome warn" data-outcome="LimitReached">
          <Clock size={14} aria-hidden />
          <strong>Limit of {outcome.limit}:</strong> <Message>{outcome.reached}</Message>
          <span className="muted">{steps}; a run with more may go on.</span>
        </p>
      );
    case 'ReachedHole':
      return (
        <p className="outcome warn" data-outcome="ReachedHole">
          <Construction size={14} aria-hidden />
          <strong>It came to something that is not there yet:</strong> <Message>{outcome.missing}</Message>
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
          <strong>It has errors:</strong> <Message>{outcome.unverified}</Message>
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
