import { CircleAlert, CircleCheck, CircleDashed, TriangleAlert } from 'lucide-react';

import { Badge, counted, Skeleton } from '../../ui';
import { useLive } from './live';
import { verdictOf } from './verdict';
import { useVerdict } from './verdicts';

const ICONS = { error: CircleAlert, ok: CircleCheck, hole: CircleDashed, warn: TriangleAlert };

/** Whether the program is right after a revision. */
export function Verdict({ revision }: { revision: number }) {
  const { programId } = useLive();
  const answer = useVerdict(programId, revision);
  if (!answer) return <Skeleton width={84} height={20} />;
  if ('problem' in answer)
    return <Badge title={`${answer.problem.code}: ${answer.problem.message}`}>not verified</Badge>;
  const { tone, sign, count, word, title } = verdictOf(answer.verified);
  const Icon = ICONS[sign];
  return (
    <Badge tone={tone} title={title}>
      <Icon size={12} aria-hidden />
      {count === null ? word : counted(count, word)}
    </Badge>
  );
}
