import { ProblemPanel, SkeletonRows } from '../../ui';
import type { StepFragment } from '../../generated/graphql';
import { Rows } from './Steps';
import type { Answer } from './useWhy';

/** The steps that a value follows from, or that kept a node from running; each is a place to go to. */
export function WhyPanel(props: {
  answer: Answer | null;
  onSeek(step: number): void;
  onWhy(step: StepFragment): void;
}) {
  const { answer, onSeek, onWhy } = props;
  if (!answer)
    return (
      <p className="muted player-none">
        Select a node and press <kbd>w</kbd> for why its value is what it is, or <kbd>n</kbd> for why it did not run.
        The values under State, and each step, have a button for it too.
      </p>
    );
  return (
    <div className="why" role="region" aria-label={answer.title}>
      <h2 className="player-pad">{answer.title}</h2>
      {answer.refusal ? (
        <div className="player-pad">
          <ProblemPanel problem={answer.refusal} />
        </div>
      ) : !answer.steps ? (
        <SkeletonRows rows={4} height={24} label="Looking back" />
      ) : answer.steps.length === 0 ? (
        <p className="muted player-none">{answer.none ?? 'Nothing led there.'}</p>
      ) : (
        <Rows steps={answer.steps} newest={answer.steps.at(-1)?.seq ?? -1} onSeek={onSeek} onWhy={onWhy} />
      )}
    </div>
  );
}
