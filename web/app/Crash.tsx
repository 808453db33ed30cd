import { RotateCw } from 'lucide-react';

import { Notice } from '../ui';

/** In place of a view that failed. What stands around it goes on. */
export function Crash({ error, reset }: { error: unknown; reset: () => void }) {
  return (
    <div className="page narrow">
      <h1 className="hidden">lmlang</h1>
      <Notice
        tone="error"
        title="This view failed."
        actions={
          <>
            <button type="button" className="button" onClick={reset}>
              <RotateCw size={14} aria-hidden />
              Show it again
            </button>
            <a className="button" href="#/">
              All programs
            </a>
          </>
        }
      >
        <p className="muted">{error instanceof Error ? error.message : String(error)}</p>
      </Notice>
    </div>
  );
}
