import type { InterruptStatus } from '../../generated/graphql';

/** What an address says of the inbox. */
export interface ApprovalsSearch {
  /** Which questions are shown; without it the open ones. */
  status?: Exclude<InterruptStatus, 'OPEN'>;
  /** The question that is looked at. */
  id?: string;
}
