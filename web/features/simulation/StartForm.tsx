import { Link, useNavigate } from '@tanstack/react-router';
import { Import, Pencil, Play } from 'lucide-react';
import { useEffect, useRef, useState, type FormEvent } from 'react';
import { useClient } from 'urql';

import { RunTargetDocument, type RunTargetQuery, type SimulateInput } from '../../generated/graphql';
import { AbsentFunction } from '../../lib/AbsentFunction';
import { useAgain, useAsk } from '../../lib/ask';
import { useCaller } from '../../lib/caller';
import { freshKey } from '../../lib/key';
import { functionKey, revisionKey } from '../../lib/program';
import { renamedTo } from '../../lib/renamed';
import { useTitle } from '../../lib/title';
import { Badge, Empty, Message, Notice, ProblemPanel, SkeletonRows } from '../../ui';
import { useLive } from '../edits';
import { begin } from './begin';
import { argumentAt, argumentOf, blank, draftOf, named, slip, type Draft } from './inputs';
import { boundsOf, limitsOf, LimitFields, type Bounds } from './LimitFields';
import { keepEntered, lastEntered, recentRuns, type Recent } from './recent';
import type { Refusal } from './refusal';
import { shapeOf } from './types';
import { ValueField } from './ValueField';
import './form.css';

type ProgramData = NonNullable<RunTargetQuery['program']>;
type Target = NonNullable<ProgramData['function']>;

/** Asks what a function is to be run with. */
export function StartForm({ name, rev }: { name: string; rev: number | undefined }) {
  const { programId, name: program, feed } = useLive();
  const navigate = useNavigate();
  const at = revisionKey(rev).at ?? null;
  // What is gone meanwhile stays as it was, so that what is entered does.
  const [kept, keep] = useState<RunTargetQuery>();
  const found = kept?.program;
  const target = found?.function;
  // Found once, it is asked for by its ref after an edit: its name may have become another.
  const [first] = useState(feed.head);
  const asked = feed.head !== first && target ? target.ref : name;
  const { data, problem, refresh } = useAsk(
    RunTargetDocument,
    { id: programId, ...functionKey(asked), at, function: asked },
    { requestPolicy: 'cache-and-network' },
  );
  useAgain(refresh, String(feed.head));
  if (data?.program?.function && data !== kept) keep(data);

  const renamed = rev === undefined ? renamedTo(name, target?.path) : null;
  useEffect(() => {
    if (renamed === null) return;
    void navigate({ to: '/p/$program/f/$function/run', params: { program, function: renamed }, replace: true });
  }, [navigate, program, renamed]);

  useTitle(`Run ${target?.path ?? name}`);

  if (problem && !target)
    return <AbsentFunction name={name} program={program} rev={rev} problem={problem} onRetry={refresh} />;
  if (!found || !target)
    return (
      <div className="page run-form">
        <SkeletonRows rows={6} label="Loading what the function takes" />
      </div>
    );
  return (
    <Form
      key={`${target.ref} ${target.signature}`}
      program={program}
      found={found}
      target={target}
      gone={problem?.code === 'NOT_FOUND'}
      limits={kept.serverInfo?.limits}
      rev={rev}
    />
  );
}

/** Where the inputs come from. */
type Origin = { kind: 'form' } | { kind: 'case'; at: number } | { kind: 'run'; at: number };

