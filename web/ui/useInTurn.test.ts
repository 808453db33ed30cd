import { expect, test } from 'vitest';

import { use } from '../lib/testing';
import { useInTurn } from './useInTurn';

test('what loads stands in turn once, and what is opened later hides nothing', async () => {
  const used = await use(() => useInTurn(), {});
  const element = document.createElement('div');
  element.innerHTML = '<section><span class="skeleton"></span></section><section></section>';
  document.body.append(element);
  const leave = used.now()(element);
  expect(element.classList.contains('in-turn')).toBe(true);
  element.querySelector('.skeleton')?.remove();
  await expect.poll(() => element.classList.contains('in-turn')).toBe(false);
  element.lastElementChild?.append(Object.assign(document.createElement('span'), { className: 'skeleton' }));
  await new Promise((done) => setTimeout(done));
  expect(element.classList.contains('in-turn')).toBe(false);
  leave?.();
});
