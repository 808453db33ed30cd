import { expect, test } from 'vitest';

import type { Conflict } from './model';
import {
  bodyOf,
  conflictsByRef,
  gathered,
  isAnswered,
  isWritable,
  keepChoices,
  keptChoices,
  kindWord,
  NO_CHOICES,
  resolutionsOf,
  takersOf,
  type Answer,
  type Choices,
  type Written,
} from './settling';

const conflict = (ref: string, kind: string, ours: string | null = null, theirs: string | null = null) =>
  ({ ref, kind, message: '', base: null, ours, theirs }) as Conflict;
const taken = conflict('f48', 'NAME_TAKEN', 'func help#f48 (a#n1: i64) -> (i64)', '; Two.\nfunc help#f80 () -> (i64)');
const written = (more: Partial<Written> = {}): Written => ({
  kind: 'function',
  ref: 'f2',
  path: 'shop::total',
  take: 'OURS',
  was: 'func total () -> ()',
  text: 'func total () -> (i64)',
  ...more,
});
const choices = (answers: Record<string, Answer>, more: Partial<Choices> = {}): Choices => ({
  ...NO_CHOICES,
  answers: new Map(Object.entries(answers)),
  ...more,
});

test('what collides at one entity stands together', () => {
  const conflicts = [conflict('n1', 'BOTH_EDITED'), conflict('f2', 'NAME_TAKEN'), conflict('n1', 'BOTH_MOVED')];
  expect(conflictsByRef(conflicts).map(([ref, all]) => [ref, all.length])).toEqual([
    ['n1', 2],
    ['f2', 1],
  ]);
});

test('a side is taken as it is', () => {
  const sides = choices({ n1: { how: 'side', take: 'THEIRS' } });
  expect(resolutionsOf([conflict('n1', 'BOTH_EDITED'), conflict('n2', 'BOTH_EDITED')], sides)).toEqual([
    { ref: 'n1', take: 'THEIRS' },
  ]);
  // What is no conflict any more is not sent: the server would refuse all of it.
  expect(resolutionsOf([conflict('n2', 'BOTH_EDITED')], sides)).toEqual([]);
});

test('one text settles all that collides in a function, and is sent once', () => {
  const own: Answer = { how: 'text', written: 'f2' };
  const both = [conflict('n1', 'BOTH_EDITED'), conflict('n2', 'BOTH_EDITED')];
  const given = choices({ n1: own, n2: own }, { texts: new Map([['f2', written()]]) });
  expect(resolutionsOf(both, given)).toEqual([
    { ref: 'n1', take: 'OURS', edits: [{ replaceFunctionText: { ref: 'f2', text: 'func total () -> (i64)' } }] },
    { ref: 'n2', take: 'OURS' },
  ]);
  const unchanged = written({ text: written().was });
  expect(resolutionsOf(both, { ...given, texts: new Map([['f2', unchanged]]) })).toEqual([
    { ref: 'n1', take: 'OURS' },
    { ref: 'n2', take: 'OURS' },
  ]);
  const type = written({ kind: 'type', ref: 't3', text: 'struct P { }' });
  expect(
    resolutionsOf([conflict('t3', 'BOTH_EDITED')], {
      ...choices({ t3: { how: 'text', written: 't3' } }),
      texts: new Map([['t3', type]]),
    }),
  ).toEqual([{ ref: 't3', take: 'OURS', edits: [{ replaceType: { ref: 't3', text: 'struct P { }' } }] }]);
});

test('both of one name stay by other names', () => {
  expect(takersOf([taken])).toEqual([
    { side: 'OURS', ref: 'f48', name: 'help' },
    { side: 'THEIRS', ref: 'f80', name: 'help' },
  ]);
  expect(takersOf([conflict('d3', 'NAME_TAKEN', 'x#d3: i64', 'x#d4: i64')])).toEqual([]);
  const named = (...names: [string, string][]) => choices({ f48: { how: 'names' } }, { names: new Map(names) });
  expect(resolutionsOf([taken], named(['f80', ' help_two ']))).toEqual([
    { ref: 'f48', edits: [{ renameFunction: { ref: 'f80', name: 'help_two' } }] },
  ]);
  expect(isAnswered('f48', [taken], named(['f80', 'help']))).toBe(false);
  expect(resolutionsOf([taken], named())).toEqual([]);
});

test('what is in a function is asked for where its signature alone is told', () => {
  expect([taken.ours, taken.theirs].map(bodyOf)).toEqual(['f48', 'f80']);
  expect(['func help#f48 () -> () {\n  return\n}', 'struct Help#t3 (a: i64)', null].map(bodyOf)).toEqual([
    null,
    null,
    null,
  ]);
});

test('what is settled stays in sight; why an answer is refused stands with what it answers', () => {
  const [one, two] = [conflict('n1', 'BOTH_EDITED'), conflict('n2', 'BOTH_EDITED')];
  expect(gathered([one, two], [two])).toEqual([one, two]);
  const fault = conflict('f48', 'RESOLUTION');
  expect(gathered([one, taken], [fault])).toEqual([one, taken, fault]);
  expect(gathered([one, taken, fault], [taken])).toEqual([one, taken]);
});

test('a contract and a global are settled by texts of their own', () => {
  const own = (ref: string, kind: Written['kind']) =>
    resolutionsOf([conflict(ref, 'BOTH_EDITED')], {
      ...choices({ [ref]: { how: 'text', written: ref } }),
      texts: new Map([[ref, written({ kind, ref, was: 'a', text: 'b' })]]),
    });
  expect(own('k17', 'contract')).toEqual([
    { ref: 'k17', take: 'OURS', edits: [{ replaceContract: { ref: 'k17', text: 'b' } }] },
  ]);
  expect(own('v6', 'storage')).toEqual([
    { ref: 'v6', take: 'OURS', edits: [{ replaceStorage: { ref: 'v6', text: 'b' } }] },
  ]);
});

test('what a conflict is about is told in a word', () => {
  expect(['k17', 'g3', 'main'].map(kindWord)).toEqual(['contract', 'region', '']);
  expect(['k17', 'v6', 'm2', 'main'].map(isWritable)).toEqual([true, true, false, false]);
});

test('what was answered is there again for the same pair, until it is done', () => {
  const choices = { ...NO_CHOICES, answers: new Map([['f1', { how: 'side' as const, take: 'OURS' as const }]]) };
  keepChoices('p fees main', choices);
  expect(keptChoices('p fees main')).toBe(choices);
  expect([keptChoices('p other main'), keptChoices(undefined)]).toEqual([NO_CHOICES, NO_CHOICES]);
  keepChoices('p fees main', NO_CHOICES);
  expect(keptChoices('p fees main')).toBe(NO_CHOICES);
});
