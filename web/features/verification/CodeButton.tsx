import { useId, useRef, useState } from 'react';

import { VerifyCodeDocument } from '../../generated/graphql';
import { useAsk } from '../../lib/ask';
import { ProblemPanel, SkeletonRows } from '../../ui';

/** The gap between the button and its page, and the width of that, in pixels. */
const GAP = 6;
const WIDTH = 460;

/** A code that opens its page: what it means, an example, and what to do. */
export function CodeButton({ code }: { code: string }) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const [place, setPlace] = useState<{ left: number; top: number; open: boolean }>({ left: 0, top: 0, open: false });

  const put = (open: boolean) => {
    const box = button.current?.getBoundingClientRect();
    if (!open || !box) return setPlace((before) => ({ ...before, open }));
    const width = Math.min(WIDTH, window.innerWidth - 2 * GAP);
    const left = Math.max(GAP, Math.min(box.left, window.innerWidth - width - GAP));
    // Where there is no room below, it stands above as far as that goes.
    const top = box.bottom + GAP + 320 > window.innerHeight ? Math.max(GAP, box.top - 320 - GAP) : box.bottom + GAP;
    setPlace({ left, top, open });
  };

  return (
    <>
      <button
        ref={button}
        type="button"
        className="code-button mono"
        popoverTarget={id}
        aria-label={`What ${code} means`}
        aria-expanded={place.open}
      >
        {code}
      </button>
      <div
        id={id}
        popover="auto"
        role="dialog"
        aria-label={`What ${code} means`}
        className="code-page"
        style={{ left: place.left, top: place.top }}
        onBeforeToggle={(event) => put(event.newState === 'open')}
      >
        {place.open && <CodePage code={code} />}
      </div>
    </>
  );
}

function CodePage({ code }: { code: string }) {
  const { data, problem, refresh } = useAsk(VerifyCodeDocument, { code }, { requestPolicy: 'cache-first' });
  const page = data?.diagnosticCode;
  if (problem && !page) return <ProblemPanel problem={problem} onRetry={refresh} />;
  if (!page) return <SkeletonRows rows={4} label="Loading the page of the code" />;
  return (
    <>
      <h3>
        <code>{page.code}</code> {page.title}
      </h3>
      <p>{page.meaning}</p>
      <pre>{page.example.trimEnd()}</pre>
      <p>
        <b>Repair.</b> {page.repair}
      </p>
      {page.repaired !== null && <pre>{page.repaired.trimEnd()}</pre>}
    </>
  );
}
