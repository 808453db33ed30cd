import { CaseStatesDocument } from '../generated/graphql';
import { useAsk } from './ask';

/** How many of the first 200 test cases of a program fail at a view; null until that is known. */
export function useRedCases(programId: string, at: string | null): number | null {
  const { data } = useAsk(CaseStatesDocument, { id: programId, at }, { requestPolicy: 'cache-first' });
  const cases = data?.program?.cases?.nodes;
  return cases ? cases.filter(({ status }) => status === 'RED').length : null;
}
