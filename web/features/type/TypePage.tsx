import { useEffect, useMemo } from 'react';

import { setTitle } from '../../lib/title';
import { linesOfText } from '../../lib/text';
import { useLight } from '../../lib/useLight';
import { Message, Notice } from '../../ui';
import { useLive } from '../edits';
import { Invariants } from './Invariants';
import { Members } from './Members';
import { membersOf } from './model';
import { Origin } from './Origin';
import { TypeHeader } from './TypeHeader';
import { TypeLinks } from './TypeText';
import { Users } from './Users';
import { Uses } from './Uses';
import type { Loaded } from './useType';

/** A type: its definition and what it consists of, and beside that who uses it and where it comes from. */
export function TypePage(props: {
  programId: string;
  program: string;
  loaded: Loaded;
  /** Whether the type is not in the newest revision any more. */
  gone: boolean;
  rev: number | undefined;
  /** The field or variant that is selected, by ref. */
  member: string | null;
  onSelect(member: string | null): void;
}) {
  const { programId, program, loaded, gone, rev, member, onSelect } = props;
  const { facts, resolve, revision } = loaded;
  const { feed } = useLive();
  const { lit } = useLight(feed.light, rev === undefined);
  const members = useMemo(() => membersOf(facts), [facts]);
  const chosen = members.find(({ ref }) => ref === member);
  // What is gone is looked at as it was.
  const shown = gone ? (revision ?? undefined) : rev;
  const links = useMemo(() => ({ program, rev: shown, resolve }), [program, shown, resolve]);

  useEffect(() => {
    setTitle(facts.path);
  }, [facts.path]);
  useEffect(() => {
    if (member !== null) document.getElementById(`member-${member}`)?.scrollIntoView({ block: 'nearest' });
  }, [member]);

  return (
    <TypeLinks value={links}>
      <div className="function type">
        <TypeHeader program={program} facts={facts} rev={rev} member={chosen?.ref ?? null} gone={gone} />
        {gone && (
          <div className="function-notice">
            <Notice tone="warn" title="The newest revision does not have this type any more.">
              <p className="muted">
                What you see is how it was{revision === null ? ' last' : ` at r${revision}`}. The feed of edits says who
                removed it.
              </p>
            </Notice>
          </div>
        )}
        <div className="type-body">
          <div className="type-columns">
            <div className="type-main in-turn">
              {facts.doc && (
                <p className="type-doc">
                  <Message>{facts.doc}</Message>
                </p>
              )}
              <section
                className={lit.has(facts.ref) ? 'panel type-definition lit' : 'panel type-definition'}
                aria-label="Definition"
              >
                <div className="panel-head">
                  <h2>Definition</h2>
                </div>
                <pre>
                  {linesOfText(facts.text ?? '').map(({ words }, line) => (
                    // Lines and words have no names; the text is replaced as a whole.
                    <span key={line}>
                      {words.map(({ text, kind }, at) => (
                        <span key={at} className={`w-${kind}`}>
                          {text}
                        </span>
                      ))}
                      {'\n'}
                    </span>
                  ))}
                </pre>
              </section>
              <Members facts={facts} members={members} lit={lit} selected={chosen?.ref ?? null} onSelect={onSelect} />
              <Invariants program={program} contracts={facts.contracts} rev={shown} />
              <Uses
                programId={programId}
                program={program}
                rev={shown}
                at={revision}
                of={chosen ?? facts}
                name={facts.name}
                {...(chosen && { member: chosen.name })}
                onWhole={() => onSelect(null)}
              />
            </div>
            <aside className="type-aside in-turn" aria-label="What surrounds it">
              <Users program={program} loaded={loaded} rev={shown} />
              {facts.provenance && <Origin program={program} provenance={facts.provenance} />}
            </aside>
          </div>
        </div>
      </div>
    </TypeLinks>
  );
}
