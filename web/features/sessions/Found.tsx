import { useState } from 'react';

import { counted } from '../../ui';
import { cellOf, type Found as What } from './model';

/** More rows than these are shown only when asked for. */
const SHOWN = 50;

/** What was found: a table, or entities and how they are related. */
export function Found({ found }: { found: What }) {
  const [all, setAll] = useState(false);
  const length = found.kind === 'table' ? found.rows.length : found.nodes.length + found.edges.length;
  const cut = !all && length > SHOWN;
  return (
    <div className="talk-found">
      {found.kind === 'table' ? (
        <Table columns={found.columns} rows={cut ? found.rows.slice(0, SHOWN) : found.rows} />
      ) : (
        <Graph
          nodes={cut ? found.nodes.slice(0, SHOWN) : found.nodes}
          edges={cut ? found.edges.slice(0, Math.max(0, SHOWN - found.nodes.length)) : found.edges}
        />
      )}
      {cut && (
        <button type="button" className="button" onClick={() => setAll(true)}>
          Show all {counted(length, found.kind === 'table' ? 'row' : 'line')}
        </button>
      )}
      {found.cut && <p className="muted">There is more than the server gives at once.</p>}
    </div>
  );
}

function Table({ columns, rows }: { columns: readonly string[]; rows: readonly (readonly unknown[])[] }) {
  if (rows.length === 0) return <p className="muted">No row of {columns.join(', ')}.</p>;
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls is reached by keyboard.
    <div className="talk-table" tabIndex={0} role="group" aria-label="What was found">
      <table>
        <thead>
          <tr>
            {columns.map((column, at) => (
              // Columns may have one name; the table is replaced as a whole.
              <th key={at} scope="col" className="mono">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, line) => (
            // Rows have no names.
            <tr key={line}>
              {row.map((value, at) => (
                <td key={at} className={typeof value === 'number' ? 'numeric' : undefined}>
                  {value === null ? <span className="muted">null</span> : cellOf(value)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Graph({ nodes, edges }: Pick<What & { kind: 'graph' }, 'nodes' | 'edges'>) {
  if (nodes.length + edges.length === 0) return <p className="muted">Nothing was found.</p>;
  return (
    <>
      {nodes.length > 0 && (
        <ul className="talk-graph" aria-label="Entities">
          {nodes.map(({ entity, props }, at) => (
            // An entity may come twice.
            <li key={at}>
              <strong className="mono">{entity}</strong> <span className="muted mono">{propsOf(props)}</span>
            </li>
          ))}
        </ul>
      )}
      {edges.length > 0 && (
        <ul className="talk-graph" aria-label="Relations">
          {edges.map(([from, type, to], at) => (
            // Two relations may be alike.
            <li key={at} className="mono">
              {from} <span className="muted">{type}</span> {to}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** Properties in a line: `name: "a", weight: 3`. */
function propsOf(props: unknown): string {
  if (typeof props !== 'object' || props === null) return '';
  return Object.entries(props)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
    .join(', ');
}
