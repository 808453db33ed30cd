import { CircleAlert, CircleCheck, CircleDashed } from 'lucide-react';
import { useMemo } from 'react';
import { useClient, type Client } from 'urql';

import { QuestionDiffPartDocument, QuestionEvidenceDocument } from '../../generated/graphql';
import { useAgain, useAsk } from '../../lib/ask';
import { counted, Json, lasting, Message, ProblemPanel, SkeletonRows } from '../../ui';
import { DiffView, type AskPart, type Diff } from '../preview';
import { Gates } from './Gates';
import { findingsOf, isAboutChange, stateWhen, stepsBefore, type Question } from './model';

/** More steps than these before the question are left to the page of the run. */
const LAST = 8;

/** What the gates have found, what an approval would change, and, where the run is not in view anyway, what it has done for it. */
export function Evidence({ question, parts }: { question: Question; parts: 'all' | 'difference' }) {
  const variables = { run: question.runId, question: question.id };
  const { data, problem, refresh } = useAsk(QuestionEvidenceDocument, variables);
  // It is another one when the question is, or when the program has moved.
  useAgain(refresh, `${question.status} ${question.head?.number}`);
  const run = data?.run;
  if (problem && !run) return <ProblemPanel problem={problem} onRetry={refresh} />;
  // What stands below does not jump when a difference arrives, and none is announced where there may be none.
  if (!run)
    return parts === 'all' || isAboutChange(question) ? (
      <SkeletonRows rows={4} label="Loading what there is to see" />
    ) : null;
  const diff = data.node?.__typename === 'Interrupt' ? data.node.diff : null;
  const all = run.steps?.nodes ?? [];
  const before = stepsBefore(all, question, all.length);
  const steps = before.slice(-LAST);
  const findings = findingsOf(stateWhen(question, data.runState, before));
  const unseen = (run.steps?.totalCount ?? 0) - all.length;
  const program = question.run?.program;
  const title = question.status === 'OPEN' ? 'What approving would change' : 'The change that was asked about';
  return (
    <>
      {findings && <Gates findings={findings} />}
      {diff && program && (
        <section className="question-part" aria-label={title}>
          <h3>{title}</h3>
          <div className="question-diff">
            <Proposed question={question.id} program={program} diff={diff} />
          </div>
        </section>
      )}
      {parts === 'all' && (
        <section className="question-part" aria-label="Evidence">
          <h3>Evidence</h3>
          {run.progress && run.progress.length > 0 && (
            <ul className="evidence-progress" aria-label="What the run says of itself">
              {run.progress.slice(-LAST).map((line, at) => (
                // Lines have no names; the list only grows.
                <li key={at}>
                  <Message>{line}</Message>
                </li>
              ))}
            </ul>
          )}
          <ol className="evidence-steps" aria-label="The last steps before the question">
            {steps.map(({ index, branch, attempt, node, endedAt, error, latencyMs, receipts, update }) => {
              const asks = question.status === 'OPEN' && question.id.endsWith(`/${index}`);
              const done = endedAt !== null && !asks;
              const Icon = error ? CircleAlert : done ? CircleCheck : CircleDashed;
              return (
                <li key={`${index} ${branch} ${attempt}`}>
                  <details>
                    <summary>
                      <Icon size={14} aria-hidden className={error ? 'error' : done ? 'fine' : 'muted'} />
                      <span className="mono">{node}</span>
                      <span className="hidden">{error ? 'failed' : done ? 'done' : 'waits'}</span>
                      {attempt > 1 && <span className="muted">attempt {attempt}</span>}
                      {latencyMs !== null && <span className="muted numeric">{lasting(latencyMs)}</span>}
                      {receipts > 0 && <span className="muted numeric">{counted(receipts, 'receipt')}</span>}
                    </summary>
                    <Json value={error ?? update} label={`What ${node} came to`} />
                  </details>
                </li>
              );
            })}
          </ol>
          {unseen > 0 && <p className="muted">The page of the run has {counted(unseen, 'later step')}.</p>}
          <details className="evidence-input">
            <summary>What the run was started with</summary>
            <Json value={run.input} label="Input of the run" />
          </details>
        </section>
      )}
    </>
  );
}

/** What an approval would change. */
function Proposed(props: { question: string; program: { programId: string; name: string }; diff: Diff }) {
  const { question, program, diff } = props;
  const client = useClient();
  const { programId, name } = program;
  const ask = useMemo(() => partsOf(client, question), [client, question]);
  return <DiffView programId={programId} diff={diff} ask={ask} program={name} />;
}

/** Asks for parts of what an approval would change. */
function partsOf(client: Client, question: string): AskPart {
  return async (part) => {
    const variables = { question, ...part };
    const answer = client.query(QuestionDiffPartDocument, variables, { requestPolicy: 'network-only' });
    const { data, error } = await answer.toPromise();
    if (error) throw error;
    return data?.node?.__typename === 'Interrupt' ? data.node.diff : null;
  };
}
