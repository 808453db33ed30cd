import type { Client } from 'urql';
import { expect, test } from 'vitest';

import { freeName, keepCase } from './cases';

test('a case gets a name that none of its function has', () => {
  expect(freeName('breaks on 1, 0', new Set())).toBe('breaks on 1, 0');
  expect(freeName('breaks on 1, 0', new Set(['breaks on 1, 0', 'breaks on 1, 0 (2)']))).toBe('breaks on 1, 0 (3)');
  expect(freeName('x'.repeat(200), new Set())).toHaveLength(60);
});

const answering = (added: object) => {
  const sent: unknown[] = [];
  const client = {
    query: () => ({ toPromise: async () => ({ data: { program: { cases: { nodes: [{ name: 'gives 5' }] } } } }) }),
    mutation: (_: unknown, variables: unknown) => {
      sent.push(variables);
      return { toPromise: async () => added };
    },
  } as unknown as Client;
  return { client, sent };
};
const of = { programId: 'P-1', function: 'f1', args: ['1'], expected: ['5'] };

test('what is kept is told by its name, what is not by the reason', async () => {
  const { client, sent } = answering({ data: { addCase: { case: { name: 'gives 5 (2)' } } } });
  expect(await keepCase(client, of, 'gives 5')).toEqual({ name: 'gives 5 (2)' });
  expect(sent).toEqual([{ input: { ...of, name: 'gives 5 (2)' } }]);
  const { client: failing } = answering({ error: new Error('offline') });
  expect(await keepCase(failing, of, 'gives 5')).toMatchObject({ message: 'offline' });
});
