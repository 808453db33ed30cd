import { CircleAlert, CircleDashed, ExternalLink, TriangleAlert, X } from 'lucide-react';

import { Badge, Message } from '../../ui';
import { TypeText } from '../type';
import { AlteredList } from './AlteredList';
import type { Graph, GraphNode, Input } from './model';
import { SignMark } from './SignMark';

/** What is known of the node that is selected. */
export function NodeDetails(props: {
  node: string;
  graph: Graph;
  onSelect(ref: string | null): void;
  onOpen(ref: string): void;
}) {
  const { graph, onSelect, onOpen } = props;
  const node = graph.nodes.get(props.node);
  return (
    <section className="details" aria-label={`Node ${props.node}`}>
      <div className="details-head">
        <code className="muted">{props.node}</code>
        {node?.change && <SignMark sign={node.change.sign} />}
        {node ? (
          <strong className="mono">{nameOf(node)}</strong>
        ) : (
          <span>is not in this function in this revision</span>
        )}
        <span className="gap" />
        {node?.callee && (
          <button type="button" className="button" onClick={() => onOpen(node.ref)}>
            <ExternalLink size={13} aria-hidden />
            Open
          </button>
        )}
        <button
          type="button"
          className="button plain icon"
          aria-label="Clear the selection"
          onClick={() => onSelect(null)}
        >
          <X size={14} aria-hidden />
        </button>
      </div>
      {node && <Facts node={node} graph={graph} onSelect={onSelect} />}
    </section>
  );
}

function nameOf({ label, title }: GraphNode): string {
  return label ? `${label} = ${title}` : title;
}

function Facts({ node, graph, onSelect }: { node: GraphNode; graph: Graph; onSelect(ref: string): void }) {
  const users = [...new Set(graph.users.get(node.ref) ?? [])];
  return (
    <div className="details-body">
      {node.change && <AlteredList altered={node.change.altered} />}
      {node.findings.map(({ code, message, error }, index) => (
        // Findings have no names; the list is replaced as a whole.
        <p key={index} className="details-finding">
          <Badge tone={error ? 'error' : 'warn'}>
            {error ? <CircleAlert size={12} aria-hidden /> : <TriangleAlert size={12} aria-hidden />}
            {code}
          </Badge>
          <span>
            <Message>{message}</Message>
          </span>
        </p>
      ))}
      {node.doc && <p className="muted">{node.doc}</p>}
      {node.inputs.length > 0 && (
        <dl className="ports" aria-label="Inputs">
          {node.inputs.map((input) => (
            <div key={input.index}>
              <dt className="mono">
                {input.sign && <SignMark sign={input.sign} />} {input.name || `in ${input.index}`}{' '}
                <span className="muted">
                  <TypeText>{input.type}</TypeText>
                </span>
              </dt>
              <dd>
                <SourceLink input={input} graph={graph} onSelect={onSelect} />
              </dd>
            </div>
          ))}
        </dl>
      )}
      {node.outputs.length > 0 && (
        <p className="details-users">
          <span className="muted">gives</span>
          <span className="mono">
            <TypeText>{node.outputs.map(({ type }) => type).join(', ')}</TypeText>
          </span>
          <span className="muted">{users.length === 0 ? 'to nobody' : 'to'}</span>
          {users.slice(0, 8).map((ref) => (
            <NodeLink key={ref} node={graph.nodes.get(ref)} onSelect={onSelect} />
          ))}
          {users.length > 8 && <span className="muted">and {users.length - 8} more</span>}
        </p>
      )}
      <p className="muted">effect: {node.effect.toLowerCase()}</p>
    </div>
  );
}

function SourceLink({ input, graph, onSelect }: { input: Input; graph: Graph; onSelect(ref: string): void }) {
  const { source } = input;
  if (!source)
    return (
      <Badge tone="warn">
        <CircleDashed size={12} aria-hidden />
        hole: takes <TypeText>{input.type}</TypeText>
      </Badge>
    );
  switch (source.kind) {
    case 'node':
      return <NodeLink node={graph.nodes.get(source.ref)} onSelect={onSelect} />;
    case 'param':
      return <span className="mono">{graph.params[source.index]?.name ?? `parameter ${source.index}`}</span>;
    case 'regionParam':
      return (
        <span className="mono">
          {graph.regions.get(source.region)?.params[source.index]?.name ?? `${source.region}.${source.index}`}
        </span>
      );
  }
}

function NodeLink({ node, onSelect }: { node: GraphNode | undefined; onSelect(ref: string): void }) {
  if (!node) return <span className="muted">unknown</span>;
  const text = node.label ?? node.title;
  return (
    <button type="button" className="link mono" onClick={() => onSelect(node.ref)} title={node.title}>
      {text.length > 28 ? `${text.slice(0, 27)}…` : text}
      <span className="muted"> {node.ref}</span>
    </button>
  );
}
