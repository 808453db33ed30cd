import { Handle, Position, type Node, type NodeProps } from '@xyflow/react';
import { ChevronDown, ChevronRight, CircleAlert, CircleDashed, TriangleAlert } from 'lucide-react';
import { memo } from 'react';

import type { Box } from './boxes';
import { alteredOf, changeOf, fitting, SIGNS, titleOf, writtenIn, type Cell, type Placed } from './geometry';
import { SignMark } from './SignMark';
import { BoxMark } from './BoxMark';
import type { Mark } from './marks';
import type { Change, GraphNode } from './model';

/** What a box of the graph is drawn from. */
export type BoxData = {
  placed: Placed;
  selected: boolean;
  hovered: boolean;
  /** The turn of the light that it is in; 0 for none. */
  lit: number;
  /** What a run says here. */
  mark: Mark | undefined;
  /** Whether ports can be connected. */
  connects: boolean;
  /** The inputs that can take the value that is drawn from somewhere; null while none is. */
  offers: ReadonlySet<number> | null;
  onToggle(id: string, collapsed: boolean): void;
  onStop: ((ref: string) => void) | undefined;
};

/** A node, an owner of regions, a region, a segment or parameters. */
export const BoxNode = memo(function BoxNode({ data }: NodeProps<Node<BoxData>>) {
  const { placed, selected, hovered, lit, mark, connects, offers, onToggle, onStop } = data;
  const { box, inputs, outputs } = placed;
  const node = 'node' in box ? box.node : null;
  const open = 'children' in box && box.children.length > 0;
  const change = changeOf(box);
  const altered = alteredOf(box);
  const classes = [
    'box',
    `box-${box.type}`,
    node && `kind-${node.kind}`,
    open && 'open',
    change && `is-${change.sign}`,
    node && node.holes > 0 && 'has-hole',
    node?.findings.some(({ error }) => error) && 'has-error',
    node && node.findings.length > 0 && 'has-finding',
    selected && 'selected',
    hovered && 'hovered',
    mark?.here && 'here',
    // Two names, so that a light that follows another one begins anew.
    lit > 0 && `lit lit-${lit % 2}`,
  ];
  return (
    <div className={classes.filter(Boolean).join(' ')} data-ref={box.id}>
      <Cells cells={inputs} side="in" free={open} connects={connects} offers={offers} />
      {box.type !== 'params' && (
        // A constant has no row for its output.
        <Title box={box} node={node} change={change} gives={connects && node?.kind === 'const'} onToggle={onToggle} />
      )}
      {altered && (
        <div className="box-altered" title={altered}>
          {altered}
        </div>
      )}
      {open && <div className="box-space" />}
      <Cells cells={outputs} side="out" free={open} connects={connects} offers={null} />
      {(mark || onStop) && <BoxMark id={box.id} mark={mark} outputs={outputs} onStop={onStop} />}
      <Handle type="target" position={Position.Top} isConnectable={false} />
      <Handle type="source" position={Position.Bottom} isConnectable={false} />
    </div>
  );
});

function Title(props: {
  box: Box;
  node: GraphNode | null;
  change: Change | undefined;
  gives: boolean;
  onToggle: BoxData['onToggle'];
}) {
  const { box, node, change, gives, onToggle } = props;
  return (
    <div
      className={gives ? 'box-title nodrag nopan' : 'box-title'}
      title={node ? `${node.ref} · ${node.title}` : undefined}
      {...(gives && { 'data-side': 'out', 'data-port': 0 })}
    >
      {'collapsed' in box && (
        <button
          type="button"
          className="box-toggle nodrag nopan"
          aria-label={`${box.collapsed ? 'Open' : 'Collapse'} ${titleOf(box)}`}
          aria-expanded={!box.collapsed}
          onClick={(event) => {
            event.stopPropagation();
            onToggle(box.id, !box.collapsed);
          }}
        >
          {box.collapsed ? <ChevronRight size={13} aria-hidden /> : <ChevronDown size={13} aria-hidden />}
        </button>
      )}
      <span className="box-text">
        {node?.label ? (
          <>
            <b>{fitting(node.label)}</b> = {fitting(`${node.label} = ${node.title}`).slice(node.label.length + 3)}
          </>
        ) : (
          titleOf(box)
        )}
        {node?.kind === 'const' && <i>{node.outputs[0]?.type}</i>}
      </span>
      {'collapsed' in box && box.collapsed && (
        <span className="box-count">
          {box.inside} nodes{box.changed > 0 && <b>, {box.changed} differ</b>}
        </span>
      )}
      {change && <SignMark sign={change.sign} />}
      {node && <Marks node={node} />}
    </div>
  );
}

function Marks({ node: { holes, findings } }: { node: GraphNode }) {
  if (holes === 0 && findings.length === 0) return null;
  const error = findings.some((finding) => finding.error);
  const Icon = error ? CircleAlert : holes > 0 ? CircleDashed : TriangleAlert;
  const count = Math.max(holes, findings.length);
  const title = findings.map(({ code, message }) => `${code}: ${message}`).join('\n') || 'a hole';
  return (
    <span className={error ? 'box-mark error' : 'box-mark warn'} title={title}>
      <Icon size={12} aria-hidden />
      {count}
    </span>
  );
}

function Cells(props: {
  cells: readonly Cell[];
  side: 'in' | 'out';
  free: boolean;
  connects: boolean;
  offers: BoxData['offers'];
}) {
  const { cells, side, free, connects, offers } = props;
  if (cells.length === 0) return null;
  return (
    <div className={`cells cells-${side} ${free ? 'free' : ''}`}>
      {cells.map(({ index, name, type, hole, sign, was, x, width }) => (
        <span
          key={index}
          className={[
            'cell',
            hole && 'hole',
            sign && `is-${sign}`,
            // A value is drawn from its port; from elsewhere the picture is moved.
            connects && side === 'out' && 'nodrag nopan',
            offers && (offers.has(index) ? 'offered' : 'refused'),
          ]
            .filter(Boolean)
            .join(' ')}
          {...(connects && { 'data-side': side, 'data-port': index })}
          style={free ? { left: x, width } : { width }}
          title={`${name ? `${name}: ` : ''}${type}${hole ? ' — a hole: no source yet' : ''}${sign ? ` — ${sign}` : ''}${was ? `: was ${was}` : ''}`}
        >
          {sign && `${SIGNS[sign]} `}
          {hole && '? '}
          {name && <b>{writtenIn({ name, type }).name}</b>} {writtenIn({ name, type }).type}
        </span>
      ))}
    </div>
  );
}
