import { CircleAlert, Info, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';

const ICONS = { error: CircleAlert, warn: TriangleAlert, info: Info };

/** Something the reader should know, with what can be done about it. */
export function Notice(props: {
  tone: keyof typeof ICONS;
  title: ReactNode;
  children?: ReactNode;
  actions?: ReactNode;
}) {
  const Icon = ICONS[props.tone];
  return (
    <div className={`notice ${props.tone}`} role={props.tone === 'error' ? 'alert' : undefined}>
      <Icon size={16} aria-hidden />
      <div className="say">
        <strong>{props.title}</strong>
        {props.children}
        {props.actions && <div className="acts">{props.actions}</div>}
      </div>
    </div>
  );
}
