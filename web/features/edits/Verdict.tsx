import { CircleAlert, CircleCheck, CircleDashed, TriangleAlert } from 'lucide-react';

import { FeedVerdictDocument } from '../../generated/graphql';
import { useAsk } from '../../lib/ask';
import { Badge, counted, Skeleton } from '../../ui';
import { useLive } from './live';
import { verdictOf } from './verdict';

const ICONS = { error: CircleAlert, ok: CircleCheck, hole: CircleDashed, warn: TriangleAlert };

/** Whether the program is right after a revision. */
export function Verdict({ revision }: { revision: number }) {
  const { programId } = useLive();
  const { data, problem } = useAsk(
    FeedVerdictDocument,
    { id: programId, at: `r${revision}` },
    { requestPolicy: 'cache-first' },
  );
  if (problem) return <Badge title={problem.message}>not verified</Badge>;
  if (!data?.program?.verify) return <Skeleton width={84} height={20} />;
  const { tone, sign, count, word, title } = verdictOf(data.program);
  const Icon = ICONS[sign];
  return (
    <Badge tone={tone} title={title}>
      <Icon size={12} aria-hidden />
      {count === null ? word : counted(count, word)}
    </Badge>
  );
}
