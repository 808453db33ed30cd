import type { RefObject } from 'react';

import { KEYS } from './keys';

/** The list of the player's keys. */
export function KeyList({ dialog }: { dialog: RefObject<HTMLDialogElement | null> }) {
  return (
    <dialog ref={dialog} className="dialog keys" aria-labelledby="keys-title">
      <h2 id="keys-title">Keys</h2>
      <dl>
        {KEYS.map(({ keys, what }) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
        <div>
          <dt>
            <kbd>←</kbd> <kbd>→</kbd>
          </dt>
          <dd>a step back or forward; in the graph and the text: to another node; in tabs: to the next one</dd>
        </div>
      </dl>
      <p className="muted">They work while the focus is in the player, and not in a field.</p>
      <form method="dialog" className="acts">
        <span className="gap" />
        <button type="submit" className="button">
          Close
        </button>
      </form>
    </dialog>
  );
}
