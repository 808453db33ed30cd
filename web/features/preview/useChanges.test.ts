import { expect, test } from 'vitest';

import { use } from '../../lib/testing';
import type { AskPart, Diff, FunctionChange, Part } from './model';
import { useChanges } from './useChanges';

const change = (ref: string) => ({ ref, path: ref, change: 'MODIFIED' as const, added: [], modified: [], removed: [] });
const program = { programId: 'p' };
/** A page of three functions. */
const page = (refs: string[], endCursor: string | null) => ({
  totalCount: 3,
  pageInfo: { hasNextPage: endCursor !== null, endCursor },
  edges: refs.map((ref) => ({ cursor: `at ${ref}` })),
  nodes: refs.map(change),
});
const diff = (refs: string[], endCursor: string | null) =>
  ({ functions: page(refs, endCursor) }) as Partial<Diff> as Diff;

/** Answers one page after the other, and keeps what it was asked for. */
function answering(...answers: Awaited<ReturnType<AskPart>>[]) {
  const asked: Part[] = [];
  const ask: AskPart = async (part) => {
    asked.push(part);
    const answer = answers[asked.length - 1];
    if (answer === undefined) throw new Error('offline');
    return answer;
  };
  return { ask, asked };
}
const refs = ({ items }: { items: readonly FunctionChange[] }) => items.map(({ ref }) => ref).join(' ');

test('functions come with the difference, then page by page', async () => {
  const { ask, asked } = answering({ functions: page(['f2'], 'b') }, { functions: page(['f3'], null) });
  const changes = await use(useChanges, {}, { ...program, diff: diff(['f1'], 'a'), ask });
  expect([refs(changes.now()), changes.now().total]).toEqual(['f1', 3]);
  await changes.during(async () => changes.now().more?.());
  await changes.during(async () => changes.now().more?.());
  expect([refs(changes.now()), changes.now().more]).toEqual(['f1 f2 f3', undefined]);
  expect(changes.now().items.map(({ behind }) => behind)).toEqual([null, 'a', 'b']);
  expect(asked).toEqual([
    { first: 200, after: 'a' },
    { first: 200, after: 'b' },
  ]);
});

test('what did not come says why, and is asked for again', async () => {
  const { ask, asked } = answering(null);
  const changes = await use(useChanges, {}, { ...program, diff: diff(['f1'], 'a'), ask });
  await changes.during(async () => changes.now().more?.());
  expect(changes.now()).toMatchObject({ problem: { code: 'CONFLICT' }, fetching: false });
  await changes.during(async () => changes.now().more?.());
  expect(changes.now().problem?.message).toBe('offline');
  expect(asked).toHaveLength(2);
});

test('another difference begins anew', async () => {
  const { ask } = answering({ functions: page(['f2'], 'b') });
  const changes = await use(useChanges, {}, { ...program, diff: diff(['f1'], 'a'), ask });
  const late = changes.now().more;
  await changes.again({ ...program, diff: diff(['f9'], null), ask });
  expect([refs(changes.now()), changes.now().more]).toEqual(['f9', undefined]);
  await changes.during(async () => late?.());
  expect(refs(changes.now())).toBe('f9');
});
