import { expect, test } from 'vitest';

import { use } from './testing';
import { useKept } from './useKept';

test('what was entered is there again for the same, until it is sent', async () => {
  const entered = (key: string) => use(() => useKept(key, () => 'nothing'), {});
  const first = await entered('start review');
  await first.during(async () => first.now()[1]('a fee'));
  const [back, other] = [await entered('start review'), await entered('start act')];
  expect([back.now()[0], other.now()[0]]).toEqual(['a fee', 'nothing']);
  back.now()[2]();
  expect((await entered('start review')).now()[0]).toBe('nothing');
});
