import type { Verified } from './verdicts';

/** What the verifier says of a revision, for a badge. */
export interface VerdictFacts {
  tone: 'ok' | 'warn' | 'error';
  sign: 'ok' | 'hole' | 'warn' | 'error';
  /** How many of what the word says; null where nothing is counted. */
  count: number | null;
  word: string;
  /** The findings where the revision changed something, a line each. */
  title: string;
}

/** The worst that is to say of the whole program; the findings of what the revision touched stand in the title. */
export function verdictOf({ verify, stats }: Pick<Verified, 'verify' | 'stats'>): VerdictFacts {
  const findings = [...(verify?.errors ?? []), ...(verify?.warnings ?? [])];
  const title =
    findings.length > 0
      ? findings
          .slice(0, 10)
          .map(({ code, message }) => `${code}: ${message}`)
          .join('\n')
      : 'no finding where it changed something';
  const holes = stats?.holes ?? 0;
  const errors = verify?.errors.length ?? 0;
  if (errors > 0) return { tone: 'error', sign: 'error', count: errors, word: 'error', title };
  if (verify?.complete) return { tone: 'ok', sign: 'ok', count: null, word: 'complete', title };
  if (holes > 0) return { tone: 'warn', sign: 'hole', count: holes, word: 'hole', title };
  return { tone: 'warn', sign: 'warn', count: null, word: 'incomplete', title };
}
