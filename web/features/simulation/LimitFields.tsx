import type { LimitsInput } from '../../generated/graphql';

/** The bounds of a run as they are typed; empty is the server's default. */
export interface Bounds {
  fuel: string;
  memoryBytes: string;
  timeoutMs: string;
  /** What the server has where nothing is said, and what it allows, by name. */
  known: Record<string, number>;
}

/** Begins with the server's bounds. */
export function boundsOf(limits: unknown): Bounds {
  const known = typeof limits === 'object' && limits !== null ? (limits as Record<string, number>) : {};
  return { fuel: '', memoryBytes: '', timeoutMs: '', known };
}

/** A whole number that was typed, with separators or not. */
function count(text: string): number | null {
  const digits = text.replaceAll(/[\s,_]/g, '');
  return /^\d+$/.test(digits) ? Number(digits) : null;
}

/** The bounds as the API takes them. */
export function limitsOf({ fuel, memoryBytes, timeoutMs }: Bounds): LimitsInput {
  const given = { fuel: count(fuel), memoryBytes: count(memoryBytes), timeoutMs: count(timeoutMs) };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
}

const FIELDS = [
  { name: 'fuel', label: 'fuel, in steps', byDefault: 'defaultFuel', most: 'fuel' },
  { name: 'memoryBytes', label: 'memory, in bytes', byDefault: 'memoryBytes', most: 'memoryBytes' },
  { name: 'timeoutMs', label: 'time, in milliseconds', byDefault: 'defaultTimeoutMs', most: 'timeoutMs' },
] as const;

/** The bounds of a run. */
export function LimitFields({ bounds, onChange }: { bounds: Bounds; onChange(bounds: Bounds): void }) {
  return (
    <div className="run-limits">
      {FIELDS.map(({ name, label, byDefault, most }) => (
        <label key={name} className="value" htmlFor={`limit-${name}`}>
          <span className="value-name">{label}</span>
          <input
            id={`limit-${name}`}
            className="field mono"
            inputMode="numeric"
            autoComplete="off"
            placeholder={bounds.known[byDefault]?.toLocaleString('en') ?? 'default'}
            value={bounds[name]}
            onChange={(event) => onChange({ ...bounds, [name]: event.target.value })}
          />
          {bounds.known[most] !== undefined && (
            <span className="muted">{bounds.known[most].toLocaleString('en')} at most</span>
          )}
        </label>
      ))}
    </div>
  );
}
