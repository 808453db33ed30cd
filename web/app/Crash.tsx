import { RotateCw } from 'lucide-react';
import { useState } from 'react';

import { useTitle } from '../lib/title';
import { Notice } from '../ui';
import { isNotLoaded } from './loaded';

/** In place of a view that failed. What stands around it goes on. */
export function Crash({ error, reset }: { error: unknown; reset: () => void }) {
  const missing = isNotLoaded(error);
  useTitle('This view failed');
  const [away, setAway] = useState(false);
  const again = async () => {
    if (!missing) return reset();
    // What failed to load once stays so in this document; loaded anew without a server there would be no page at all.
    const there = await fetch(window.location.pathname, { cache: 'no-store' }).catch(() => null);
    if (there?.ok) window.location.reload();
    else setAway(true);
  };
  return (
    <div className="page narrow">
      <h1 className="hidden">lmlang</h1>
      <Notice
        tone="error"
        title={
          missing ? 'This view could not be loaded. See whether the server runs and try again.' : 'This view failed.'
        }
        actions={
          <>
            <button type="button" className="button" onClick={() => void again()}>
              <RotateCw size={14} aria-hidden />
              {missing ? 'Load the page again' : 'Show it again'}
            </button>
            <a className="button" href="#/">
              All programs
            </a>
          </>
        }
      >
        <p className="muted">{error instanceof Error ? error.message : String(error)}</p>
        {away && <p role="status">The server cannot be reached yet.</p>}
      </Notice>
    </div>
  );
}
