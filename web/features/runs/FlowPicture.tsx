import { useEffect, useMemo, useState } from 'react';

import type { RunStatus } from '../../generated/graphql';
import { openLayoutPlace } from '../../lib/layout';
import { Message, Skeleton, useMedia } from '../../ui';
import {
  asked,
  END,
  leadsTo,
  marksOf,
  pictureOf,
  sparesOf,
  spoken,
  waysOf,
  type FlowNode,
  type Mark,
  type Picture,
} from './picture';
import type { Step } from './timeline';
import './picture.css';

/** Below this width the picture goes down, not to the right. */
const NARROW = '(max-width: 640px)';

/** How much smaller than its measure a picture may be drawn before it is scrolled. */
const LEAST = 0.75;

const KINDS: Record<string, string> = { TASK: 'works', ASK: 'asks a person', GATE: 'decides' };

/** The flow of a run as a picture and in words, with how far the run has come. */
export function FlowPicture(props: {
  flow: { name: string; entry: string; nodes: readonly FlowNode[] };
  steps: readonly Step[];
  run: { status: RunStatus; node: string | null; failed: string | null };
}) {
  const { flow, steps, run } = props;
  const down = useMedia(NARROW);
  const [picture, setPicture] = useState<Picture | null>(null);
  const [failed, setFailed] = useState(false);
  const shape = JSON.stringify(flow.nodes.map((node) => [node.name, leadsTo(node)]));

  useEffect(() => {
    let left = false;
    const place = openLayoutPlace();
    place.layout(asked(flow.nodes, down)).then(
      (answer) => {
        if (!left) setPicture(pictureOf(answer));
      },
      () => {
        if (!left) setFailed(true);
      },
    );
    return () => {
      left = true;
      place.leave();
    };
    // A flow is another one when its nodes are.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [shape, down]);

  const marks = useMemo(() => marksOf(flow.nodes, steps, run), [flow, steps, run]);
  const ways = useMemo(() => waysOf(steps, run.status), [steps, run.status]);
  const spares = useMemo(() => sparesOf(flow.nodes), [flow]);
  const kinds = new Map(flow.nodes.map(({ name, kind }) => [name, kind]));
  const NEW: Mark = { visits: 0, state: 'new' };
  return (
    <div className="flow in-turn">
      {picture ? (
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls is reached by keyboard.
        <div className="flow-picture" tabIndex={0} role="group" aria-label={`Picture of ${flow.name}`}>
          <svg
            style={{ width: '100%', minWidth: picture.width * LEAST, maxWidth: picture.width }}
            viewBox={`0 0 ${picture.width} ${picture.height}`}
            role="img"
            aria-label={`The ${flow.nodes.length} nodes of ${flow.name}, as in the list below`}
          >
            <defs>
              {['tip', 'tip-gone'].map((id) => (
                <marker
                  key={id}
                  id={`flow-${id}`}
                  viewBox="0 0 8 8"
                  refX="7"
                  refY="4"
                  markerWidth="7"
                  markerHeight="7"
                  orient="auto"
                >
                  <path d="M0 0.5 8 4 0 7.5z" className={id} />
                </marker>
              ))}
            </defs>
            {picture.ways.map(({ id, points }) => (
              <polyline
                key={id}
                className={['flow-way', ways.has(id) && 'gone', spares.has(id) && 'spare'].filter(Boolean).join(' ')}
                points={points.map(({ x, y }) => `${x},${y}`).join(' ')}
                markerEnd={`url(#flow-${ways.has(id) ? 'tip-gone' : 'tip'})`}
              />
            ))}
            {picture.boxes.map(({ name, x, y, width, height }) => {
              const mark = marks.get(name) ?? NEW;
              return (
                <g key={name} className={`flow-node ${mark.state}`} transform={`translate(${x} ${y})`} data-node={name}>
                  <title>{`${name}: ${spoken(mark)}`}</title>
                  <Shape kind={name === END ? END : (kinds.get(name) ?? 'TASK')} width={width} height={height} />
                  <text x={width / 2} y={height / 2} className="flow-name">
                    {name === END ? 'end' : name}
                  </text>
                  <Sign mark={mark} width={width} />
                  {name === flow.entry && <circle cx={0} cy={height / 2} r={4} className="flow-entry" />}
                </g>
              );
            })}
          </svg>
        </div>
      ) : failed ? (
        <p className="muted">There is no picture of this flow: the list has all of it.</p>
      ) : (
        <div>
          <Skeleton height={90} />
        </div>
      )}
      <details className="flow-list">
        <summary>Nodes as a list</summary>
        <div className="flow-table">
          <table>
            <thead>
              <tr>
                <th scope="col">Node</th>
                <th scope="col">What it does</th>
                <th scope="col">Leads to</th>
                <th scope="col">In this run</th>
              </tr>
            </thead>
            <tbody>
              {flow.nodes.map(({ name, kind, doc, targets, onFailure }) => (
                <tr key={name}>
                  <th scope="row" className="mono">
                    {name}
                    {name === flow.entry && <span className="muted"> (begins here)</span>}
                  </th>
                  <td>
                    <span className="muted">{KINDS[kind] ?? kind.toLowerCase()}</span> {doc && <Message>{doc}</Message>}
                  </td>
                  <td className="mono">
                    {targets.map((target) => (target === END ? 'the end' : target)).join(', ')}
                    {onFailure !== null && <span className="muted"> when it fails: {onFailure}</span>}
                  </td>
                  <td>{spoken(marks.get(name) ?? NEW)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </div>
  );
}

/** Kinds of nodes differ by their outline. */
function Shape({ kind, width, height }: { kind: string; width: number; height: number }) {
  if (kind === 'GATE') {
    const cut = 12;
    const points = `${cut},0 ${width - cut},0 ${width},${height / 2} ${width - cut},${height} ${cut},${height} 0,${height / 2}`;
    return <polygon className="flow-box" points={points} />;
  }
  const round = kind === 'ASK' || kind === END ? height / 2 : 6;
  return <rect className="flow-box" width={width} height={height} rx={round} />;
}

/** How a node stands, by a sign beside its colour. */
function Sign({ mark: { state, visits }, width }: { mark: Mark; width: number }) {
  const text =
    state === 'failed'
      ? '!'
      : state === 'current'
        ? '▶'
        : state === 'waiting'
          ? '?'
          : visits > 1
            ? `${visits}×`
            : state === 'visited'
              ? '✓'
              : '';
  if (text === '') return null;
  const wide = text.length > 1 ? 12 + 7 * text.length : 18;
  return (
    <g transform={`translate(${width - wide / 2 - 4} 0)`} className="flow-sign">
      <rect x={-wide / 2} y={-9} width={wide} height={18} rx={9} />
      <text x={0} y={0}>
        {text}
      </text>
    </g>
  );
}
