import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';

import type { TokenScope } from '../generated/graphql';
import { useCaller } from './caller';

/** A link to what needs a scope; where the token lacks that, a button in its place that is off and says so. */
export function Allowed(props: { scope: TokenScope; icon: LucideIcon; word: string; children: ReactNode }) {
  const { scope, icon: Icon, word, children } = props;
  const lacks = useCaller().lacks(scope);
  if (lacks === null) return children;
  return (
    <button type="button" className="button" disabled title={lacks}>
      <Icon size={13} aria-hidden />
      {word}
    </button>
  );
}
