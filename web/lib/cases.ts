// Test cases that are made of what was run.
import type { Client } from 'urql';

import { CaseNamesDocument, KeepCaseDocument, type AddCaseInput } from '../generated/graphql';
import { problemOf, type Problem } from './problems';

const LONGEST_NAME = 60;

/** A name for a case that no case of its function has: the words, cut and numbered as it needs. */
export function freeName(words: string, taken: ReadonlySet<string>): string {
  const name = words.length > LONGEST_NAME ? `${words.slice(0, LONGEST_NAME - 1)}…` : words;
  let free = name;
  for (let at = 2; taken.has(free); at += 1) free = `${name} (${at})`;
  return free;
}

/** Keeps what was run as a test case, by its words; tells the name that it got, or why it was not kept. */
export async function keepCase(
  client: Client,
  test: Omit<AddCaseInput, 'name'>,
  words: string,
): Promise<{ name: string } | Problem> {
  const of = { id: test.programId, function: test.function };
  const known = await client.query(CaseNamesDocument, of, { requestPolicy: 'network-only' }).toPromise();
  const taken = known.data?.program?.cases?.nodes.map(({ name }) => name);
  const name = freeName(words, new Set(taken));
  const { data, error } = await client.mutation(KeepCaseDocument, { input: { ...test, name } }).toPromise();
  return data?.addCase?.case ? { name: data.addCase.case.name } : problemOf(error);
}
