import { useEffect, useState } from 'react';

/** How long what was touched is lit, in milliseconds: as long as the eye needs to find it. */
const LASTS = 4_000;

const DARK: ReadonlySet<string> = new Set();

/** Lights up what was touched since the view was opened, for a moment. */
export function useLight(
  light: { turn: number; refs: readonly string[] },
  live: boolean,
): { lit: ReadonlySet<string>; turn: number } {
  const [seen, setSeen] = useState(light.turn);
  const on = live && light.turn !== seen;
  useEffect(() => {
    if (!on) return;
    const timer = setTimeout(() => setSeen(light.turn), LASTS);
    return () => clearTimeout(timer);
  }, [on, light.turn]);
  const [kept, setKept] = useState<{ of: readonly string[]; lit: ReadonlySet<string> }>({ of: [], lit: DARK });
  if (on && kept.of !== light.refs) setKept({ of: light.refs, lit: new Set(light.refs) });
  return { lit: on ? kept.lit : DARK, turn: light.turn };
}
