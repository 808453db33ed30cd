import { Check, Split } from 'lucide-react';
import { Fragment, useId, useState } from 'react';

import { ConflictBodyDocument, ConflictPlaceDocument } from '../../generated/graphql';
import { useAsk } from '../../lib/ask';
import { programKey } from '../../lib/program';
import { plainText } from '../../lib/text';
import { Badge, Message } from '../../ui';
import { compared } from './inline';
import type { Conflict } from './model';
import {
  bodyOf,
  conflictsByRef,
  isAnswered,
  isWritable,
  kindWord,
  takersOf,
  type Answer,
  type Choices,
  type Side,
  type Taker,
  type Written,
} from './settling';

/** How conflicts are settled by a reader. */
export interface Settling {
  choices: Choices;
  onChange(choices: Choices): void;
  /** The text in which something collides, to be written otherwise; or why there is none. */
  textOf(ref: string): Promise<Written | string>;
}

/** The revisions that the sides of a conflict are read at, as `program(at:)` takes them. */
export interface Sides {
  base: string | null;
  ours: string;
  theirs: string;
}

/** What collides, by entity, with what stands there on each side; where it can be settled, by what. */
export function Conflicts(props: {
  conflicts: readonly Conflict[];
  program: string;
  sides: Sides | undefined;
  settling: Settling | undefined;
}) {
  const { conflicts, program, sides, settling } = props;
  return (
    <ul className="conflicts" aria-label="Conflicts">
      {conflictsByRef(conflicts).map(([ref, all]) => (
        <li key={ref} className="conflict">
          <div className="conflict-head">
            <Split size={14} aria-hidden />
            <strong className="mono">{ref}</strong>
            <Place program={program} entity={ref} />
            {settling && isAnswered(ref, all, settling.choices) && (
              <Badge tone="ok">
                <Check size={12} aria-hidden />
                answered
              </Badge>
            )}
          </div>
          {all.map((conflict, index) => (
            // Conflicts have no names; the list is replaced as a whole.
            <div key={index} className="conflict-body">
              <p>
                <Badge tone="error">{conflict.kind}</Badge> <Message>{conflict.message}</Message>
              </p>
              {(conflict.base !== null || conflict.ours !== null || conflict.theirs !== null) && (
                <SideTexts conflict={conflict} program={program} sides={sides} />
              )}
            </div>
          ))}
          {settling && <Settle entity={ref} conflicts={all} settling={settling} />}
        </li>
      ))}
    </ul>
  );
}

/** What something is, and where; only what, where the program has it no more, or not yet. */
function Place({ program, entity }: { program: string; entity: string }) {
  const letter = entity[0] ?? '';
  const word = kindWord(entity);
  const variables = { ...programKey(program), ref: entity, part: letter === 'd', storage: letter === 'v' };
  const { data } = useAsk(ConflictPlaceDocument, variables, { pause: word === '' || letter === 'm' });
  const found = data?.program;
  const held = found?.storage?.nodes.find(({ ref }) => ref === entity);
  const self = held ?? (letter === 't' ? found?.impact?.types.find(({ ref }) => ref === entity) : null);
  const around =
    letter === 'd'
      ? found?.types?.nodes.find(({ fields, variants }) => [...fields, ...variants].some(({ ref }) => ref === entity))
      : found?.impact?.functions?.nodes[0];
  const path = self?.path ?? (letter === 't' ? undefined : around?.path);
  return (
    <span className="muted">
      {held?.kind.toLowerCase() ?? word}
      {path && (
        <>
          {self || letter === 'f' ? ' ' : ' in '}
          <span className="mono">{path}</span>
        </>
      )}
    </span>
  );
}

/** What there is to choose of one entity: a side, other names, or a text of one's own. */
function Settle(props: { entity: string; conflicts: readonly Conflict[]; settling: Settling }) {
  const { entity, conflicts, settling } = props;
  const { choices, onChange, textOf } = settling;
  const id = useId();
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<string | null>(null);
  const answer = choices.answers.get(entity);
  const takers = takersOf(conflicts);
  const say = (next: Answer, more: Partial<Choices> = {}) =>
    onChange({ ...choices, ...more, answers: new Map(choices.answers).set(entity, next) });

  const write = async () => {
    setBusy(true);
    setFailed(null);
    const found = await textOf(entity);
    setBusy(false);
    if (typeof found === 'string') return setFailed(found);
    // What is written for another conflict of the same function goes on.
    const texts = choices.texts.has(found.ref) ? choices.texts : new Map(choices.texts).set(found.ref, found);
    say({ how: 'text', written: found.ref }, { texts });
  };
  const written = answer?.how === 'text' ? choices.texts.get(answer.written) : undefined;
  const option = (label: string, checked: boolean, choose: () => void) => (
    <label>
      <input type="radio" name={`${id}how`} checked={checked} disabled={busy} onChange={choose} />
      {label}
    </label>
  );
  return (
    <div className="settle" aria-busy={busy}>
      <fieldset className="choice">
        <legend className="hidden">How {entity} is settled</legend>
        {option('keep ours', !busy && answer?.how === 'side' && answer.take === 'OURS', () =>
          say({ how: 'side', take: 'OURS' }),
        )}
        {option('take theirs', !busy && answer?.how === 'side' && answer.take === 'THEIRS', () =>
          say({ how: 'side', take: 'THEIRS' }),
        )}
        {takers.length > 0
          ? option('other names', answer?.how === 'names', () => say({ how: 'names' }))
          : isWritable(entity) && option('write it', busy || answer?.how === 'text', () => void write())}
      </fieldset>
      {failed && (
        <p className="error-text" role="alert">
          {failed}
        </p>
      )}
      {answer?.how === 'names' && <Names takers={takers} choices={choices} onChange={onChange} />}
      {written && (
        <WrittenText
          written={written}
          shared={[...choices.answers].filter(([, each]) => each.how === 'text' && each.written === written.ref).length}
          onChange={(text) =>
            onChange({ ...choices, texts: new Map(choices.texts).set(written.ref, { ...written, text }) })
          }
        />
      )}
    </div>
  );
}

