import { RotateCw } from 'lucide-react';
import type { ReactNode } from 'react';

import { Message } from './Message';
import { Notice } from './Notice';

/** Why a request was not carried out, as the server or the network says it. */
export interface Problem {
  /** The stable code: `NOT_FOUND`. */
  code: string;
  /** The problem, in the server's words. */
  message: string;
  /** What the reader can do. */
  action: string;
}

/** The panel in place of what could not be loaded: the code, the problem, what to do, another try, and ways out. */
export function ProblemPanel(props: { problem: Problem; onRetry?: () => void; children?: ReactNode }) {
  const { problem, onRetry, children } = props;
  return (
    <Notice
      tone="error"
      title={problem.action}
      actions={
        (onRetry || children) && (
          <>
            {onRetry && (
              <button type="button" className="button" onClick={onRetry}>
                <RotateCw size={14} aria-hidden />
                Try again
              </button>
            )}
            {children}
          </>
        )
      }
    >
      <p className="muted">
        <code>{problem.code}</code> · <Message>{problem.message}</Message>
      </p>
    </Notice>
  );
}
