import { CombinedError } from '@urql/core';

import { problemOf, type Problem } from '../../lib/problems';

/** Why the server did not do something, with the part of the input that it is about. */
export interface Refusal extends Problem {
  /** `args[0].x`, `breakpoints[1].condition`. */
  path: readonly string[];
  column: number | null;
  /** Near names that exist. */
  candidates: readonly string[];
}

interface Details {
  path?: unknown;
  column?: unknown;
  candidates?: unknown;
  errors?: Details[];
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : typeof value === 'string' ? [value] : [];
}

/** What to tell of an action that failed. */
export function refusalOf(error: unknown): Refusal {
  const data: Details =
    (error instanceof CombinedError && (error.graphQLErrors[0]?.extensions['data'] as Details | undefined)) || {};
  // The mistake in a text stands in a list of its own.
  const mistake = data.errors?.[0];
  const column = mistake?.column ?? data.column;
  return {
    ...problemOf(error),
    path: strings(data.path),
    column: typeof column === 'number' ? column : null,
    candidates: strings(mistake?.candidates ?? data.candidates),
  };
}
