import type { RunStatus } from '../../generated/graphql';

/** What an address says of the list of runs. */
export interface RunsSearch {
  /** Only runs of this flow. */
  flow?: string;
  /** Only runs that stand like this. */
  status?: RunStatus;
  /** Only runs of this session. */
  session?: string;
}

/** What an address says of a run that is to be started. */
export interface StartSearch {
  /** The flow. */
  flow?: string;
  /** The session that the run belongs to; without it one of its own. */
  session?: string;
  /** The run whose input is taken over. */
  from?: string;
}

/** How much of a timeline is shown. */
export type Density = 'compact' | 'normal' | 'detailed';

/** What an address says of a run. */
export interface RunViewSearch {
  /** How much of each step is shown; `normal` where it does not say. */
  density?: Exclude<Density, 'normal'>;
  /** Only what failed. */
  failed?: true;
}
