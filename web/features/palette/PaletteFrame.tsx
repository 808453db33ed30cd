import { Search } from 'lucide-react';
import { useLayoutEffect, useRef, type KeyboardEvent, type ReactNode, type RefObject } from 'react';

import './palette.css';

/** What is typed into the palette, which is kept while the rest of it is on its way. */
export interface Typing {
  typed: string;
  onType(text: string): void;
}

/** The palette around its list: a field that takes every key from the moment it is asked for. */
export function PaletteFrame(
  props: Typing & {
    dialog: RefObject<HTMLDialogElement | null>;
    program: string | undefined;
    /** The id of the list, and of what is chosen in it. */
    list?: string;
    active?: string | undefined;
    onKeyDown?(event: KeyboardEvent): void;
    onClose(): void;
    children: ReactNode;
  },
) {
  const { dialog, program, typed, onType, list, active, onKeyDown, onClose, children } = props;
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    dialog.current?.showModal();
    const end = field.current?.value.length ?? 0;
    field.current?.setSelectionRange(end, end);
  }, [dialog]);
  return (
    <dialog ref={dialog} className="dialog palette" aria-label="Find" onClose={onClose}>
      <div className="palette-input">
        <Search size={16} aria-hidden />
        <input
          ref={field}
          role="combobox"
          aria-label="Find functions, nodes, types, revisions and commands"
          aria-expanded={list !== undefined}
          aria-controls={list}
          aria-autocomplete="list"
          aria-activedescendant={active}
          placeholder={program ? `Find in ${program}, or type a command` : 'Find a program, a run or a command'}
          value={typed}
          onChange={(event) => onType(event.target.value)}
          onKeyDown={onKeyDown}
          autoComplete="off"
          spellCheck={false}
          maxLength={200}
          autoFocus
        />
        <button type="button" className="button plain" onClick={() => dialog.current?.close()}>
          <kbd>Esc</kbd>
          <span className="hidden">Close</span>
        </button>
      </div>
      {children}
    </dialog>
  );
}
