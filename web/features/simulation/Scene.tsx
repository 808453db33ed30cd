import { useCallback, useState, type ReactNode } from 'react';

import { Notice } from '../../ui';
import { GraphPane, openedBy, TextPane, type Mark } from '../function';
import type { Stage } from './useStage';

const UNLIT: ReadonlySet<string> = new Set();

/** The function that the run stands in: its graph, beside it its text, below that whatever else there is. */
export function Scene(props: {
  stage: Stage;
  marks: ReadonlyMap<string, Mark>;
  at: string | null;
  selected: string | null;
  /** Whether nothing can be set any more. */
  over: boolean;
  /** Which of its parts is the panel of the tabs, where there is room for one at a time. */
  panel: 'graph' | 'text' | null;
  rounds: ReactNode;
  onSelect(ref: string | null): void;
  onStop(ref: string): void;
  children: ReactNode;
}) {
  const { stage, marks, at, selected, over, panel, rounds, onSelect, onStop, children } = props;
  const { loaded, picture, busy, failed, toggle } = stage;
  const [hovered, setHovered] = useState<string | null>(null);
  const stop = over ? undefined : onStop;
  const open = useCallback(
    (ref: string) => {
      const opened = openedBy(loaded?.graph, picture?.boxes ?? [], ref);
      // A call is stepped into; the page of what it calls would leave the run.
      if (opened?.kind === 'fold') toggle(ref, opened.collapsed);
    },
    [loaded, picture, toggle],
  );
  const asPanel = (id: 'graph' | 'text') =>
    panel === id && { role: 'tabpanel', id: 'run-pane', 'aria-labelledby': `tab-${id}` };
  return (
    <>
      <div className="function-graph" data-stage={loaded?.head.ref} {...asPanel('graph')}>
        <div className="scene-rounds">{rounds}</div>
        {failed ? (
          <div className="page narrow">
            <Notice tone="warn" title="The graph cannot be laid out.">
              <p className="muted">The text beside it has all nodes. {failed}</p>
            </Notice>
          </div>
        ) : loaded && picture ? (
          <GraphPane
            // Each function has a view of its own, which begins where the run stands.
            key={loaded.head.ref}
            name={loaded.head.path}
            graph={loaded.graph}
            picture={picture}
            busy={busy}
            selected={selected}
            hovered={hovered}
            lit={UNLIT}
            turn={0}
            marks={marks}
            follow={at}
            {...(stop && { onStop: stop })}
            onSelect={onSelect}
            onHover={setHovered}
            onToggle={toggle}
            onOpen={open}
          />
        ) : (
          <div className="graph-waiting" data-busy="true">
            <output className="muted">Loading the function…</output>
          </div>
        )}
      </div>
      <div className="function-side player-side">
        <div className="player-text" {...asPanel('text')}>
          {loaded ? (
            <TextPane
              text={loaded.head.text ?? ''}
              selected={selected}
              hovered={hovered}
              lit={UNLIT}
              marks={marks}
              follow={at}
              {...(stop && { onStop: stop })}
              onSelect={onSelect}
              onHover={setHovered}
              onOpen={open}
            />
          ) : null}
        </div>
        {children}
      </div>
    </>
  );
}
