import { expect, test } from 'vitest';

import { introduced, introduction } from './fetcher';

test('GraphiQL is who the dashboard is, unless its own headers say otherwise', () => {
  const nobody = { token: null, author: null };
  expect(introduced(nobody)).toEqual({});
  expect(introduced(nobody, { Authorization: 'Bearer mine' })).toEqual({ Authorization: 'Bearer mine' });
  const ada = { token: 'lml_1', author: 'ada' };
  const all = { authorization: 'Bearer lml_1', 'lmlang-author': 'ada', 'lmlang-author-kind': 'HUMAN' };
  expect(introduced(ada)).toEqual(all);
  expect(introduced(ada, { Authorization: 'Bearer mine' })).toEqual({ ...all, authorization: 'Bearer mine' });
});

test('a WebSocket is told what headers say', () => {
  expect(introduction({ Authorization: 'Bearer a', 'LMLANG-Author': 'ada', accept: '*/*' })).toEqual({
    authorization: 'Bearer a',
    author: 'ada',
  });
});
