import { Link } from '@tanstack/react-router';

import { ProblemPanel, type Problem } from '../ui';

/** In place of a function that cannot be shown: why, and where else to look if it is not there. */
export function AbsentFunction(props: {
  name: string;
  program: string;
  /** The revision that was looked at; undefined: the head. */
  rev: number | undefined;
  problem: Problem;
  onRetry(): void;
}) {
  const { name, program, rev, problem, onRetry } = props;
  return (
    <div className="page narrow">
      <h1 className="mono">{name}</h1>
      <ProblemPanel problem={problem} onRetry={onRetry}>
        {problem.code === 'NOT_FOUND' && (
          <>
            {rev !== undefined && (
              <Link to="/p/$program/f/$function" params={{ program, function: name }} className="button">
                Look at the head
              </Link>
            )}
            <Link to="/p/$program" params={{ program }} className="button">
              All functions of {program}
            </Link>
          </>
        )}
      </ProblemPanel>
    </div>
  );
}
