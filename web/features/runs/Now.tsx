import { lasting } from '../../ui';
import type { Working } from './live';
import './runs.css';

/** What a node is doing. */
export function Now({ working: { node, since, text, lines }, now }: { working: Working; now: number }) {
  return (
    <div className="run-now" data-working={node}>
      <p>
        <strong className="mono">{node}</strong> <span className="muted">is at work</span>{' '}
        <span className="muted numeric">{lasting(now - Date.parse(since))}</span>
      </p>
      {lines.length > 0 && (
        <ul className="muted">
          {lines.map((line, at) => (
            // Lines have no names; the list only grows.
            <li key={at}>{line}</li>
          ))}
        </ul>
      )}
      {text !== '' && (
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls is reached by keyboard.
        <pre tabIndex={0} role="group" aria-label={`What the model writes at ${node}`}>
          {text}
        </pre>
      )}
    </div>
  );
}