function Form(props: {
  program: string;
  found: ProgramData;
  target: Target;
  /** Whether the newest revision has none of that name any more. */
  gone: boolean;
  limits: unknown;
  rev: number | undefined;
}) {
  const { program, found, target, gone, limits, rev } = props;
  const { programId } = useLive();
  const client = useClient();
  const navigate = useNavigate();
  const types = found.types?.nodes ?? [];
  const shapes = target.params.map(({ type }) => shapeOf(type, types));
  const taken = `${target.ref} ${target.signature}`;
  const [before] = useState(() => lastEntered(programId, taken));
  const [drafts, setDrafts] = useState<readonly Draft[]>(
    () => before?.drafts ?? shapes.map((shape) => blank(shape, types)),
  );
  const [stdin, setStdin] = useState(before?.stdin ?? '');
  const [bounds, setBounds] = useState<Bounds>(() => before?.bounds ?? boundsOf(limits));
  const [origin, setOrigin] = useState<Origin>({ kind: 'form' });
  const [strict, setStrict] = useState(false);
  const [refusal, setRefusal] = useState<Refusal>();
  const [starting, setStarting] = useState(false);
  const lacks = useCaller().lacks('SIMULATE');
  const key = useRef<{ of: string; key: string }>(null);
  const form = useRef<HTMLFormElement>(null);
  const cases = found.cases?.nodes ?? [];
  const [runs] = useState<Recent[]>(() =>
    recentRuns().filter(
      (run) => run.program === programId && run.function === target.ref && run.run.args.length === shapes.length,
    ),
  );

  // Whoever leaves and comes back finds what they entered.
  useEffect(() => keepEntered(programId, taken, { drafts, stdin, bounds }), [programId, taken, drafts, stdin, bounds]);

  const choose = (value: string) => {
    const [kind, index] = value.split(' ');
    const at = Number(index);
    setRefusal(undefined);
    if (kind === 'case' && cases[at]) {
      setDrafts(shapes.map((shape, index) => draftOf(shape, cases[at]?.args[index])));
      setStdin(cases[at].stdin ?? '');
      return setOrigin({ kind: 'case', at });
    }
    if (kind === 'run' && runs[at]) {
      const { args, stdin } = runs[at].run;
      // What was sent of a string is the text itself.
      setDrafts(
        shapes.map((shape, index) =>
          shape.kind === 'string' ? { kind: 'text', text: String(args[index] ?? '') } : draftOf(shape, args[index]),
        ),
      );
      setStdin(stdin ?? '');
      return setOrigin({ kind: 'run', at });
    }
    setDrafts(shapes.map((shape) => blank(shape, types)));
    setStdin('');
    setOrigin({ kind: 'form' });
  };

  const start = async (event: FormEvent) => {
    event.preventDefault();
    if (starting || lacks) return;
    setStrict(true);
    setRefusal(undefined);
    const wrong = shapes.findIndex((shape, at) => slip(shape, drafts[at] as Draft) !== null);
    if (wrong >= 0) return form.current?.querySelector<HTMLElement>(`#arg-${wrong}`)?.focus();
    const args = shapes.map((shape, at) => argumentOf(shape, drafts[at] as Draft, types));
    const run: SimulateInput = {
      args,
      ...(stdin !== '' && { stdin }),
      limits: limitsOf(bounds),
    };
    const at = revisionKey(rev).at ?? null;
    const of = JSON.stringify([at, run]);
    // A second press while the answer is on its way is the same run.
    if (key.current?.of !== of) key.current = { of, key: freshKey() };
    setStarting(true);
    const begun = await begin(client, {
      programId,
      at,
      function: target.ref,
      run,
      origin:
        origin.kind === 'case'
          ? `test case ${cases[origin.at]?.name}`
          : origin.kind === 'run'
            ? 'an earlier run'
            : 'the form',
      key: key.current.key,
    });
    if (!('sim' in begun)) {
      setStarting(false);
      key.current = null;
      setRefusal(begun);
      const argument = argumentAt(begun.path);
      if (argument !== null) form.current?.querySelector<HTMLElement>(`#arg-${argument}`)?.focus();
      return;
    }
    void navigate({
      to: '/p/$program/f/$function/run',
      params: { program, function: target.ref },
      search: { sim: begun.sim },
    });
  };

  const at = refusal ? argumentAt(refusal.path) : null;
  const findings = target.holes?.nodes ?? [];
  return (
    <div className="page run-form">
      <div className="page-head">
        <h1 className="mono">
          <span className="muted">{target.module.path}::</span>
          {target.name}
        </h1>
        <code className="muted">{target.signature}</code>
        <span className="end">
          <Badge>
            {rev === undefined && !gone && 'head, '}r{rev ?? found.revision?.number ?? '?'}
          </Badge>
          <Link
            className="button"
            to="/p/$program/f/$function"
            params={{ program, function: target.ref }}
            search={rev === undefined ? {} : { rev }}
          >
            Graph and text
          </Link>
        </span>
      </div>
      {gone && <Notice tone="warn" title="The newest revision has no function of this name any more." />}
      {target.import ? (
        <section className="panel">
          <Empty icon={Import} title="The host provides this function">
            <p>There is nothing here to step through. Run a function that calls it.</p>
          </Empty>
        </section>
      ) : !target.verified ? (
        <Findings program={program} target={target} rev={rev} tone="error" />
      ) : (
        <>
          {!target.complete && findings.length > 0 && (
            <Findings program={program} target={target} rev={rev} tone="warn" />
          )}
          <form ref={form} className="panel" onSubmit={(event) => void start(event)} noValidate aria-label="Inputs">
            <div className="panel-head">
              <h2>Inputs</h2>
              <span className="end">
                <label htmlFor="origin" className="muted">
                  from
                </label>
                <select
                  id="origin"
                  className="field"
                  value={origin.kind === 'form' ? 'form' : `${origin.kind} ${origin.at}`}
                  onChange={(event) => choose(event.target.value)}
                >
                  <option value="form">this form</option>
                  {cases.length > 0 && (
                    <optgroup label="Test cases">
                      {cases.map((each, at) => (
                        <option key={each.name} value={`case ${at}`}>
                          case {each.name}
                        </option>
                      ))}
                    </optgroup>
                  )}
                  {runs.length > 0 && (
                    <optgroup label="Earlier runs in this browser">
                      {runs.map((run, at) => (
                        <option key={run.sim} value={`run ${at}`}>
                          {new Date(run.at).toLocaleTimeString()}: {run.run.args.join(', ').slice(0, 40) || 'no inputs'}
                          {run.elsewhere && ' (begun elsewhere)'}
                        </option>
                      ))}
                    </optgroup>
                  )}
                </select>
              </span>
            </div>
            <div className="panel-body run-fields">
              {target.params.length === 0 && <p className="muted">The function takes nothing.</p>}
              {target.params.map(({ name, type }, index) => (
                <div key={name}>
                  <ValueField
                    id={`arg-${index}`}
                    label={name}
                    type={type}
                    types={types}
                    draft={drafts[index] as Draft}
                    strict={strict}
                    onChange={(draft) => {
                      setDrafts(drafts.with(index, draft));
                      if (origin.kind !== 'form') setOrigin({ kind: 'form' });
                    }}
                  />
                  {refusal && at === index && (
                    <p className="value-wrong" role="alert">
                      <Message>{named(refusal.message, target.params)}</Message>
                      {refusal.column !== null && `, at column ${refusal.column}`}
                      {refusal.candidates.length > 0 && ` (there is ${refusal.candidates.join(', ')})`}
                    </p>
                  )}
                  <TextToggle
                    label={name}
                    draft={drafts[index] as Draft}
                    shape={shapes[index]?.kind}
                    onToggle={() => {
                      const shape = shapes[index];
                      const draft = drafts[index];
                      if (!shape || !draft) return;
                      const next: Draft =
                        draft.kind === 'literal'
                          ? blank(shape, types)
                          : { kind: 'literal', text: argumentOf(shape, draft, types) };
                      setDrafts(drafts.with(index, next));
                    }}
                  />
                </div>
              ))}
              <details>
                <summary>Standard input and limits</summary>
                <div className="run-fields run-more">
                  <label className="value" htmlFor="stdin">
                    <span className="value-name">standard input</span>
                    <textarea
                      id="stdin"
                      className="field mono"
                      rows={2}
                      value={stdin}
                      onChange={(event) => setStdin(event.target.value)}
                    />
                  </label>
                  <LimitFields bounds={bounds} onChange={setBounds} />
                </div>
              </details>
              {refusal && at === null && (
                <ProblemPanel problem={{ ...refusal, message: named(refusal.message, target.params) }} />
              )}
              <div className="run-acts">
                <button
                  type="submit"
                  className="button primary"
                  disabled={starting || lacks !== null}
                  title={lacks ?? undefined}
                  aria-busy={starting}
                >
                  <Play size={14} aria-hidden />
                  {starting ? 'Starting…' : 'Start'}
                </button>
                <span className="muted">{lacks ?? 'It stands before its first step then.'}</span>
              </div>
            </div>
          </form>
        </>
      )}
    </div>
  );
}