const WHOSE: Record<Side, string> = { OURS: 'ours', THEIRS: 'theirs' };

function Names(props: { takers: readonly Taker[]; choices: Choices; onChange(choices: Choices): void }) {
  const { takers, choices, onChange } = props;
  return (
    <div className="settle-names">
      {takers.map(({ side, ref, name }) => (
        <label key={ref}>
          <span className="muted">
            {WHOSE[side]}, <code>{ref}</code>, is called
          </span>
          <input
            className="field mono"
            value={choices.names.get(ref) ?? name}
            maxLength={200}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => onChange({ ...choices, names: new Map(choices.names).set(ref, event.target.value) })}
          />
        </label>
      ))}
    </div>
  );
}

function WrittenText(props: { written: Written; shared: number; onChange(text: string): void }) {
  const { written, shared, onChange } = props;
  const { kind, path, text, was, take } = written;
  return (
    <label className="settle-text">
      <span className="muted">
        The text of {kind === 'contract' && 'a contract of '}
        <code>{path}</code>, with {WHOSE[take]} where the sides collide.
        {shared > 1 && ` It settles ${shared} conflicts.`}
      </span>
      <textarea
        className="field mono"
        value={text}
        rows={Math.min(18, Math.max(6, text.split('\n').length))}
        spellCheck={false}
        autoComplete="off"
        autoCapitalize="off"
        wrap="off"
        onChange={(event) => onChange(event.target.value)}
      />
      {text === was && <span className="muted">Not changed yet: as it is, this takes {WHOSE[take]}.</span>}
    </label>
  );
}

/** What stands there on each side. */
function SideTexts({ conflict, program, sides }: { conflict: Conflict; program: string; sides: Sides | undefined }) {
  const base = useWhole(program, sides?.base, conflict.base);
  const ours = useWhole(program, sides?.ours, conflict.ours);
  const theirs = useWhole(program, sides?.theirs, conflict.theirs);
  const refs = [conflict.ours, conflict.theirs].map(bodyOf);
  // Two that want one name are told apart by what stands for them.
  const [our, their] = refs[0] === refs[1] ? [null, null] : refs;
  return (
    <dl className="sides">
      <SideText name="base" text={base} was={null} />
      <SideText name="ours" of={our} text={ours} was={base} />
      <SideText name="theirs" of={their} text={theirs} was={base} />
    </dl>
  );
}

/** What a side of a conflict has: a function with what is in it, where it is there to be read. */
function useWhole(program: string, at: string | null | undefined, told: string | null): string | null {
  const ref = bodyOf(told);
  const variables = { ...programKey(program), at: at ?? '', ref: ref ?? '' };
  // A branch may stand elsewhere than when it was read before.
  const { data } = useAsk(ConflictBodyDocument, variables, {
    pause: !at || ref === null,
    requestPolicy: 'cache-and-network',
  });
  const text = data?.program?.function?.text;
  return ref !== null && text ? plainText(text) : told;
}

/** What one side has; what it changed is marked. */
function SideText(props: { name: string; of?: string | null | undefined; text: string | null; was: string | null }) {
  const { name, of, text, was } = props;
  const pieces = text === null || was === null ? null : compared(was.trimEnd(), text.trimEnd())?.[1];
  return (
    <div>
      <dt className="muted">
        {name}
        {of && (
          <>
            , <code>{of}</code>
          </>
        )}
        {text !== null && text === was && ', as before'}
      </dt>
      <dd>
        {text === null ? (
          <span className="muted">not there</span>
        ) : (
          <pre>
            {pieces?.map(({ text, changed }, at) =>
              // Pieces have no names; the text is replaced as a whole.
              changed ? <ins key={at}>{text}</ins> : <Fragment key={at}>{text}</Fragment>,
            ) ?? text.trimEnd()}
          </pre>
        )}
      </dd>
    </div>
  );
}
