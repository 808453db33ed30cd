import { useState } from 'react';

import { headOf } from './long';
import { Message } from './Message';

/** A text of somebody's, its beginning first where it is long. */
export function Long({ children }: { children: string }) {
  const [open, setOpen] = useState(false);
  const head = headOf(children);
  if (head === null) return <Message>{children}</Message>;
  return (
    <>
      {open ? (
        <span className="long-text">
          <Message>{children}</Message>
        </span>
      ) : (
        <>
          <Message>{head}</Message>…
        </>
      )}{' '}
      <button type="button" className="link" aria-expanded={open} onClick={() => setOpen(!open)}>
        {open ? 'less' : 'more'}
      </button>
    </>
  );
}
