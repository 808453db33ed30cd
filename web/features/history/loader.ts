import { chase } from '../../lib/chase';
import { problemOf, type Problem } from '../../lib/problems';
import { lengthened, renewed, type Line, type LinePage, type Lines } from './model';

/** How many revisions of a branch are asked for at first, and more each time. */
export const PAGE = 60;
/** No more than these are asked for at once to see what has become of what is shown. */
const RENEWED = 240;

/** How far lines are loaded. */
export interface Loaded {
  lines: Lines;
  /** The branches that were answered, with revisions or without. */
  answered: ReadonlySet<string>;
  fetching: boolean;
  problem: Problem | undefined;
}

/** Asks for revisions of a branch: so many, after a cursor. */
export type Ask = (branch: string, first: number, after: string | null) => Promise<LinePage>;

/** Loads lines; what is wanted while something is on its way is done together, after it. */
export interface Loader {
  /** Asks again from the top. */
  renew(branches: readonly string[]): void;
  /** Asks for the next page. */
  lengthen(branches: readonly string[]): void;
  leave(): void;
}

/** Opens a loader, which tells whenever it knows more. */
export function openLoader(ask: Ask, tell: (loaded: Loaded) => void): Loader {
  let lines: Lines = new Map();
  let answered: ReadonlySet<string> = new Set();
  const wanted = new Map<string, 'renew' | 'lengthen'>();

  const load = async (branch: string, how: 'renew' | 'lengthen'): Promise<Line> => {
    const line = lines.get(branch);
    if (how === 'lengthen' && line && line.next !== null) return lengthened(line, await ask(branch, PAGE, line.next));
    const first = Math.min(RENEWED, Math.max(PAGE, line?.items.length ?? 0));
    return renewed(line, await ask(branch, first, null));
  };

  const chased = chase<null>(async (_, isLeft) => {
    const work = [...wanted];
    wanted.clear();
    tell({ lines, answered, fetching: true, problem: undefined });
    const answers = await Promise.allSettled(work.map(([branch, how]) => load(branch, how)));
    if (isLeft()) return;
    const next = new Map(lines);
    const problems: Problem[] = [];
    answers.forEach((answer, at) => {
      const branch = work[at]?.[0] ?? '';
      if (answer.status === 'fulfilled') next.set(branch, answer.value);
      else {
        const problem = problemOf(answer.reason);
        // A branch that has just been removed, or that never had what is looked for, has nothing to show.
        if (problem.code === 'NOT_FOUND') next.delete(branch);
        problems.push(problem);
      }
    });
    lines = next;
    answered = new Set([...answered, ...work.map(([branch]) => branch)]);
    const problem = problems.find(({ code }) => code !== 'NOT_FOUND' || next.size === 0);
    tell({ lines, answered, fetching: false, problem });
  });

  const want = (branches: readonly string[], how: 'renew' | 'lengthen') => {
    // Who asks again from the top gets what a next page would bring later.
    for (const branch of branches) if (wanted.get(branch) !== 'renew') wanted.set(branch, how);
    if (wanted.size > 0) chased.want(null);
  };
  return {
    renew: (branches) => want(branches, 'renew'),
    lengthen: (branches) => want(branches, 'lengthen'),
    leave: () => chased.leave(),
  };
}
