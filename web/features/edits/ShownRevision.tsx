import { History, Pin } from 'lucide-react';
import type { ReactNode } from 'react';

import { useLive } from './live';

/** A way to what is shown at another revision; null: at the head, which moves. */
export interface RevisionLink {
  rev: number | null;
  className: string;
  title?: string;
  children: ReactNode;
}

/** Which revision is shown: the head, which can be kept, or one that is kept, with the way to the head. */
export function ShownRevision({ rev, link }: { rev: number | undefined; link(props: RevisionLink): ReactNode }) {
  const { feed } = useLive();
  if (rev === undefined)
    return (
      <span className="function-revision">
        {link({
          rev: feed.head,
          title: 'Keep this revision',
          className: 'button plain',
          children: (
            <>
              <Pin size={13} aria-hidden />
              <span className="numeric">r{feed.head}</span>
            </>
          ),
        })}
      </span>
    );
  const old = feed.head !== null && rev < feed.head;
  return (
    <output className="function-revision pinned">
      <History size={13} aria-hidden />
      <span>
        {old ? (
          <>
            This is <b>r{rev}</b>, read-only; the head is r{feed.head}.
          </>
        ) : (
          <>
            Kept at <b>r{rev}</b>: changes do not show.
          </>
        )}
      </span>
      {link({ rev: null, className: 'button', children: 'Go to the head' })}
    </output>
  );
}
