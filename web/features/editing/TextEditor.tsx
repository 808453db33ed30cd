import { useRef, useState, type RefObject } from 'react';

import { placeAt } from './draft';

/** A place of a text that something is wrong at. */
export interface Mark {
  line: number;
  /** From 1; null for the whole line. */
  column: number | null;
  /** How many characters are wrong. */
  length: number;
}

/** A plain editor: lines with numbers, places that are wrong underlined. Tab leaves it, as in every field. */
export function TextEditor(props: {
  field: RefObject<HTMLTextAreaElement | null>;
  label: string;
  describedBy: string;
  text: string;
  marks: readonly Mark[];
  readOnly: boolean;
  onChange(text: string): void;
  onApply(): void;
}) {
  const { field, label, describedBy, text, marks, readOnly, onChange, onApply } = props;
  const backdrop = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState({ line: 1, column: 1 });
  const lines = text.split('\n');
  const wrong = new Map(marks.map((mark) => [mark.line, mark]));
  const look = (element: HTMLTextAreaElement) => setPlace(placeAt(element.value, element.selectionStart));
  return (
    <div className="editor">
      <div className="editor-frame">
        <div ref={backdrop} className="editor-backdrop" aria-hidden>
          {lines.map((line, at) => {
            const mark = wrong.get(at + 1);
            return (
              // Lines have no names; the text is drawn as a whole.
              <div key={at} className={mark ? 'editor-line wrong' : 'editor-line'}>
                <span className="editor-number">{at + 1}</span>
                {mark?.column != null && (
                  <span className="editor-marks">
                    <span
                      className="editor-mark"
                      style={{
                        left: `calc(${Math.min(mark.column - 1, line.length)}ch + 6px)`,
                        width: `${Math.max(1, mark.length)}ch`,
                      }}
                    />
                  </span>
                )}
              </div>
            );
          })}
        </div>
        <textarea
          ref={field}
          className="editor-text"
          aria-label={label}
          aria-describedby={describedBy}
          aria-invalid={marks.length > 0}
          aria-keyshortcuts="Control+Enter"
          value={text}
          readOnly={readOnly}
          spellCheck={false}
          autoComplete="off"
          autoCapitalize="off"
          wrap="off"
          onChange={(event) => onChange(event.target.value)}
          onSelect={(event) => look(event.currentTarget)}
          onScroll={(event) => {
            const { scrollTop, scrollLeft } = event.currentTarget;
            backdrop.current?.style.setProperty('--top', `${-scrollTop}px`);
            backdrop.current?.style.setProperty('--left', `${-scrollLeft}px`);
          }}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
            event.preventDefault();
            onApply();
          }}
        />
      </div>
      <p className="editor-place muted numeric">
        line {place.line}, column {place.column} · Ctrl+Enter applies · Tab leaves the field
      </p>
    </div>
  );
}
