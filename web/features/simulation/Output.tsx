import { useEffect, useRef, useState } from 'react';
import { useClient } from 'urql';

import { RunOutputDocument } from '../../generated/graphql';
import { chase, type Chase } from '../../lib/chase';

/** How much of an output is shown: its end. */
const SHOWN = 20_000;

/** What was printed up to where the run stands. */
export function Output({ sim, position }: { sim: string; position: number }) {
  const client = useClient();
  const [output, setOutput] = useState<{ stdout: string; stderr: string } | null>(null);
  const asks = useRef<Chase<number>>(null);
  useEffect(() => {
    const chased = chase<number>(async (_, isLeft) => {
      const { data } = await client
        .query(RunOutputDocument, { id: sim }, { requestPolicy: 'network-only' })
        .toPromise();
      if (isLeft() || !data?.simulation) return;
      setOutput({ stdout: data.simulation.stdout ?? '', stderr: data.simulation.result?.stderr ?? '' });
    });
    asks.current = chased;
    return () => chased.leave();
  }, [client, sim]);
  useEffect(() => asks.current?.want(position), [client, sim, position]);

  if (!output || (output.stdout === '' && output.stderr === ''))
    return <p className="muted player-none">Nothing was printed.</p>;
  const cut = (text: string) => (text.length > SHOWN ? `…${text.slice(-SHOWN)}` : text);
  return (
    <>
      {output.stdout !== '' && (
        // Scrolled by keys where it is long.
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        <pre className="output" tabIndex={0} aria-label="Standard output">
          {cut(output.stdout)}
        </pre>
      )}
      {output.stderr !== '' && (
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        <pre className="output error" tabIndex={0} aria-label="Standard error">
          {cut(output.stderr)}
        </pre>
      )}
    </>
  );
}
