import { useEffect, useMemo } from 'react';

import { VerifyFunctionsDocument } from '../../generated/graphql';
import { usePages } from '../../lib/pages';
import type { Problem } from '../../lib/problems';
import type { Contracted } from './model';

/** The functions of a program, all of them. */
export interface Functions {
  list: readonly Contracted[] | undefined;
  paths: ReadonlyMap<string, string>;
  problem: Problem | undefined;
  refresh(): void;
}

/** Loads the functions of a revision with their contracts, page by page to the end. */
export function useFunctions(programId: string, at: string | null): Functions {
  const { items, problem, more, refresh } = usePages({
    document: VerifyFunctionsDocument,
    variables: { id: programId, at },
    pageOf: ({ program }) => program?.functions,
    keyOf: ({ ref }: Contracted) => ref,
  });
  // Contracts stand all over a program: the list is of use only when it is whole.
  useEffect(() => {
    if (!problem) more?.();
  }, [more, problem]);
  const paths = useMemo(() => new Map(items?.map(({ ref, path }) => [ref, path])), [items]);
  return { list: items, paths, problem, refresh };
}
