import type { Client } from 'urql';
import { expect, test } from 'vitest';

import { PreviewEditsDocument, PreviewEditsPartDocument } from '../../generated/graphql';
import type { Preview } from './model';
import type { Asking } from './PreviewDialog';
import { proposed } from './propose';

const EDITS = [{ renameFunction: { ref: 'f1', name: 'price' } }];
const asking = (more: Partial<Asking> = {}): Asking => ({
  dryRun: true,
  head: 7,
  message: null,
  key: 'k',
  resolutions: [],
  ...more,
});
const applied = (more: object) => ({
  data: {
    proposeEdit: {
      outcome: {
        __typename: 'EditApplied',
        revision: null,
        diagnosticsAdded: [],
        diagnosticsResolved: [],
        rebasedOver: [],
        program: { diagnostics: { totalCount: 2 } },
        ...more,
      },
    },
  },
});
const CHANGED = { added: 0, removed: 0, modified: 1, functions: 1 };
const DIFF = { from: { number: 7 }, to: null, text: '', functions: null, changed: CHANGED };

/** Edits of which each mutation has its answer, and what was sent. */
function answering(...answers: object[]) {
  const sent: { document: unknown; variables: Record<string, unknown> }[] = [];
  const mutation = (document: unknown, variables: Record<string, unknown>) => {
    const at = sent.push({ document, variables }) - 1;
    return { toPromise: async () => answers[at] };
  };
  const client = { mutation } as unknown as Client;
  return { sent, propose: (how: Asking) => proposed(client, 'p', { edits: EDITS, message: 'Why' }, how) };
}
const differenceOf = (preview: Preview) => (preview.state === 'made' ? preview.difference : null);

test('what edits would change comes with their preview, and its parts by trying them again', async () => {
  const part = { from: { number: 7 }, one: { nodes: [] } };
  const { sent, propose } = answering(applied({ diff: DIFF }), applied({ diff: part }));
  const preview = await propose(asking());
  expect(preview).toMatchObject({ state: 'made', revision: null, remaining: 2 });
  const difference = differenceOf(preview);
  expect(difference).toMatchObject({ programId: 'p', diff: DIFF, first: 'text' });

  const whole = { after: null, whole: true, nodes: null, regions: null } as const;
  expect(await difference?.ask(whole)).toBe(part);
  const input = { programId: 'p', dryRun: true, edits: EDITS, message: 'Why', baseRevision: 'r7' };
  expect(sent).toEqual([
    { document: PreviewEditsDocument, variables: { input, shown: true } },
    { document: PreviewEditsPartDocument, variables: { input, ...whole } },
  ]);
});

test('edits that change nothing are nothing to do', async () => {
  const diff = { ...DIFF, changed: { ...CHANGED, modified: 0 } };
  const { propose } = answering(applied({ diff }));
  expect(await propose(asking())).toEqual({ state: 'nothing', reason: 'the program is like this already' });
});

test('what would change on another head, or not at all any more, is no part of it', async () => {
  const conflict = { data: { proposeEdit: { outcome: { __typename: 'EditConflict' } } } };
  const offline = { error: new Error('offline') };
  const { propose } = answering(applied({ diff: DIFF }), applied({ diff: { from: { number: 8 } } }), conflict, offline);
  const difference = differenceOf(await propose(asking()));
  const part = { after: null, first: 200 };
  expect([await difference?.ask(part), await difference?.ask(part)]).toEqual([null, null]);
  await expect(difference?.ask(part)).rejects.toBe(offline.error);
});

test('of what is made nothing is asked that nobody sees', async () => {
  const { sent, propose } = answering(applied({ revision: { number: 8 } }));
  const preview = await propose(asking({ dryRun: false, message: 'Better' }));
  expect(preview).toMatchObject({ state: 'made', revision: 8, difference: null });
  expect(sent[0]?.variables).toMatchObject({ shown: false, input: { message: 'Better', idempotencyKey: 'k' } });
});
