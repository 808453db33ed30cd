import { Import } from 'lucide-react';
import { useCallback, useEffect, useEffectEvent, useMemo, useState } from 'react';
import { useClient } from 'urql';

import { useCaller } from '../../lib/caller';
import { useLight } from '../../lib/useLight';
import { setTitle } from '../../lib/title';
import { counted, Empty, Notice, Tabs, useMedia, type Tab } from '../../ui';
import { useLive } from '../edits';
import { PreviewDialog, proposed, type Change } from '../preview';
import { TypeLinks } from '../type';
import { edgeOf, type End, type Start } from './connect';
import { Facts } from './Facts';
import { FunctionHeader } from './FunctionHeader';
import { GraphPane } from './Graph';
import type { Head } from './model';
import { NodeDetails } from './NodeDetails';
import { TextPane } from './TextPane';
import type { Loaded, Loading } from './useFunction';
import { useFolds } from './useFolds';
import { useOpening } from './useOpening';

type Pane = 'graph' | 'text' | 'facts';

/** Where the graph has no place beside the text; the style sheet has the same. */
const NARROW = '(max-width: 860px)';
/** What the graph is where it stands behind a tab. */
const GRAPH_PANEL = { role: 'tabpanel', id: 'pane', 'aria-labelledby': 'tab-graph' };

/** A function: the graph, beside it the text or what is known of it, and the node that is selected. */
export function FunctionPage(props: {
  program: string;
  head: Head;
  loaded: Loaded | undefined;
  resolve: Loading['resolve'];
  progress: Loading['progress'];
  /** Whether the function is not in the newest revision any more. */
  gone: boolean;
  rev: number | undefined;
  selected: string | null;
  onSelect(ref: string | null): void;
}) {
  const { program, head, loaded, resolve, progress, gone, rev, selected, onSelect } = props;
  const { programId, feed } = useLive();
  const client = useClient();
  const [connection, setConnection] = useState<{ start: Start; end: End } | null>(null);
  const [hovered, setHovered] = useState<string | null>(null);
  const [pane, setPane] = useState<Pane>('graph');
  const [opened] = useState(selected);
  const graph = loaded?.graph;
  const folds = useFolds(graph, opened);
  const { picture, busy, failed, toggle } = folds;
  const { lit, turn } = useLight(feed.light, rev === undefined);

  useEffect(() => {
    setTitle(head.path);
  }, [head.path]);

  const revOf = useCallback(() => rev, [rev]);
  const { select, open } = useOpening(graph, folds, { program, revOf, onSelect });
  // The address may name another node without anybody having selected it here. What is closed by hand stays closed.
  const show = useEffectEvent(() => folds.reveal(selected));
  const ready = graph !== undefined;
  useEffect(() => show(), [selected, ready]);
  const connect = useCallback((start: Start, end: End) => setConnection({ start, end }), []);
  const mayEdit = useCaller().lacks('EDIT') === null;
  const editable = rev === undefined && !gone && mayEdit;
  const change = useMemo((): Change | null => {
    if (!connection || !graph) return null;
    const { start, end } = connection;
    const edits = [edgeOf(graph, start, end)];
    const title = `Connect ${start.label} with ${end.label}`;
    return {
      title,
      verb: 'Connect',
      subject:
        end.now === null ? 'The input is a hole now.' : 'The input takes another value now, which this replaces.',
      base: loaded?.revision ?? null,
      ask: (asking) => proposed(client, programId, { edits, message: title }, asking),
    };
    // What is connected stays what it was drawn as, whatever arrives meanwhile.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [connection, client, programId]);
  const newest = Math.max(
    feed.head ?? 0,
    ...feed.waiting.map(({ number, branch }) => (branch === 'main' ? number : 0)),
  );

  // What is gone is looked at as it was, and so are its types.
  const shown = gone ? (loaded?.revision ?? rev) : rev;
  const types = useMemo(() => (resolve ? { program, rev: shown, resolve } : null), [program, shown, resolve]);
  const narrow = useMedia(NARROW);
  const side = pane === 'graph' ? 'text' : pane;
  const findings = head.diagnostics?.totalCount ?? 0;
  const tabs: Tab<Pane>[] = [
    ...(narrow ? [{ id: 'graph' as const, label: 'Graph' }] : []),
    { id: 'text', label: 'Text' },
    {
      id: 'facts',
      label: (
        <>
          Facts
          {findings > 0 && <span className="badge warn numeric">{counted(findings, 'diagnostic')}</span>}
        </>
      ),
    },
  ];
  return (
    <TypeLinks value={types}>
      <div className="function" data-pane={pane}>
        <FunctionHeader
          program={program}
          head={head}
          rev={rev}
          selected={selected}
          gone={gone}
          shown={loaded?.revision ?? null}
        />
        <div className="function-panes">
          <div className="function-graph" {...(narrow && pane === 'graph' && GRAPH_PANEL)}>
            {head.import ? (
              <Empty icon={Import} title="The host provides this function">
                <p>
                  It is <code>{head.import.name}</code> of <code>{head.import.module}</code> and has no body here.
                </p>
              </Empty>
            ) : failed ? (
              <div className="page narrow">
                <Notice tone="warn" title="The graph cannot be laid out.">
                  <p className="muted">The text beside it has all nodes. {failed}</p>
                </Notice>
              </div>
            ) : graph && picture ? (
              <GraphPane
                name={head.path}
                graph={graph}
                picture={picture}
                busy={busy}
                selected={selected}
                hovered={hovered}
                lit={lit}
                turn={turn}
                {...(editable && { onConnect: connect })}
                onSelect={select}
                onHover={setHovered}
                onToggle={toggle}
                onOpen={open}
              />
            ) : (
              <Waiting progress={progress} laying={graph !== undefined} />
            )}
          </div>
          <div className="function-side">
            <Tabs<Pane> label="Panels" panel="pane" tabs={tabs} current={narrow ? pane : side} onChange={setPane} />
            <div
              className="pane"
              {...(!(narrow && pane === 'graph') && { role: 'tabpanel', id: 'pane', 'aria-labelledby': `tab-${side}` })}
            >
              {side === 'text' ? (
                <TextPane
                  text={head.text ?? ''}
                  selected={selected}
                  hovered={hovered}
                  lit={lit}
                  onSelect={select}
                  onHover={setHovered}
                  onOpen={open}
                />
              ) : (
                <Facts program={program} head={head} rev={rev} onSelect={select} />
              )}
            </div>
            {selected && graph && <NodeDetails node={selected} graph={graph} onSelect={select} onOpen={open} />}
          </div>
        </div>
        {change && (
          <PreviewDialog
            change={change}
            program={program}
            head={newest}
            onDone={() => select(connection?.end.node ?? null)}
            onClose={() => setConnection(null)}
          />
        )}
      </div>
    </TypeLinks>
  );
}

function Waiting({ progress, laying }: { progress: Loading['progress']; laying: boolean }) {
  const text = progress
    ? `Loading nodes: ${progress.done.toLocaleString('en')} of ${progress.total.toLocaleString('en')}`
    : laying
      ? 'Laying out…'
      : 'Loading nodes…';
  return (
    <div className="graph-waiting" data-busy>
      <output className="muted">{text}</output>
    </div>
  );
}
