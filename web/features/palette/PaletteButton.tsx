import { Search } from 'lucide-react';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';

import { PaletteFrame } from './PaletteFrame';

const Palette = lazy(() => import('./Palette'));

/** Opens the palette, also by Ctrl-K. What it is made of is loaded when it is opened first. */
export function PaletteButton({ program }: { program: string | undefined }) {
  const [open, setOpen] = useState(false);
  const [typed, setTyped] = useState('');
  const waiting = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey)
        return;
      // A question that is open is answered first.
      if (document.querySelector('dialog[open]:not(.palette)')) return;
      event.preventDefault();
      setTyped('');
      setOpen((before) => !before);
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, []);
  const close = () => {
    setOpen(false);
    setTyped('');
  };
  return (
    <>
      <button
        type="button"
        className="button plain"
        onClick={() => setOpen(true)}
        aria-keyshortcuts="Control+K"
        aria-haspopup="dialog"
        title="Find functions, nodes, types, revisions and commands (Ctrl-K)"
      >
        <Search size={15} aria-hidden />
        <span className="wide">Find</span>
        <span className="hidden narrow-only">Find</span>
        <kbd className="wide">Ctrl K</kbd>
      </button>
      {open && (
        <Suspense
          fallback={
            <PaletteFrame dialog={waiting} program={program} typed={typed} onType={setTyped} onClose={close}>
              <output className="palette-status muted">Loading…</output>
            </PaletteFrame>
          }
        >
          <Palette program={program} typed={typed} onType={setTyped} onClose={close} />
        </Suspense>
      )}
    </>
  );
}
