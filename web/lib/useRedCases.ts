import { CaseStatesDocument } from '../generated/graphql';
import { useAsk } from './ask';

/** How many of the first 200 test cases of a program fail at a view; null until that is known, and while nobody looks. */
export function useRedCases(programId: string, at: string | null, looked = true): number | null {
  const asked = useAsk(CaseStatesDocument, { id: programId, at }, { requestPolicy: 'cache-first', pause: !looked });
  const cases = asked.data?.program?.cases?.nodes;
  return cases ? cases.filter(({ status }) => status === 'RED').length : null;
}
