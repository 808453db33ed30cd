import { ChevronLeft, ChevronRight } from 'lucide-react';
import { Fragment, useId, useState } from 'react';

import { RunMemoryDocument } from '../../generated/graphql';
import { Message } from '../../ui';
import { addressTyped, LINE, lineStart, linesOf, PAGE, type Bytes } from './bytes';
import { useLook } from './useLook';

/** A page of linear memory where the run stands; what the last move changed is marked. */
export function Memory({ sim, position }: { sim: string; position: number }) {
  const field = useId();
  const [address, setAddress] = useState(0);
  const [typed, setTyped] = useState('0x0');
  const [seen, setSeen] = useState<{ now: Bytes; size: number; position: number; before: Bytes | null }>();
  const looked = useLook(RunMemoryDocument, { id: sim, address, length: PAGE }, position);
  const memory = looked.data?.simulation?.memory;
  if (memory && looked.position !== null) {
    const now = { address: Number(memory.address), hex: memory.hex };
    const moved = seen && seen.position !== looked.position;
    if (!seen || moved || seen.now.address !== now.address)
      setSeen({ now, size: Number(memory.size), position: looked.position, before: moved ? seen.now : null });
  }

  const size = seen?.size ?? 0;
  const wanted = addressTyped(typed);
  const wrong = wanted === null || (seen && wanted >= size);
  const go = (to: number) => {
    setAddress(to);
    setTyped(`0x${to.toString(16)}`);
  };
  return (
    <section aria-label="Memory">
      <h2 className="muted">Memory</h2>
      <form
        className="memory-head"
        onSubmit={(event) => {
          event.preventDefault();
          if (wanted !== null && !wrong) setAddress(lineStart(wanted));
        }}
      >
        <label htmlFor={field} className="muted">
          Address
        </label>
        <input
          id={field}
          className="field mono"
          value={typed}
          size={12}
          aria-invalid={Boolean(wrong)}
          onChange={(event) => setTyped(event.target.value)}
        />
        <button
          type="button"
          className="button plain icon"
          aria-label="Earlier bytes"
          disabled={address === 0}
          onClick={() => go(Math.max(0, address - PAGE))}
        >
          <ChevronLeft size={14} aria-hidden />
        </button>
        <button
          type="button"
          className="button plain icon"
          aria-label="Later bytes"
          disabled={address + PAGE >= size}
          onClick={() => go(address + PAGE)}
        >
          <ChevronRight size={14} aria-hidden />
        </button>
        <span className="muted" role={wrong ? 'alert' : undefined}>
          {wanted === null
            ? 'An address is a number, such as 1024 or 0x400.'
            : wrong
              ? `The memory ends at ${size.toLocaleString('en')}.`
              : `of ${size.toLocaleString('en')} bytes`}
        </span>
      </form>
      {looked.problem ? (
        <p className="muted player-none">
          <Message>{looked.problem.message}</Message>
        </p>
      ) : (
        seen && (
          // Scrolled by keys where it is wide.
          <pre
            className="memory"
            // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
            tabIndex={0}
            aria-label="Bytes"
            data-address={seen.now.address}
            data-fresh={looked.fresh}
          >
            {linesOf(seen.now, seen.before).map(({ address: start, bytes, letters }) => (
              <Fragment key={start}>
                <span className="muted">{`0x${start.toString(16).padStart(8, '0')}`}</span>
                {'  '}
                {bytes.map(({ hex, changed }, at) => (
                  <Fragment key={start + at}>
                    {changed ? <mark title="The last move changed it">{hex}</mark> : hex}{' '}
                  </Fragment>
                ))}
                {'   '.repeat(LINE - bytes.length)} {letters}
                {'\n'}
              </Fragment>
            ))}
          </pre>
        )
      )}
    </section>
  );
}
