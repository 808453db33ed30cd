import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { CircleCheck, Import } from 'lucide-react';
import { useEffect, useMemo, useRef, useState } from 'react';

import { AbsentFunction } from '../../lib/AbsentFunction';
import { useCaller } from '../../lib/caller';
import { renamedTo } from '../../lib/renamed';
import { labelOf, plainText } from '../../lib/text';
import { setTitle, useTitle } from '../../lib/title';
import { Badge, CopyButton, Empty, Notice, SkeletonRows } from '../../ui';
import { useLive } from '../edits';
import { DiffView, fileOf, UnifiedText, useDiffPlace } from '../preview';
import { keepDraft, keptDraft, offsetAt, type Base } from './draft';
import { Findings } from './Findings';
import { baseOf, marksOf, mistakesOf, whyNot, type Mistake, type Proposal } from './model';
import { RenameForm } from './RenameForm';
import { TextEditor } from './TextEditor';
import { useProposal } from './useProposal';
import { useTarget, type Target } from './useTarget';
import './editing.css';

/** A function, to be edited by hand: its names and its text. */
export function EditView() {
  const { function: name = '' } = useParams({ strict: false });
  const { programId, name: program, feed } = useLive();
  const { target, problem, retry } = useTarget(programId, name, feed.head);
  const { node } = useSearch({ from: '/p/$program/f/$function/edit' });
  const navigate = useNavigate();
  useTitle(target ? null : `Edit ${name}`);
  const renamed = renamedTo(name, target?.info.path);
  useEffect(() => {
    if (renamed === null) return;
    void navigate({
      to: '/p/$program/f/$function/edit',
      params: { program, function: renamed },
      search: node === undefined ? {} : { node },
      replace: true,
    });
  }, [navigate, program, renamed, node]);
  if (!target)
    return problem ? (
      <AbsentFunction name={name} program={program} rev={undefined} problem={problem} onRetry={retry} />
    ) : (
      <div className="function" data-busy="true">
        <SkeletonRows rows={12} label="Loading the text" />
      </div>
    );
  return <Editing key={target.info.ref} target={target} gone={problem?.code === 'NOT_FOUND'} onChanged={retry} />;
}

