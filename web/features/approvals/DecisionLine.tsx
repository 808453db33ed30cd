import { Actor, Ago, Badge, Message } from '../../ui';
import { answerWords, type Decision } from './model';

/** Who decided what, when and why. */
export function DecisionLine({ decision }: { decision: Decision }) {
  const { actor, answer, reason, at, argumentsDigest } = decision;
  const { verb, tone, said } = answerWords(answer);
  return (
    <div className="decision">
      <p className="decision-line">
        <Actor {...actor} />
        <Badge tone={tone}>{verb}</Badge>
        <Ago at={at} />
        <span className="muted mono" title={`What was decided on has the digest ${argumentsDigest}`}>
          {argumentsDigest.slice(0, 10)}
        </span>
      </p>
      {said && (
        <blockquote>
          <Message>{said}</Message>
        </blockquote>
      )}
      {reason && (
        <p>
          <span className="muted">Reason:</span> <Message>{reason}</Message>
        </p>
      )}
    </div>
  );
}
