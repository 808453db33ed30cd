import { useState } from 'react';

import { RestItem } from '../../ui';
import { AlteredList, SignMark, type GraphNode } from '../function';

/** More nodes than these are listed only when asked for. */
const SHOWN = 24;

/** The nodes that differ in words, in the order of the text; each leads to its place in the graph. */
export function ChangeList(props: {
  name: string;
  nodes: readonly GraphNode[];
  selected: string | null;
  onSelect(ref: string): void;
}) {
  const { name, nodes, selected, onSelect } = props;
  const [all, setAll] = useState(false);
  const shown = all ? nodes : nodes.slice(0, SHOWN);
  const rest = nodes.length - shown.length;
  return (
    <ul className="changes" aria-label={`Nodes that differ in ${name}`}>
      {shown.map(({ ref, label, title, change }) => (
        <li key={ref} className={ref === selected ? 'selected' : undefined}>
          <button
            type="button"
            className="change"
            aria-current={ref === selected ? 'true' : undefined}
            onClick={() => onSelect(ref)}
          >
            {change && <SignMark sign={change.sign} />}
            <span className={`mono change-name ${change ? `is-${change.sign}` : ''}`}>
              {label ? `${label} = ${title}` : title}
            </span>
            <code className="muted">{ref}</code>
          </button>
          {change && <AlteredList altered={change.altered} />}
        </li>
      ))}
      <RestItem rest={rest} onShow={() => setAll(true)} />
    </ul>
  );
}