function Editing({ target: { info, now }, gone, onChanged }: { target: Target; gone: boolean; onChanged(): void }) {
  const { programId, name: program, gone: deleted } = useLive();
  const { node } = useSearch({ from: '/p/$program/f/$function/edit' });
  const [draft, setDraft] = useState(() => keptDraft(programId, info.ref) ?? { text: now.text, base: now });
  const [message, setMessage] = useState('');
  const [done, setDone] = useState<string | null>(null);
  const [failed, setFailed] = useState<string | null>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const place = useDiffPlace('text');
  const lacks = useCaller().lacks('EDIT');
  const { text, base } = draft;
  const dirty = text !== base.text;
  // Without anything typed the editor shows what is there.
  if (!dirty && base.hash !== now.hash) setDraft({ text: now.text, base: now });

  const proposal = useMemo(
    (): Proposal | null =>
      dirty
        ? {
            edits: [{ replaceFunctionText: { ref: info.ref, text, ifHash: base.hash } }],
            baseRevision: baseOf(base.revision),
          }
        : null,
    [dirty, info.ref, text, base],
  );
  const { tried, difference, applying, apply, retry } = useProposal(programId, info.ref, proposal);
  const outcome = tried.state === 'done' ? tried.outcome : null;
  const stale = base.hash !== now.hash;
  const fits = !stale && outcome?.__typename === 'EditApplied' ? outcome : null;
  const reason = whyNot({ dirty, stale, applying, tried });
  const ready = fits !== null && reason === null;
  const conflict = dirty && (stale || outcome?.__typename === 'EditConflict');

  useEffect(() => {
    setTitle(`Edit ${info.path}`);
  }, [info.path]);
  useEffect(() => keepDraft(programId, info.ref, draft), [programId, info.ref, draft]);

  const write = (text: string) => {
    setDraft({ text, base });
    setDone(null);
    setFailed(null);
  };
  const rebase = (onto: Base, text: string) => {
    setDraft({ text, base: onto });
    field.current?.focus();
  };
  const submit = async () => {
    if (!ready) return;
    const result = await apply(message.trim() === '' ? null : message.trim());
    if (!('__typename' in result)) return setFailed(`${result.code} · ${result.message}`);
    if (result.__typename !== 'EditApplied') {
      onChanged();
      return setFailed(
        'The function or the program has changed meanwhile; nothing was applied, and your text is kept.',
      );
    }
    setMessage('');
    setDone(`Applied${result.revision ? ` as r${result.revision.number}` : ''}.`);
    const after = plainText(result.program?.function?.text ?? text);
    // The hash of the new text arrives with the head; until then what is shown is no draft.
    setDraft({ text: after, base: { ...base, text: after } });
    onChanged();
  };
  const go = ({ line, column, found }: Mistake) => {
    const element = field.current;
    if (!element || line === null) return;
    const at = offsetAt(text, line, column ?? 1);
    element.focus();
    element.setSelectionRange(at, at + (found && column !== null && text.startsWith(found, at) ? found.length : 0));
    element.scrollTop = Math.max(0, line * 20 - element.clientHeight / 2);
  };

  return (
    <div className="function editing" data-dirty={dirty}>
      <header className="function-head">
        <h1 className="mono">
          <span className="muted">edit {info.module.path}::</span>
          {info.name}
        </h1>
        <Badge>{dirty ? `draft on r${base.revision}` : `r${now.revision}`}</Badge>
        <span className="function-revision">
          <Link
            to="/p/$program/f/$function"
            params={{ program, function: info.ref }}
            search={node === undefined ? {} : { node }}
            className="button"
          >
            Graph and text
          </Link>
        </span>
      </header>
      {info.import ? (
        <Empty icon={Import} title="The host provides this function">
          <p>It has no body here that could be edited.</p>
        </Empty>
      ) : (
        <div className="editing-panes">
          <TextEditor
            field={field}
            label={`Text of ${info.path}`}
            describedBy="verdict"
            text={text}
            marks={marksOf(mistakesOf(tried))}
            readOnly={lacks !== null}
            onChange={write}
            onApply={() => void submit()}
          />
          <div className="editing-side">
            {lacks && (
              <div className="editing-part">
                <Notice tone="warn" title={lacks} />
              </div>
            )}
            {(gone || deleted) && (
              <div className="editing-part">
                <Notice
                  tone="warn"
                  title={
                    deleted
                      ? 'The program was deleted: this text is applied nowhere.'
                      : 'The newest revision does not have this function any more.'
                  }
                  actions={<CopyButton text={text} label="Copy the text" />}
                >
                  <p className="muted">
                    Your text is kept in this tab{!deleted && '; the feed of edits says who removed the function'}.
                  </p>
                </Notice>
              </div>
            )}
            {conflict && (
              <section className="editing-part" aria-labelledby="conflict-title">
                <h2 id="conflict-title">Conflict</h2>
                <Notice
                  tone="warn"
                  title={`The function has changed since you began: it is r${now.revision} now, your draft is on r${base.revision}.`}
                  actions={
                    <>
                      <button type="button" className="button" onClick={() => rebase(now, text)}>
                        Keep mine, on top of theirs
                      </button>
                      <button type="button" className="button" onClick={() => rebase(now, now.text)}>
                        Take theirs, drop mine
                      </button>
                    </>
                  }
                >
                  <p className="muted">Nothing that you typed is lost. What they changed:</p>
                </Notice>
                <UnifiedText files={[fileOf(info.path, base.text, now.text)]} />
              </section>
            )}
            {!(stale && dirty) && (
              <section className="editing-part" aria-label="Dry run">
                <Findings id="verdict" tried={tried} onGo={go} onRetry={retry} />
              </section>
            )}
            {fits && difference && (
              <section className="editing-part" aria-labelledby="change-title">
                <h2 id="change-title">What would change</h2>
                <DiffView {...difference} program={program} place={place} />
              </section>
            )}
            {done && (
              <p className="editing-part editing-done" role="status">
                <CircleCheck size={14} aria-hidden />
                {done}{' '}
                <Link to="/p/$program/edits" params={{ program }}>
                  See the feed
                </Link>
              </p>
            )}
            {failed && (
              <div className="editing-part">
                <Notice tone="error" title="It was not applied.">
                  <p className="muted">{failed}</p>
                </Notice>
              </div>
            )}
            <form
              className="editing-part editing-apply"
              aria-label="Apply"
              onSubmit={(event) => {
                event.preventDefault();
                void submit();
              }}
            >
              <label htmlFor="why" className="muted">
                Why, for the log
              </label>
              <input
                id="why"
                className="field"
                autoComplete="off"
                value={message}
                onChange={(event) => setMessage(event.target.value)}
              />
              <div className="editing-acts">
                <button
                  type="submit"
                  className="button primary"
                  disabled={!ready}
                  aria-busy={applying}
                  aria-describedby="why-not"
                  title={reason ?? undefined}
                >
                  {applying ? 'Applying…' : 'Apply'}
                </button>
                <button type="button" className="button" disabled={!dirty} onClick={() => rebase(now, now.text)}>
                  Drop the draft
                </button>
              </div>
              <p id="why-not" className="muted">
                {reason}
              </p>
            </form>
            <section className="editing-part" aria-labelledby="names-title">
              <h2 id="names-title">Names</h2>
              {lacks ? (
                <p className="muted">{lacks}</p>
              ) : dirty ? (
                <p className="muted">
                  Apply or drop the draft to rename; names of nodes can be changed in the text, too.
                </p>
              ) : (
                <>
                  <RenameForm
                    key={info.name}
                    what="function"
                    entity={info.ref}
                    functionRef={info.ref}
                    name={info.name}
                    revision={now.revision}
                    onRenamed={onChanged}
                  />
                  {node !== undefined && (
                    <RenameForm
                      key={node}
                      what="node"
                      entity={node}
                      functionRef={info.ref}
                      name={labelOf(info.text ?? '', node)}
                      revision={now.revision}
                      onRenamed={onChanged}
                    />
                  )}
                </>
              )}
            </section>
          </div>
        </div>
      )}
    </div>
  );
}