function TextToggle(props: { label: string; draft: Draft; shape: string | undefined; onToggle(): void }) {
  const { label, draft, shape, onToggle } = props;
  if (!['list', 'choice', 'literal', 'bytes'].includes(draft.kind) || shape === 'text') return null;
  return (
    <button type="button" className="link value-toggle" onClick={onToggle}>
      <Pencil size={11} aria-hidden />{' '}
      {draft.kind === 'literal' ? `Fill ${label} in by fields` : `Write ${label} as text`}
    </button>
  );
}

function Findings(props: { program: string; target: Target; rev: number | undefined; tone: 'warn' | 'error' }) {
  const { program, target, rev, tone } = props;
  const title =
    tone === 'error'
      ? 'This function has errors and cannot be run.'
      : 'Something is missing here: a run stops where it comes to that.';
  return (
    <Notice tone={tone} title={title}>
      <ul>
        {(target.holes?.nodes ?? []).slice(0, 6).map(({ code, message, details }, index) => (
          // Findings have no names; the list is replaced as a whole.
          <li key={index}>
            <code className="muted">{code}</code> <Message>{message}</Message>{' '}
            {details?.node && (
              <Link
                to="/p/$program/f/$function"
                params={{ program, function: target.ref }}
                search={{ ...(rev !== undefined && { rev }), node: details.node }}
              >
                {details.node}
              </Link>
            )}
          </li>
        ))}
      </ul>
    </Notice>
  );
}
