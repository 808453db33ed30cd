import { useMemo, useSyncExternalStore } from 'react';

import type { State } from './model';

/** The colours of a picture, which no style sheet reaches. */
export interface Palette {
  state: Record<State, string>;
  /** Of calls, and of the calls of what is pointed at. */
  line: string;
  near: string;
  /** Of what was just touched. */
  lit: string;
  /** Of what does not matter at the moment. */
  faint: string;
  text: string;
  muted: string;
  surface: string;
  raised: string;
  frame: string;
  font: string;
}

function subscribe(listener: () => void): () => void {
  const observer = new MutationObserver(listener);
  observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  return () => observer.disconnect();
}

/** Reads the colours of a theme, which is the one that the page has. */
function paletteOf(_theme: string): Palette {
  const style = getComputedStyle(document.documentElement);
  const of = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return {
    state: { fine: of('accent'), findings: of('warn'), incomplete: of('error'), imported: of('teal') },
    line: of('line-strong'),
    near: of('violet'),
    lit: of('ok'),
    faint: of('line'),
    text: of('text'),
    muted: of('muted'),
    surface: of('surface'),
    raised: of('raised'),
    frame: of('line-strong'),
    font: of('sans'),
  };
}

/** The colours as they are now: other ones in light and in dark. */
export function usePalette(): Palette {
  const theme = useSyncExternalStore(subscribe, () => document.documentElement.dataset['theme'] ?? '');
  return useMemo(() => paletteOf(theme), [theme]);
}
