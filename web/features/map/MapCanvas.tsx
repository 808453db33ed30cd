import { Maximize, Minus, Plus } from 'lucide-react';
import { useEffect, useEffectEvent, useRef } from 'react';

import { usePalette } from './palette';
import type { Picture } from './picture';
import { openScreen, type Look, type Reactions, type Screen } from './screen';

/** The picture of a program: marks, lines and boxes that can be moved and enlarged. The table beside it has the same. */
export function MapCanvas(props: {
  label: string;
  picture: Picture;
  lit: Look['lit'];
  pointed: string | null;
  /** The marks that are lit up for a moment. */
  lights: readonly string[];
  /** Where the camera goes when that is another list. */
  sought: readonly string[];
  onPoint(id: string | null): void;
  onOpen(id: string): void;
  onFailed(): void;
}) {
  const { label, picture, lit, pointed, lights, sought } = props;
  const place = useRef<HTMLDivElement>(null);
  const screen = useRef<Screen>(null);
  const palette = usePalette();
  const onPoint = useEffectEvent(props.onPoint);
  const onOpen = useEffectEvent(props.onOpen);
  const onFailed = useEffectEvent(props.onFailed);
  const open = useEffectEvent((container: HTMLElement, reactions: Reactions) =>
    openScreen(container, { lit, palette }, reactions),
  );

  useEffect(() => {
    if (!place.current) return;
    try {
      screen.current = open(place.current, { onPoint: (id) => onPoint(id), onOpen: (id) => onOpen(id) });
    } catch {
      // The browser has WebGL and still cannot draw.
      onFailed();
    }
    return () => {
      screen.current?.close();
      screen.current = null;
    };
  }, []);
  useEffect(() => screen.current?.look({ lit, palette }), [lit, palette]);
  useEffect(() => {
    screen.current?.show(picture);
    place.current?.setAttribute('data-marks', String(picture.marks.length));
  }, [picture]);
  useEffect(() => screen.current?.point(pointed), [pointed]);
  useEffect(() => screen.current?.light(lights), [lights]);
  useEffect(() => screen.current?.goTo(sought), [sought]);

  return (
    <div className="map-canvas" data-pointed={pointed ?? undefined} data-lit={lights.join(' ') || undefined}>
      <div ref={place} className="map-place" role="img" aria-label={label} />
      <div className="map-tools" role="toolbar" aria-label="Picture">
        <button
          type="button"
          className="button icon"
          aria-label="Larger"
          onClick={() => screen.current?.move('larger')}
        >
          <Plus size={14} aria-hidden />
        </button>
        <button
          type="button"
          className="button icon"
          aria-label="Smaller"
          onClick={() => screen.current?.move('smaller')}
        >
          <Minus size={14} aria-hidden />
        </button>
        <button type="button" className="button icon" aria-label="Show all" onClick={() => screen.current?.move('all')}>
          <Maximize size={14} aria-hidden />
        </button>
      </div>
    </div>
  );
}
