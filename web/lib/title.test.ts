import { expect, test } from 'vitest';

import { setTitle, setWaiting, titleOf } from './title';

test('what waits stands first', () => {
  expect(titleOf('Runs · lmlang', 2)).toBe('(2) Runs · lmlang');
  expect(titleOf('Runs · lmlang', 0)).toBe('Runs · lmlang');
});

test('the count stays when the page becomes another one, and goes with what waited', () => {
  document.head.innerHTML = '<link rel="icon" href="data:," />';
  const icon = () => document.querySelector<HTMLLinkElement>('link[rel="icon"]')?.href ?? '';
  setWaiting(3);
  setTitle('Edits · shop');
  expect(document.title).toBe('(3) Edits · shop · lmlang');
  expect(icon()).toContain('d92d20');
  setWaiting(0);
  expect([document.title, icon().includes('d92d20')]).toEqual(['Edits · shop · lmlang', false]);
});
