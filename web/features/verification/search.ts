/** The parts of the verification. */
export type Part = 'findings' | 'contracts' | 'cases';

/** What an address says of the verification. */
export interface VerifySearch {
  /** The part that is shown; without it the findings. */
  tab?: 'contracts' | 'cases';
  severity?: 'ERROR' | 'WARNING';
  /** Only findings with this code. */
  code?: string;
  /** Only what is in functions with this in their path. */
  fn?: string;
}

/** An address without what is empty. */
export function searchOf(parts: { [Key in keyof VerifySearch]: string | null | undefined }): VerifySearch {
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => value)) as VerifySearch;
}
