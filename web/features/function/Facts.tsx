import { Link } from '@tanstack/react-router';
import { CircleAlert, CircleCheck, ShieldCheck, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';

import { Actor, Badge, counted, Message } from '../../ui';
import type { Head } from './model';

/** What a function says of itself, and what surrounds it. */
export function Facts(props: { program: string; head: Head; rev: number | undefined; onSelect(ref: string): void }) {
  const { program, head, rev, onSelect } = props;
  const findings = head.diagnostics?.nodes ?? [];
  return (
    <div className="facts">
      {head.doc && <p className="facts-doc">{head.doc}</p>}
      <Section title="Diagnostics" count={head.diagnostics?.totalCount ?? 0}>
        {findings.length === 0 ? (
          <p className="fact">
            <CircleCheck size={14} aria-hidden className="fine" />
            The verifier finds nothing.
          </p>
        ) : (
          <ul>
            {findings.map(({ code, message, severity, details }, index) => {
              const node = details?.node;
              const Icon = severity === 'ERROR' ? CircleAlert : TriangleAlert;
              const what = (
                <>
                  <Icon size={14} aria-hidden className={severity === 'ERROR' ? 'error' : 'warn'} />
                  <span>
                    <Message>{message}</Message> <code className="muted">{code}</code>
                  </span>
                </>
              );
              return (
                // Findings have no names; the list is replaced as a whole.
                <li key={index}>
                  {node ? (
                    <button type="button" className="fact" onClick={() => onSelect(node)}>
                      {what}
                    </button>
                  ) : (
                    <p className="fact">{what}</p>
                  )}
                </li>
              );
            })}
          </ul>
        )}
      </Section>
      {head.contracts.length > 0 && (
        <Section title="Contracts" count={head.contracts.length}>
          <ul>
            {head.contracts.map(({ ref, kind, message }) => (
              <li key={ref} className="fact">
                <ShieldCheck size={14} aria-hidden className="muted" />
                <span>
                  <b>{kind.toLowerCase()}</b> {message}
                </span>
              </li>
            ))}
          </ul>
        </Section>
      )}
      <Functions title="Callers" program={program} rev={rev} list={head.callers} none="Nothing calls it." />
      <Functions title="Callees" program={program} rev={rev} list={head.callees} none="It calls nothing." />
      {head.provenance && (
        <Section title="Origin">
          <p className="fact wrap">
            <span>changed last by</span>
            <Actor {...head.provenance.actor} />
            <span className="muted">
              in r{head.provenance.modifiedIn.number}, made in r{head.provenance.createdIn.number}
            </span>
          </p>
          {head.provenance.reason && <p className="fact muted">{head.provenance.reason}</p>}
        </Section>
      )}
      {head.exports.length > 0 && (
        <Section title="Exported as">
          <p className="fact wrap">
            {head.exports.map((name) => (
              <Badge key={name}>{name}</Badge>
            ))}
          </p>
        </Section>
      )}
    </div>
  );
}

function Section({ title, count, children }: { title: string; count?: number; children: ReactNode }) {
  return (
    <section className="facts-section" aria-label={title}>
      <h2>
        {title} {count !== undefined && <span className="muted numeric">{count}</span>}
      </h2>
      {children}
    </section>
  );
}

function Functions(props: {
  title: string;
  program: string;
  rev: number | undefined;
  list: Head['callers'];
  none: string;
}) {
  const { title, program, rev, list, none } = props;
  const nodes = list?.nodes ?? [];
  const more = (list?.totalCount ?? 0) - nodes.length;
  return (
    <Section title={title} count={list?.totalCount ?? 0}>
      {nodes.length === 0 ? (
        <p className="fact muted">{none}</p>
      ) : (
        <ul>
          {nodes.map(({ ref, path, signature }) => (
            <li key={ref}>
              <Link
                to="/p/$program/f/$function"
                params={{ program, function: ref }}
                search={rev === undefined ? {} : { rev }}
                className="fact mono"
                title={`${path} ${signature}`}
              >
                {path}
              </Link>
            </li>
          ))}
        </ul>
      )}
      {more > 0 && <p className="fact muted">and {counted(more, 'other')}</p>}
    </Section>
  );
}
