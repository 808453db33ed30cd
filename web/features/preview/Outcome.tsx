import { Check, CircleAlert, CircleCheck, CircleMinus, TriangleAlert } from 'lucide-react';

import { Actor, counted, Message, Notice, ProblemPanel } from '../../ui';
import { Conflicts, type Settling, type Sides } from './Conflicts';
import { DiffView } from './DiffView';
import type { Conflict, Finding, Named, Preview } from './model';

/** What a change would come to: what differs, what the verifier finds, what goes with it; or why nothing comes of it. */
export function Outcome(props: {
  preview: Preview;
  program: string;
  /** All conflicts that are known, those that answers have settled included. */
  conflicts: readonly Conflict[];
  /** The revisions of which the sides of conflicts are, where they can be read. */
  sides: Omit<Sides, 'base'> | undefined;
  settling: Settling | undefined;
  onRetry: () => void;
}) {
  const { preview, program, conflicts, sides, settling, onRetry } = props;
  switch (preview.state) {
    case 'failed':
      return <ProblemPanel problem={preview.problem} onRetry={onRetry} />;
    case 'nothing':
      return (
        <p className="fine-line">
          <CircleMinus size={14} aria-hidden className="muted" />
          <span>
            There is nothing to do: <Message>{preview.reason}</Message>
          </span>
        </p>
      );
    case 'rejected':
      return (
        <Notice tone="error" title="The server refuses this change.">
          {preview.errors.map(({ code, message }, index) => (
            // Errors have no names; the list is replaced as a whole.
            <p key={index}>
              <Message>{message}</Message> <code className="muted">{code}</code>
            </p>
          ))}
        </Notice>
      );
    case 'conflict':
      return (
        <>
          <Notice tone="warn" title="This cannot be done as it is: something collides.">
            {settling && <p className="muted">Settle each: take a side, or write it otherwise. Then preview again.</p>}
          </Notice>
          <Conflicts
            conflicts={settling ? conflicts : preview.conflicts}
            program={program}
            sides={sides && { ...sides, base: preview.base === null ? null : `r${preview.base}` }}
            settling={settling}
          />
        </>
      );
    case 'made':
      return <Made preview={preview} program={program} />;
  }
}

function Made({ preview, program }: { preview: Extract<Preview, { state: 'made' }>; program: string }) {
  const { difference, newFindings, resolved, remaining, plan, rebasedOver, note } = preview;
  return (
    <>
      {note && <p className="muted">{note}</p>}
      {plan && (
        <div className="plan">
          <Revisions title="Goes" tone="removed" list={plan.removed} none="Nothing." />
          <Revisions
            title="Must go with it"
            tone="removed"
            list={plan.alsoRemoved}
            none="Nothing: no later work rests on it."
          />
          <Revisions title="Stays" tone="kept" list={plan.kept} none="Nothing came after it." />
        </div>
      )}
      {rebasedOver.length > 0 && <Revisions title="Carried over" tone="kept" list={rebasedOver} none="" />}
      {difference && <DiffView {...difference} program={program} />}
      <section className="foreseen" aria-label="What the verifier finds then">
        <h3>
          The verifier then
          {remaining !== null && <span className="muted"> finds {counted(remaining, 'thing')} in all</span>}
        </h3>
        {newFindings.length === 0 ? (
          <p className="fine-line">
            <CircleCheck size={14} aria-hidden className="fine" />
            Nothing new.
          </p>
        ) : (
          <FindingLines findings={newFindings} word="new" />
        )}
        {resolved && resolved.length > 0 && <FindingLines findings={resolved} word="gone" />}
      </section>
    </>
  );
}

/** More than these are counted. */
const LISTED = 30;

function Revisions(props: { title: string; tone: 'removed' | 'kept'; list: readonly Named[]; none: string }) {
  const { title, tone, list, none } = props;
  return (
    <section aria-label={title} className={`plan-part ${tone}`}>
      <h3>
        {title} <span className="muted numeric">{list.length}</span>
      </h3>
      {list.length === 0 ? (
        <p className="muted">{none}</p>
      ) : (
        <ul>
          {list.slice(0, LISTED).map(({ number, message, actor }) => (
            <li key={number}>
              <span className="mono numeric">r{number}</span>
              <span className="plan-message">{message ?? <span className="muted">no message</span>}</span>
              <Actor {...actor} />
            </li>
          ))}
          {list.length > LISTED && <li className="muted">and {counted(list.length - LISTED, 'other')}</li>}
        </ul>
      )}
    </section>
  );
}

function FindingLines({ findings, word }: { findings: readonly Finding[]; word: 'new' | 'gone' }) {
  return (
    <ul>
      {findings.slice(0, LISTED).map(({ code, message, severity }, index) => {
        const Icon = word === 'gone' ? Check : severity === 'ERROR' ? CircleAlert : TriangleAlert;
        const tone = word === 'gone' ? 'fine' : severity === 'ERROR' ? 'error' : 'warn';
        return (
          // Findings have no names; the list is replaced as a whole.
          <li key={index} className="fine-line">
            <Icon size={14} aria-hidden className={tone} />
            <span>
              <b>{word}</b> <Message>{message}</Message> <code className="muted">{code}</code>
            </span>
          </li>
        );
      })}
      {findings.length > LISTED && <li className="muted">and {counted(findings.length - LISTED, 'other')}</li>}
    </ul>
  );
}
