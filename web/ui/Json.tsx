import { useMemo, useState } from 'react';

/** More characters than these are shown only when asked for. */
const SHOWN = 20_000;

/** A value as JSON, to be read. */
export function Json({ value, label }: { value: unknown; label: string }) {
  const [all, setAll] = useState(false);
  const text = useMemo(() => JSON.stringify(value, null, 2) ?? 'null', [value]);
  const cut = text.length > SHOWN && !all;
  return (
    <div className="json">
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls is reached by keyboard. */}
      <pre tabIndex={0} role="group" aria-label={label}>
        {cut ? `${text.slice(0, SHOWN)}…` : text}
      </pre>
      {cut && (
        <button type="button" className="button" onClick={() => setAll(true)}>
          Show all {Math.round(text.length / 1024).toLocaleString('en')} kB
        </button>
      )}
    </div>
  );
}
