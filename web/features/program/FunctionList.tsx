import { Link } from '@tanstack/react-router';
import { CircleCheck, FunctionSquare, Import, TriangleAlert } from 'lucide-react';

import { OverviewFunctionsDocument, OverviewModulesDocument, OverviewOneModuleDocument } from '../../generated/graphql';
import { useAsk } from '../../lib/ask';
import { flawedWords } from '../../lib/flaws';
import { usePages } from '../../lib/pages';
import { Badge, counted, Empty, ProblemPanel, SkeletonRows } from '../../ui';
import { useLive } from '../edits';
import { NoFunctions } from './NoFunctions';
import { findings, grouped, shownOf, type Group, type Listed, type Module } from './model';

/** The functions of a program under their modules: a page, and more when asked for. */
export function FunctionList({ at, search, incomplete }: { at: string | null; search: string; incomplete: boolean }) {
  const { programId, name } = useLive();
  const { items, total, problem, more, refresh } = usePages({
    document: OverviewFunctionsDocument,
    variables: { id: programId, at, search: search || null, complete: incomplete ? false : null },
    pageOf: ({ program }) => program?.functions,
    keyOf: ({ ref }: Listed) => ref,
  });
  const modules = usePages({
    document: OverviewModulesDocument,
    variables: { id: programId, at },
    pageOf: ({ program }) => program?.modules,
    keyOf: ({ ref }: Module) => ref,
  });

  if (problem && !items)
    return (
      <div className="panel-body">
        <ProblemPanel problem={problem} onRetry={refresh} />
      </div>
    );
  if (!items) return <SkeletonRows rows={8} label="Loading functions" />;
  const filtered = search !== '' || incomplete;
  if (items.length === 0) return filtered ? <NoneLikeThis /> : <NoFunctions program={name} />;
  const whole = !filtered && total <= items.length;
  return (
    <>
      {grouped(items, modules.items ?? [], whole).map((group) => (
        <ModuleSection
          key={group.module.ref}
          program={name}
          group={group}
          at={at}
          later={modules.items !== undefined && group.facts === undefined}
        />
      ))}
      {problem && (
        <div className="panel-body">
          <ProblemPanel problem={problem} onRetry={more ?? refresh} />
        </div>
      )}
      {more && (
        <div className="more">
          <button type="button" className="button" onClick={more}>
            Show more: {items.length.toLocaleString('en')} of {counted(total, 'function')}
          </button>
        </div>
      )}
      {whole && modules.more && (
        <div className="more">
          <button type="button" className="button" onClick={modules.more}>
            Show more: {modules.items?.length.toLocaleString('en')} of {counted(modules.total, 'module')}
          </button>
        </div>
      )}
    </>
  );
}

function ModuleSection(props: { program: string; group: Group; at: string | null; later: boolean }) {
  const { program, group, at, later } = props;
  const { module, functions } = group;
  const { programId } = useLive();
  const variables = { id: programId, at, module: module.ref };
  const { data } = useAsk(OverviewOneModuleDocument, variables, { pause: !later });
  const alone = data?.program?.entity;
  const facts = group.facts ?? (alone?.__typename === 'Module' ? alone : undefined);
  const { shown, of } = shownOf(functions.length, facts);
  const flaws = facts ? flawedWords(facts.findings) : null;
  return (
    <section aria-label={`Module ${module.path}`}>
      <div className="module-head">
        <h3 className="mono" title={module.path}>
          {module.path}
        </h3>
        <span className="muted numeric">
          {shown < of && `${shown.toLocaleString('en')} of `}
          {counted(of, 'function')}
        </span>
        {flaws !== null && <Badge tone={facts?.findings.incomplete ? 'warn' : 'plain'}>{flaws}</Badge>}
        {facts?.doc && (
          <span className="muted line" title={facts.doc}>
            {facts.doc}
          </span>
        )}
      </div>
      <ul className="functions">
        {functions.map((listed) => (
          <li key={listed.ref}>
            <Row program={program} listed={listed} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Row({ program, listed }: { program: string; listed: Listed }) {
  const { ref, name, signature, nodes, complete, exports, start } = listed;
  const imported = listed.import !== null;
  const flaws = findings(listed);
  const Icon = imported ? Import : FunctionSquare;
  return (
    <Link to="/p/$program/f/$function" params={{ program, function: ref }} className="function-row">
      <Icon size={14} aria-hidden className="muted" />
      <span className="mono name">
        <strong>{name}</strong>
        <span className="muted">{signature}</span>
      </span>
      <span className="tags">
        {start && <Badge tone="teal">start</Badge>}
        {exports.length > 0 && <Badge>exported</Badge>}
        {imported && <Badge>imported</Badge>}
      </span>
      <span className="muted numeric size">{imported ? '' : counted(nodes?.totalCount ?? 0, 'node')}</span>
      <span className="state">
        {flaws > 0 ? (
          <Badge tone={complete ? 'plain' : 'warn'}>
            <TriangleAlert size={12} aria-hidden />
            {flaws}
            <span className="hidden">{flaws === 1 ? 'diagnostic' : 'diagnostics'}</span>
          </Badge>
        ) : (
          <>
            <CircleCheck size={14} aria-hidden className="fine" />
            <span className="hidden">complete</span>
          </>
        )}
      </span>
    </Link>
  );
}

function NoneLikeThis() {
  return (
    <Empty icon={FunctionSquare} title="No function is like this">
      <p>Look for another part of a path, or for complete ones too.</p>
    </Empty>
  );
}
