import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';

/** Says why there is nothing here, and what leads on. */
export function Empty({ icon: Icon, title, children }: { icon: LucideIcon; title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <Icon size={22} aria-hidden />
      <h2>{title}</h2>
      {children}
    </div>
  );
}
