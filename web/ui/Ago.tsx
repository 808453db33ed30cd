import { ago } from './time';
import { useMoment } from './useMoment';

/** How long ago something was; the exact time stands in the tooltip. */
export function Ago({ at }: { at: string }) {
  const now = useMoment();
  const date = new Date(at);
  return (
    <time dateTime={at} title={date.toLocaleString()} className="muted numeric" style={{ whiteSpace: 'nowrap' }}>
      {ago(date.getTime(), now)}
    </time>
  );
}
