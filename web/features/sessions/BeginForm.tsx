import { useNavigate } from '@tanstack/react-router';
import { CornerDownLeft, MessagesSquare } from 'lucide-react';
import { useId, useRef, useState, type FormEvent, type KeyboardEvent } from 'react';
import { useClient } from 'urql';

import { BeginSessionDocument, FlowsDocument, SessionProgramsDocument } from '../../generated/graphql';
import { useAsk } from '../../lib/ask';
import { useCaller } from '../../lib/caller';
import { freshKey } from '../../lib/key';
import { problemOf, type Problem } from '../../lib/problems';
import { useKept } from '../../lib/useKept';
import { Empty, Message, ProblemPanel, SkeletonRows } from '../../ui';
import { leaveOpening } from './begun';
import { isAboutProgram, talkingOf, titleOf, wordsFieldOf, type Flow } from './model';

/** Begins a conversation with one of the flows that hold some. */
export function BeginForm({ flow: given, program }: { flow?: string | undefined; program?: string | undefined }) {
  const flows = useAsk(FlowsDocument, {});
  const all = flows.data?.flows;
  if (flows.problem && !all) return <ProblemPanel problem={flows.problem} onRetry={flows.refresh} />;
  if (!all) return <SkeletonRows rows={4} label="Loading the flows" />;
  const talking = talkingOf(all);
  if (talking.length === 0)
    return (
      <Empty icon={MessagesSquare} title="No flow of this server holds conversations">
        <p>One that is started by words alone can be talked with.</p>
      </Empty>
    );
  return <Words flows={talking} given={given} about={program ?? ''} />;
}

function Words({ flows, given, about }: { flows: readonly Flow[]; given: string | undefined; about: string }) {
  const client = useClient();
  const navigate = useNavigate();
  const lacks = useCaller().lacks('EDIT');
  const id = useId();
  const of = `${given ?? ''} ${about}`;
  const [chosen, setName, forgetName] = useKept(`talk with ${of}`, () => given);
  const name = (flows.find((flow) => flow.name === chosen) ?? flows[0])?.name ?? '';
  const [words, setWords, forgetWords] = useKept(`first words ${of}`, () => '');
  const [program, setProgram, forgetProgram] = useKept(`talk about ${of}`, () => about);
  const [slip, setSlip] = useState<{ of: 'words' | 'program'; what: string } | null>(null);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const sent = useRef<{ said: string; key: string } | null>(null);
  const box = useRef<HTMLTextAreaElement>(null);
  const programBox = useRef<HTMLInputElement>(null);
  const flow = flows.find((each) => each.name === name);
  const doc = wordsFieldOf(flow?.inputSchema)?.doc ?? null;
  const aboutProgram = isAboutProgram(flow?.inputSchema);
  const programs = useAsk(SessionProgramsDocument, {}, { pause: !aboutProgram });

  const submit = async (event?: FormEvent) => {
    event?.preventDefault();
    if (busy || lacks) return;
    if (aboutProgram && program.trim() === '') {
      setSlip({ of: 'program', what: 'Say which program it is about.' });
      programBox.current?.focus();
      return;
    }
    if (words.trim() === '') {
      setSlip({ of: 'words', what: 'Write what is to be done.' });
      box.current?.focus();
      return;
    }
    const said = JSON.stringify([name, words, program]);
    // The same again, after a lost connection perhaps, is one conversation.
    if (sent.current?.said !== said) sent.current = { said, key: freshKey() };
    const { key } = sent.current;
    setBusy(true);
    setProblem(undefined);
    // The session is begun before anything is said in it, so that nothing of what is said then is missed.
    const input = { workflow: name, title: titleOf(words), idempotencyKey: key };
    const { data, error } = await client.mutation(BeginSessionDocument, { input }).toPromise();
    const session = data?.createSession?.session?.id;
    if (session) {
      for (const forget of [forgetName, forgetWords, forgetProgram]) forget();
      leaveOpening(session, {
        words,
        key: freshKey(),
        ...(aboutProgram && { options: { program: program.trim() } }),
      });
      return navigate({ to: '/sessions/$session', params: { session } });
    }
    setBusy(false);
    setProblem({ ...problemOf(error), action: 'The conversation was not begun.' });
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void submit();
  };
  const described = [doc && `${id}doc`, `${id}hint`].filter(Boolean).join(' ');
  return (
    <form className="talk-begin-form" onSubmit={(event) => void submit(event)} aria-label="New conversation">
      {flows.length > 1 && (
        <div className="talk-field">
          <label htmlFor={`${id}flow`}>With</label>
          <select
            id={`${id}flow`}
            className="field"
            value={name}
            onChange={(event) => setName(event.target.value)}
            disabled={lacks !== null}
          >
            {flows.map((each) => (
              <option key={each.name} value={each.name}>
                {each.name}
              </option>
            ))}
          </select>
        </div>
      )}
      <p className="muted">{flow && <Message>{flow.doc}</Message>}</p>
      {aboutProgram && (
        <div className="talk-field">
          <label htmlFor={`${id}program`}>Program</label>
          <input
            ref={programBox}
            id={`${id}program`}
            className="field"
            list={`${id}programs`}
            autoComplete="off"
            value={program}
            onChange={(event) => {
              setProgram(event.target.value);
              setSlip(null);
            }}
            disabled={lacks !== null}
            aria-invalid={slip?.of === 'program'}
          />
          <datalist id={`${id}programs`}>
            {programs.data?.programs?.nodes.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </datalist>
        </div>
      )}
      <div className="talk-field">
        <label htmlFor={`${id}words`}>What is to be done</label>
        <textarea
          ref={box}
          id={`${id}words`}
          className="field"
          rows={4}
          maxLength={60_000}
          value={words}
          onChange={(event) => {
            setWords(event.target.value);
            setSlip(null);
          }}
          onKeyDown={onKeyDown}
          disabled={lacks !== null}
          aria-invalid={slip?.of === 'words'}
          aria-describedby={described}
        />
        {doc && (
          <p id={`${id}doc`} className="muted">
            <Message>{doc}</Message>
          </p>
        )}
      </div>
      {slip && (
        <p className="error-line" role="alert">
          {slip.what}
        </p>
      )}
      {problem && <ProblemPanel problem={problem} />}
      <div className="talk-acts">
        <button
          type="submit"
          className="button primary"
          disabled={busy || lacks !== null}
          aria-busy={busy}
          title={lacks ?? undefined}
        >
          Begin
          <CornerDownLeft size={13} aria-hidden />
        </button>
        <span id={`${id}hint`} className="muted">
          {lacks ?? 'Enter sends, Shift-Enter is a new line'}
        </span>
      </div>
    </form>
  );
}
