import { CircleAlert, CircleCheck, TriangleAlert } from 'lucide-react';

import { Badge, counted, Message } from '../../ui';
import type { Findings } from './model';

/** What the gates of a flow have found. */
export function Gates({ findings: { violations, fresh, cases } }: { findings: Findings }) {
  return (
    <section className="question-part" aria-label="What the gates have found">
      <h3>What the gates have found</h3>
      {violations.length > 0 && (
        <ul className="gate-violations" aria-label="Against it">
          {violations.map(({ gate, rule, severity, message, location }, at) => (
            // They have no names; the list is replaced as a whole.
            <li key={at}>
              <Badge tone={severity === 'error' ? 'error' : 'warn'} title={rule}>
                <CircleAlert size={12} aria-hidden />
                {gate}
              </Badge>
              <span>
                <Message>{message}</Message>
                <Place location={location} message={message} />
              </span>
            </li>
          ))}
        </ul>
      )}
      <ul className="gate-facts">
        {cases && (
          <Fact fine={cases.green === cases.of}>
            {cases.of === 0
              ? 'There are no test cases'
              : `${cases.green} of ${counted(cases.of, 'test case')} ${cases.of === 1 ? 'holds' : 'hold'}`}
            {cases.more && ', of those that were run'}
          </Fact>
        )}
        {fresh && (
          <Fact fine={fresh.length === 0}>
            {fresh.length === 0 ? 'No new finding' : counted(fresh.length, 'new finding')}
          </Fact>
        )}
      </ul>
      {fresh && fresh.length > 0 && (
        <ul className="gate-fresh" aria-label="New findings">
          {fresh.map(({ code, message, location }, at) => (
            <li key={at}>
              <code>{code}</code> <Message>{message}</Message>
              <Place location={location} message={message} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** Where something was found, unless the message says so itself. */
function Place({ location, message }: { location: string | null; message: string }) {
  if (location === null || message.includes(`\`${location}\``)) return null;
  return <span className="muted mono gate-place"> {location}</span>;
}

function Fact({ fine, children }: { fine: boolean; children: React.ReactNode }) {
  const Icon = fine ? CircleCheck : TriangleAlert;
  return (
    <li>
      <Icon size={14} aria-hidden className={fine ? 'fine' : 'warn'} />
      {children}
    </li>
  );
}
