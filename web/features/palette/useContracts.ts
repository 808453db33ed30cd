import { useEffect, useState } from 'react';
import { useClient } from 'urql';

import { PaletteContractsDocument } from '../../generated/graphql';
import { programKey } from '../../lib/program';
import type { Contracts } from './model';

const NONE: Contracts = new Map();

/** What the contracts of some functions say. What was said stays while more is on its way. */
export function useContracts(program: string, functions: readonly string[]): Contracts {
  const client = useClient();
  const [known, setKnown] = useState(NONE);
  const wanted = functions.join(' ');
  useEffect(() => {
    if (wanted === '') return;
    let left = false;
    const asked = wanted.split(' ').map(async (name) => {
      const variables = { ...programKey(program), function: name };
      const { data } = await client.query(PaletteContractsDocument, variables).toPromise();
      return data?.program?.function?.contracts ?? [];
    });
    void Promise.all(asked).then((found) => {
      if (left) return;
      setKnown((before) => new Map([...before, ...found.flat().map((contract) => [contract.ref, contract] as const)]));
    });
    return () => {
      left = true;
    };
  }, [client, program, wanted]);
  return known;
}
