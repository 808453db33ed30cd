import { Eye, HelpCircle } from 'lucide-react';

import type { Graph, Head } from '../function';
import { short, textOf, type State } from './model';

/** A value that is known where the run stands, with the place that it is of. */
export interface Known {
  key: string;
  name: string;
  /** The node that made it; null for parameters and variables. */
  node: string | null;
  /** The variable, which can be watched; null for what does not change. */
  variable: string | null;
  port: number;
  value: string;
}

/** What each value at rest is called, in three lists. */
export function knownOf(
  head: Head,
  graph: Graph,
  locals: State['locals'],
): Record<'params' | 'vars' | 'nodes', Known[]> {
  const lists: Record<'params' | 'vars' | 'nodes', Known[]> = { params: [], vars: [], nodes: [] };
  for (const { node, port, value } of locals) {
    const known = { key: `${node}.${port}`, node: null, variable: null, port, value: textOf(value) };
    switch (node[0]) {
      case 'n': {
        const found = graph.nodes.get(node);
        // A constant says what it is in the text.
        if (found?.kind === 'const') break;
        const many = (found?.outputs.length ?? 1) > 1;
        const name = `${found?.label ?? found?.title ?? node}${many ? `.${port}` : ''}`;
        lists.nodes.push({ ...known, name, node });
        break;
      }
      case 'g':
        lists.params.push({ ...known, name: graph.regions.get(node)?.params[port]?.name ?? `${node}.${port}` });
        break;
      case 'f':
        lists.params.push({ ...known, name: head.params[port]?.name ?? `${node}.${port}` });
        break;
      default:
        lists.vars.push({ ...known, variable: node, name: head.vars.find(({ ref }) => ref === node)?.name ?? node });
    }
  }
  return lists;
}

/** A list of values, with what can be asked of them. */
export function KnownList(props: {
  title: string;
  list: readonly Known[];
  selected: string | null;
  onSelect(ref: string): void;
  onWhy(node: string, port: number): void;
  /** Variables that the run stops behind a change of. */
  watched: readonly string[];
  /** Absent where nothing can be watched any more, or not by the reader. */
  onWatch?: (variable: string) => void;
}) {
  const { title, list, selected, onSelect, onWhy, watched, onWatch } = props;
  if (list.length === 0) return null;
  return (
    <section aria-label={title}>
      <h2 className="muted">{title}</h2>
      <dl className="known">
        {list.map(({ key, name, node, variable, port, value }) => (
          <div key={key} data-known={name} data-current={node !== null && node === selected}>
            <dt className="mono">
              {node === null ? (
                name
              ) : (
                <button type="button" className="link mono" onClick={() => onSelect(node)} title={`${node} · ${name}`}>
                  {short(name, 34)}
                </button>
              )}
            </dt>
            <dd>
              <span className="mono" title={value.length > 120 ? undefined : value}>
                {value.length > 2000
                  ? `${value.slice(0, 2000)}… (${value.length.toLocaleString('en')} characters)`
                  : value}
              </span>
              {node !== null && (
                <button
                  type="button"
                  className="button plain icon small"
                  aria-label={`Why is ${name} what it is?`}
                  title="Why?"
                  onClick={() => onWhy(node, port)}
                >
                  <HelpCircle size={13} aria-hidden />
                </button>
              )}
              {variable !== null && onWatch && (
                <button
                  type="button"
                  className="button plain icon small"
                  aria-pressed={watched.includes(variable)}
                  aria-label={`Stop where ${name} changes`}
                  title="Stop where it changes"
                  onClick={() => onWatch(variable)}
                >
                  <Eye size={13} aria-hidden />
                </button>
              )}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** The values that are known in a call. */
export function Values(props: {
  head: Head;
  graph: Graph;
  locals: State['locals'];
  lists: Omit<Parameters<typeof KnownList>[0], 'title' | 'list'>;
}) {
  const { head, graph, locals, lists } = props;
  const { params, vars, nodes } = knownOf(head, graph, locals);
  if (params.length + vars.length + nodes.length === 0)
    return <p className="muted player-none">No value is alive here.</p>;
  return (
    <>
      <KnownList title="Parameters" list={params} {...lists} />
      <KnownList title="Variables" list={vars} {...lists} />
      <KnownList title="Nodes" list={nodes} {...lists} />
    </>
  );
}
