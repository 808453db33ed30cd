import { Link, useNavigate } from '@tanstack/react-router';
import { FileText } from 'lucide-react';
import { useEffect, useId, useMemo, useRef, useState } from 'react';

import { EditModulesDocument } from '../../generated/graphql';
import { useAsk } from '../../lib/ask';
import { useCaller } from '../../lib/caller';
import { setTitle } from '../../lib/title';
import { useKept } from '../../lib/useKept';
import { Notice } from '../../ui';
import { useLive } from '../edits';
import { DiffView, useDiffPlace } from '../preview';
import { offsetAt } from './draft';
import { Findings } from './Findings';
import { addOf, marksOf, mistakesOf, STARTER, whyNot, type Mistake } from './model';
import { TextEditor } from './TextEditor';
import { useProposal } from './useProposal';
import './editing.css';

/** Functions and types that are added to a program: written by hand, or from a file. */
export function AddView() {
  const { programId, name: program, feed, gone } = useLive();
  const navigate = useNavigate();
  const id = useId();
  const modules = useAsk(EditModulesDocument, { id: programId }, { requestPolicy: 'cache-and-network' });
  const paths = modules.data?.program?.modules?.nodes.map(({ path }) => path) ?? [];
  const [text, setText, forgetText] = useKept(`add to ${programId}`, () => '');
  const [module, setModule, forgetModule] = useKept(`add into ${programId}`, () => '');
  const [message, setMessage] = useState('');
  const [failed, setFailed] = useState<string | null>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const place = useDiffPlace('text');
  const lacks = useCaller().lacks('EDIT');
  useEffect(() => setTitle(`Add to ${program}`), [program]);
  const into = paths.includes(module) ? module : '';
  const proposal = useMemo(() => addOf(text, into, feed.head), [text, into, feed.head]);
  const { tried, difference, applying, apply, retry } = useProposal(programId, null, proposal);
  const fits = tried.state === 'done' && tried.outcome.__typename === 'EditApplied';
  const reason = proposal === null ? 'Nothing is written yet.' : whyNot({ dirty: true, stale: false, applying, tried });

  const write = (next: string) => {
    setText(next);
    setFailed(null);
  };
  const submit = async () => {
    if (!fits || reason !== null) return;
    const result = await apply(message.trim() === '' ? null : message.trim());
    if (!('__typename' in result)) return setFailed(`${result.code} · ${result.message}`);
    if (result.__typename !== 'EditApplied')
      return setFailed('The program has changed meanwhile; nothing was added, and your text is kept.');
    forgetText();
    forgetModule();
    const made = result.created.find(({ kind }) => kind === 'FUNCTION');
    void (made
      ? navigate({ to: '/p/$program/f/$function', params: { program, function: made.ref } })
      : navigate({ to: '/p/$program', params: { program } }));
  };
  const go = ({ line, column }: Mistake) => {
    const element = field.current;
    if (!element || line === null) return;
    const at = offsetAt(text, line, column ?? 1);
    element.focus();
    element.setSelectionRange(at, at);
    element.scrollTop = Math.max(0, line * 20 - element.clientHeight / 2);
  };
  return (
    <div className="function editing" data-dirty={text !== ''}>
      <header className="function-head">
        <h1>Add functions and types</h1>
        <span className="function-revision">
          <label className="editing-module">
            <span className="muted">in</span>
            <select className="field" value={into} onChange={(event) => setModule(event.target.value)}>
              <option value="">the module that the text names</option>
              {paths.map((path) => (
                <option key={path}>{path}</option>
              ))}
            </select>
          </label>
          <label className="button file">
            <FileText size={14} aria-hidden />
            Load a file…
            <input
              type="file"
              accept=".lm,text/plain"
              disabled={lacks !== null}
              onChange={({ currentTarget }) => {
                const [file] = currentTarget.files ?? [];
                // The same file can be chosen again.
                void file?.text().then(write, (error: unknown) => setFailed(String(error)));
                currentTarget.value = '';
              }}
            />
          </label>
          <Link to="/p/$program" params={{ program }} className="button">
            Overview
          </Link>
        </span>
      </header>
      <div className="editing-panes">
        <TextEditor
          field={field}
          label="Functions and types"
          describedBy={`${id}verdict`}
          text={text}
          marks={marksOf(mistakesOf(tried))}
          readOnly={lacks !== null}
          onChange={write}
          onApply={() => void submit()}
        />
        <div className="editing-side">
          {(lacks ?? gone) && (
            <div className="editing-part">
              <Notice tone="warn" title={lacks ?? 'The program was deleted: this text is added nowhere.'} />
            </div>
          )}
          {text === '' && (
            <section className="editing-part" aria-labelledby={`${id}starter`}>
              <h2 id={`${id}starter`}>A beginning</h2>
              <pre className="editing-starter">{STARTER}</pre>
              <div className="editing-acts">
                <button
                  type="button"
                  className="button"
                  disabled={lacks !== null}
                  onClick={() => {
                    write(STARTER);
                    field.current?.focus();
                  }}
                >
                  Begin with this
                </button>
              </div>
            </section>
          )}
          <section className="editing-part" aria-label="Dry run">
            <Findings id={`${id}verdict`} tried={tried} onGo={go} onRetry={retry} />
          </section>
          {fits && difference && (
            <section className="editing-part" aria-labelledby={`${id}change`}>
              <h2 id={`${id}change`}>What would be added</h2>
              <DiffView {...difference} program={program} place={place} />
            </section>
          )}
          {failed && (
            <div className="editing-part">
              <Notice tone="error" title="It was not added.">
                <p className="muted">{failed}</p>
              </Notice>
            </div>
          )}
          <form
            className="editing-part editing-apply"
            aria-label="Add"
            onSubmit={(event) => {
              event.preventDefault();
              void submit();
            }}
          >
            <label htmlFor={`${id}why`} className="muted">
              Why, for the log
            </label>
            <input
              id={`${id}why`}
              className="field"
              autoComplete="off"
              value={message}
              onChange={(event) => setMessage(event.target.value)}
            />
            <div className="editing-acts">
              <button
                type="submit"
                className="button primary"
                disabled={!fits || reason !== null}
                aria-busy={applying}
                aria-describedby={`${id}why-not`}
              >
                {applying ? 'Adding…' : 'Add'}
              </button>
            </div>
            <p id={`${id}why-not`} className="muted">
              {reason}
            </p>
          </form>
        </div>
      </div>
    </div>
  );
}
