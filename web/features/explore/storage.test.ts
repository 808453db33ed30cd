import { expect, test } from 'vitest';

import { storage } from './storage';

test('what is kept has no headers, and still their field', () => {
  const headers = '{"Authorization":"Bearer lml_secret"}';
  storage.setItem('graphiql:tabState', JSON.stringify({ activeTabIndex: 0, tabs: [{ title: 'Q', headers }] }));
  const kept = storage.getItem('graphiql:tabState') ?? '';
  expect(JSON.parse(kept)).toEqual({ activeTabIndex: 0, tabs: [{ title: 'Q', headers: null }] });
  storage.setItem('graphiql:theme', 'dark');
  expect(storage.getItem('graphiql:theme')).toBe('dark');
});
