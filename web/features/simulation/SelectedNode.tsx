import { Circle, CircleHelp, CircleSlash, ListOrdered, Pencil, X } from 'lucide-react';
import { Link } from '@tanstack/react-router';

import { Allowed } from '../../lib/Allowed';
import type { Graph, Mark } from '../function';
import { short } from './model';

/** The node that is selected, with what can be asked of it. */
export function SelectedNode(props: {
  program: string;
  functionRef: string;
  node: string;
  graph: Graph;
  mark: Mark | undefined;
  /** Whether nothing can be set any more. */
  over: boolean;
  onStop(): void;
  onWhy(): void;
  onWhyNot(): void;
  onSteps(): void;
  onClear(): void;
}) {
  const { program, functionRef, node, graph, mark, over, onStop, onWhy, onWhyNot, onSteps, onClear } = props;
  const found = graph.nodes.get(node);
  const values = mark?.values.filter(Boolean).join(', ');
  return (
    <section className="selected-node" aria-label={`Node ${node}`}>
      <div className="selected-name">
        <code className="muted">{node}</code>
        <strong className="mono">
          {found ? short(found.label ? `${found.label} = ${found.title}` : found.title, 60) : 'of another function'}
        </strong>
        {values && <code className="selected-value">{values}</code>}
        <span className="gap" />
        <button type="button" className="button plain icon" aria-label="Clear the selection" onClick={onClear}>
          <X size={14} aria-hidden />
        </button>
      </div>
      {found && (
        <div className="selected-acts">
          <button
            type="button"
            className="button"
            aria-pressed={(mark?.stop ?? null) !== null}
            disabled={over}
            onClick={onStop}
          >
            <Circle size={12} aria-hidden />
            Breakpoint
          </button>
          {found.outputs.length > 0 && (
            <button type="button" className="button" onClick={onWhy}>
              <CircleHelp size={13} aria-hidden />
              Why?
            </button>
          )}
          <button type="button" className="button" onClick={onWhyNot}>
            <CircleSlash size={13} aria-hidden />
            Why not?
          </button>
          <button type="button" className="button" onClick={onSteps}>
            <ListOrdered size={13} aria-hidden />
            Its steps
          </button>
          <Allowed scope="EDIT" icon={Pencil} word="Edit">
            <Link
              to="/p/$program/f/$function/edit"
              params={{ program, function: functionRef }}
              search={{ node }}
              className="button"
            >
              <Pencil size={12} aria-hidden />
              Edit
            </Link>
          </Allowed>
        </div>
      )}
    </section>
  );
}
