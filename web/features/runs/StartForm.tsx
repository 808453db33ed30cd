import { useNavigate } from '@tanstack/react-router';
import { Play } from 'lucide-react';
import { useId, useMemo, useRef, useState, type FormEvent } from 'react';
import { useClient } from 'urql';

import {
  FlowsDocument,
  RunBranchesDocument,
  RunInputDocument,
  RunProgramsDocument,
  StartRunDocument,
  type FlowsQuery,
  type RunBranchesQuery,
} from '../../generated/graphql';
import { useAsk } from '../../lib/ask';
import { useCaller } from '../../lib/caller';
import { freshKey } from '../../lib/key';
import { problemOf, type Problem } from '../../lib/problems';
import { programKey } from '../../lib/program';
import { useKept } from '../../lib/useKept';
import { Empty, Message, ProblemPanel, SkeletonRows } from '../../ui';
import { draftOf, fieldsOf, inputOf, type Draft, type Field } from './form';
import { shortId } from './model';
import type { StartSearch } from './search';

type Flow = NonNullable<FlowsQuery['flows']>[number];

/** The form that starts a run of a flow. */
export function StartForm({ search }: { search: StartSearch }) {
  const flows = useAsk(FlowsDocument, {});
  const from = useAsk(RunInputDocument, { id: search.from ?? '' }, { pause: search.from === undefined });
  const id = useId();
  const of = JSON.stringify(search);
  const [chosen, setChosen, forgetChosen] = useKept<string | null>(`flow ${of}`, () => null);
  const all = flows.data?.flows;
  if (flows.problem && !all) return <ProblemPanel problem={flows.problem} onRetry={flows.refresh} />;
  if (!all || (search.from !== undefined && !from.data && !from.problem))
    return <SkeletonRows rows={5} label="Loading the flows" />;
  if (all.length === 0)
    return (
      <Empty icon={Play} title="This server knows no flow">
        <p>
          <code>lmlang flow register</code> declares one.
        </p>
      </Empty>
    );
  const name = chosen ?? search.flow ?? from.data?.run?.flow.name ?? all[0]?.name;
  const flow = all.find((each) => each.name === name);
  const taken = from.data?.run?.flow.name === name ? from.data?.run?.input : undefined;
  return (
    <div className="start">
      <div className="start-field">
        <label htmlFor={`${id}flow`}>Flow</label>
        <select
          id={`${id}flow`}
          className="field"
          value={flow?.name ?? ''}
          onChange={(event) => setChosen(event.target.value)}
        >
          {!flow && <option value="">{name} is not here</option>}
          {all.map((each) => (
            <option key={each.name} value={each.name}>
              {each.name}
            </option>
          ))}
        </select>
        {flow && (
          <p className="muted">
            <Message>{flow.doc}</Message> <span className="mono">version {flow.version}</span>
          </p>
        )}
      </div>
      {search.from !== undefined && taken !== undefined && (
        <p className="muted">The input is that of the run {shortId(search.from)}.</p>
      )}
      {flow && (
        <InputForm
          key={flow.name}
          flow={flow}
          given={taken}
          of={of}
          session={search.session ?? null}
          onStarted={forgetChosen}
        />
      )}
    </div>
  );
}

function InputForm(props: {
  flow: Flow;
  given: unknown;
  /** What the page was opened for: its inputs are kept for the same. */
  of: string;
  session: string | null;
  onStarted(): void;
}) {
  const { flow, given, of, session, onStarted } = props;
  const client = useClient();
  const navigate = useNavigate();
  const lacks = useCaller().lacks('EDIT');
  const fields = useMemo(() => fieldsOf(flow.inputSchema), [flow]);
  const programs = useAsk(RunProgramsDocument, {}, { pause: !fields.some(({ name }) => name === 'program') });
  const id = useId();
  const [draft, setDraft, forgetDraft] = useKept<Draft>(`input of ${flow.name} ${of}`, () => draftOf(fields, given));
  const [strict, setStrict] = useState(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  // One form starts one run, however often its button is pressed; another input is another run.
  const [fresh] = useState(freshKey);
  const sent = useRef<{ said: string; key: string } | null>(null);
  const { input, slips } = inputOf(fields, draft);
  const names = programs.data?.programs?.nodes.map(({ name }) => name) ?? [];
  // Whoever is still writing the name of a program has none of its branches yet.
  const program = names.find((name) => name === draft['program']?.trim());
  const branches = useAsk(RunBranchesDocument, programKey(program ?? ''), { pause: program === undefined });
  const offers: Readonly<Record<string, readonly string[] | undefined>> = {
    program: names,
    ...(program !== undefined && branchesOf(branches.data)),
  };

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (busy || lacks) return;
    setStrict(true);
    if (slips.size > 0) {
      const first = fields.find(({ name }) => slips.has(name));
      document.getElementById(`${id}${first?.name}`)?.focus();
      return;
    }
    const said = JSON.stringify(input);
    if (sent.current === null) sent.current = { said, key: fresh };
    else if (sent.current.said !== said) sent.current = { said, key: freshKey() };
    setBusy(true);
    setProblem(undefined);
    const asked = { flow: flow.name, input, idempotencyKey: sent.current.key, ...(session && { sessionId: session }) };
    const { data, error } = await client.mutation(StartRunDocument, { input: asked }).toPromise();
    const run = data?.startRun?.run;
    if (run) {
      forgetDraft();
      onStarted();
      return navigate({ to: '/runs/$run', params: { run: run.id } });
    }
    setBusy(false);
    setProblem({ ...problemOf(error), action: 'The run was not started.' });
  };
  return (
    <form
      className="start-form"
      onSubmit={(event) => void submit(event)}
      noValidate
      aria-label={`Input of ${flow.name}`}
    >
      {fields.map((field) => (
        <InputField
          key={field.name}
          id={`${id}${field.name}`}
          field={field}
          text={draft[field.name] ?? ''}
          slip={strict ? slips.get(field.name) : undefined}
          offers={offers[field.name]}
          // Branches are made and merged while a form stands open.
          onFocus={program !== undefined && field.name in branchesOf(branches.data) ? branches.refresh : undefined}
          onChange={(text) => setDraft((before) => ({ ...before, [field.name]: text }))}
        />
      ))}
      {problem && <ProblemPanel problem={problem} />}
      <div className="start-acts">
        <button type="submit" className="button primary" disabled={busy || lacks !== null} title={lacks ?? undefined}>
          <Play size={14} aria-hidden />
          {busy ? 'Starting…' : 'Start'}
        </button>
        {lacks && <span className="muted">{lacks}</span>}
      </div>
    </form>
  );
}

