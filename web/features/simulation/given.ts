// What a run that was begun elsewhere was given: the API does not tell it, but its outermost call has it while it lasts.
import type { RunGivenQuery } from '../../generated/graphql';
import { unquoted } from '../../lib/values';
import { textOf } from './model';

/** How the API ends a value that is longer than it shows. */
const CUT = '...';

/** What a run was given. */
export interface Given {
  /** As a run takes them: of a string the text itself. */
  args: readonly string[];
  /** Whether they are told in full, so that another run can be given the same. */
  whole: boolean;
}

/** Whether a value is told in full. */
export function isWhole(value: unknown): boolean {
  return !textOf(value).includes(CUT);
}

/** A value as the API takes it, of one that it told: of a string the text itself. */
export function sent(value: string): string {
  return unquoted(value) ?? value.replace(/^(?:[if]\d+|bool):/, '');
}

/** What the outermost call of a run still has of its arguments; null where one of them is not there any more. */
export function givenTo(simulation: RunGivenQuery['simulation']): Given | null {
  const { function: of, callLocals } = simulation ?? {};
  if (!of || !callLocals) return null;
  const args: string[] = [];
  let whole = true;
  for (const port of of.params.keys()) {
    const found = callLocals.find((local) => local.node === of.ref && local.port === port);
    if (!found) return null;
    const text = textOf(found.value);
    whole &&= isWhole(text);
    args.push(sent(text));
  }
  return { args, whole };
}
