import { useMemo } from 'react';

import { type Theme, useTheme } from '../../lib/theme';
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

/** Reads the colours of a theme, which is the one that the page has. */
function paletteOf(_theme: Theme): Palette {
  // A property of the style sheet has a colour for either theme: an element shows which of them it comes to.
  const probe = document.body.appendChild(document.createElement('span'));
  const style = getComputedStyle(probe);
  const of = (name: string) => {
    probe.style.color = `var(--${name})`;
    return style.color;
  };
  const palette = {
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
    font: style.getPropertyValue('--sans').trim(),
  };
  probe.remove();
  return palette;
}

/** The colours as they are now: other ones in light and in dark. */
export function usePalette(): Palette {
  const { theme } = useTheme();
  return useMemo(() => paletteOf(theme), [theme]);
}