/** What is offered for the fields that name branches. */
function branchesOf(data: RunBranchesQuery | undefined) {
  const all = data?.program?.branches?.nodes.map(({ name }) => name) ?? [];
  return { branch: all.filter((name) => name !== 'main'), into: all };
}

function InputField(props: {
  id: string;
  field: Field;
  text: string;
  slip: string | undefined;
  offers: readonly string[] | undefined;
  onFocus: (() => void) | undefined;
  onChange(text: string): void;
}) {
  const { id, field, text, slip, offers, onFocus, onChange } = props;
  const { shape, title, doc, required } = field;
  const described = [doc && `${id}doc`, slip && `${id}slip`].filter(Boolean).join(' ');
  const told = {
    ...(slip && { 'aria-invalid': true }),
    ...(described && { 'aria-describedby': described }),
    ...(required && shape.kind !== 'boolean' && { 'aria-required': true }),
  };
  const control = () => {
    switch (shape.kind) {
      case 'string':
        return (
          <>
            <input
              id={id}
              className="field"
              value={text}
              autoComplete="off"
              spellCheck={false}
              list={offers && `${id}offers`}
              onFocus={onFocus}
              onChange={(event) => onChange(event.target.value)}
              {...told}
            />
            {offers && (
              <datalist id={`${id}offers`}>
                {offers.map((offer) => (
                  <option key={offer}>{offer}</option>
                ))}
              </datalist>
            )}
          </>
        );
      case 'number':
        return (
          <input
            id={id}
            className="field"
            inputMode={shape.whole ? 'numeric' : 'decimal'}
            value={text}
            autoComplete="off"
            onChange={(event) => onChange(event.target.value)}
            {...told}
          />
        );
      case 'text':
      case 'json':
        return (
          <textarea
            id={id}
            className="field mono"
            rows={shape.kind === 'text' && required ? 10 : 5}
            value={text}
            spellCheck={false}
            onChange={(event) => onChange(event.target.value)}
            {...told}
          />
        );
      case 'choice':
        return (
          <select id={id} className="field" value={text} onChange={(event) => onChange(event.target.value)} {...told}>
            {(!required || text === '') && <option value="">{required ? 'choose' : 'not said'}</option>}
            {shape.options.map((option, at) => (
              <option key={String(option)} value={at}>
                {typeof option === 'string' ? option : JSON.stringify(option)}
              </option>
            ))}
          </select>
        );
      case 'boolean':
        return null;
    }
  };
  const notes = (
    <>
      {doc && (
        <p id={`${id}doc`} className="muted">
          <Message>{doc}</Message>
        </p>
      )}
      {slip && (
        <p id={`${id}slip`} className="error-line" role="alert">
          {title} {slip.startsWith('line') ? `is no JSON: ${slip}` : slip}
        </p>
      )}
    </>
  );
  if (shape.kind === 'boolean')
    return (
      <div className="start-field">
        <label className="start-check">
          <input
            id={id}
            type="checkbox"
            checked={text === 'true'}
            onChange={(event) => onChange(String(event.target.checked))}
            {...told}
          />
          {title}
        </label>
        {notes}
      </div>
    );
  return (
    <div className="start-field">
      <label htmlFor={id}>
        {title} {!required && <span className="muted">(optional)</span>}
        {shape.kind === 'json' && <span className="muted"> as JSON</span>}
      </label>
      {control()}
      {notes}
    </div>
  );
}
