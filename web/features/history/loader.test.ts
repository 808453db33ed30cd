import { CombinedError } from '@urql/core';
import { GraphQLError } from 'graphql';
import { expect, test } from 'vitest';

import { openLoader, type Ask, type Loaded } from './loader';
import type { Item } from './model';

const page = (numbers: number[], endCursor: string | null = null) => ({
  pageInfo: { hasNextPage: endCursor !== null, endCursor },
  nodes: numbers.map((number) => ({ number }) as Item),
});
const gone = new CombinedError({ graphQLErrors: [new GraphQLError('no', { extensions: { code: 'NOT_FOUND' } })] });

/** A loader whose questions are written down, and what it told last once all are answered. */
function loading(ask: Ask) {
  const asked: string[] = [];
  let last: Loaded | undefined;
  const loader = openLoader(
    (branch, first, after) => {
      asked.push(`${branch} ${first} ${after}`);
      return ask(branch, first, after);
    },
    (loaded) => (last = loaded),
  );
  const told = async () => {
    await new Promise((done) => setTimeout(done));
    return last;
  };
  return { loader, asked, told };
}
const numbers = (loaded: Loaded | undefined, branch: string) =>
  loaded?.lines.get(branch)?.items.map(({ number }) => number);

test('what is wanted while something is on its way is asked once, after it', async () => {
  const { loader, asked, told } = loading(async () => page([3, 2], 'c'));
  loader.renew(['main']);
  loader.renew(['main']);
  loader.renew(['main', 'fees']);
  await told();
  expect(asked).toEqual(['main 60 null', 'main 60 null', 'fees 60 null']);
  loader.lengthen(['main']);
  await told();
  expect(asked.at(-1)).toBe('main 60 c');
});

test('a branch that is not there any more is left out; what fails otherwise is told', async () => {
  const answers: Record<string, () => Promise<ReturnType<typeof page>>> = {
    main: async () => page([3]),
    fees: () => Promise.reject(gone),
    down: () => Promise.reject(new CombinedError({ networkError: new Error('offline') })),
  };
  const { loader, told } = loading((branch) => answers[branch]?.() ?? Promise.reject(gone));
  loader.renew(['main', 'fees']);
  const both = await told();
  expect([numbers(both, 'main'), both?.lines.has('fees'), both?.problem]).toEqual([[3], false, undefined]);
  loader.renew(['down']);
  expect((await told())?.problem?.code).toBe('OFFLINE');
  const none = loading(() => Promise.reject(gone));
  none.loader.renew(['main']);
  expect((await none.told())?.problem?.code).toBe('NOT_FOUND');
});
