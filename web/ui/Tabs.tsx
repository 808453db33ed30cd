import type { KeyboardEvent, ReactNode } from 'react';

/** A panel that a tab leads to. */
export interface Tab<Id extends string> {
  id: Id;
  label: ReactNode;
}

/** Tabs of one panel, whose id is given. Arrow keys go from one to the next. */
export function Tabs<Id extends string>(props: {
  label: string;
  panel: string;
  tabs: readonly Tab<Id>[];
  current: Id;
  onChange(id: Id): void;
}) {
  const { label, panel, tabs, current, onChange } = props;
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (by === 0) return;
    event.preventDefault();
    const at = tabs.findIndex(({ id }) => id === current);
    const next = tabs[(at + by + tabs.length) % tabs.length];
    if (!next) return;
    onChange(next.id);
    document.getElementById(`tab-${next.id}`)?.focus();
  };
  return (
    <div className="tabs-row" role="tablist" tabIndex={-1} aria-label={label} onKeyDown={onKeyDown}>
      {tabs.map((tab) => (
        <button
          key={tab.id}
          type="button"
          role="tab"
          id={`tab-${tab.id}`}
          aria-selected={tab.id === current}
          aria-controls={tab.id === current ? panel : undefined}
          tabIndex={tab.id === current ? 0 : -1}
          className="tabs-tab"
          onClick={() => onChange(tab.id)}
        >
          {tab.label}
        </button>
      ))}
    </div>
  );
}
