import { Fragment, useEffect, useEffectEvent, useMemo, useRef, useState, type KeyboardEvent } from 'react';

import { LineStop } from './LineStop';
import type { Mark } from './marks';
import { lineByRef, linesOfText, type TextLine, type Word } from '../../lib/text';
import { lineAt, topsOf, wrapped, type Wrapped } from '../../lib/wrap';
import './marks.css';
import './text.css';

/** The height of a row in pixels; the style sheet has the same. */
const LINE = 20;
/** Rows beyond what is seen, so that scrolling shows no blank. */
const SPARE = 20;
/** What stands beside the text of a line, in pixels: its number, the place of a breakpoint, the space at the end. */
const BESIDE = { number: 52, gutter: 12, end: 14 };
/** Narrower than so many characters no row becomes. */
const LEAST = 16;
/** What tells how wide a character is. */
const RULER = '0'.repeat(20);
const NO_ROWS: Wrapped = { rows: [[]], indent: 0 };

/** What the text shows and tells. */
export interface TextProps {
  text: string;
  selected: string | null;
  hovered: string | null;
  lit: ReadonlySet<string>;
  /** What a run says at nodes, by ref. */
  marks?: ReadonlyMap<string, Mark>;
  /** The node that is kept in view beside the selection. */
  follow?: string | null;
  /** Sets a breakpoint at a node, or takes it away; absent where nothing runs. */
  onStop?: (ref: string) => void;
  onSelect(ref: string | null): void;
  onHover(ref: string | null): void;
  onOpen(ref: string): void;
}

/**
 * The text form of a function, linked with the graph both ways. Lines that are longer than the pane is wide are wrapped;
 * only those that are seen are drawn.
 */
export function TextPane(props: TextProps) {
  const { text, selected, hovered, lit, marks, follow = null, onStop, onSelect, onHover, onOpen } = props;
  const lines = useMemo(() => linesOfText(text), [text]);
  const places = useMemo(() => lineByRef(lines), [lines]);
  const pane = useRef<HTMLDivElement>(null);
  const gutter = onStop !== undefined;
  const ruler = useRef<HTMLSpanElement>(null);
  const [view, setView] = useState({ top: 0, height: 800, columns: 80 });
  const [at, setAt] = useState(0);

  useEffect(() => {
    const element = pane.current;
    if (!element) return;
    const beside = BESIDE.number + BESIDE.end + (gutter ? BESIDE.gutter : 0);
    const look = () => {
      const letter = (ruler.current?.getBoundingClientRect().width ?? 0) / RULER.length;
      const columns = letter > 0 && element.clientWidth > 0 ? Math.floor((element.clientWidth - beside) / letter) : 80;
      setView({ top: element.scrollTop, height: element.clientHeight, columns: Math.max(LEAST, columns) });
    };
    look();
    const watch = new ResizeObserver(look);
    watch.observe(element);
    element.addEventListener('scroll', look, { passive: true });
    return () => {
      watch.disconnect();
      element.removeEventListener('scroll', look);
    };
  }, [gutter]);
  const rows = useMemo(() => lines.map(({ words }) => wrapped(words, view.columns)), [lines, view.columns]);
  const tops = useMemo(() => topsOf(rows), [rows]);
  const topOf = (line: number) => (tops[line] ?? 0) * LINE;

  const chosen = selected === null ? undefined : places.get(selected);
  const line = chosen ?? Math.min(at, lines.length - 1);
  // Where it stands by then is the place of the line, which a pane of another width changes.
  const show = useEffectEvent((line: number) => {
    const element = pane.current;
    if (!element) return;
    const top = topOf(line);
    if (top < element.scrollTop + LINE || topOf(line + 1) > element.scrollTop + element.clientHeight - LINE)
      element.scrollTop = Math.max(0, top - element.clientHeight / 3);
  });
  useEffect(() => {
    if (chosen !== undefined) show(chosen);
  }, [chosen, tops]);
  const followed = follow === null ? undefined : places.get(follow);
  useEffect(() => {
    if (followed !== undefined) show(followed);
  }, [follow, followed, tops]);

  const go = (to: number) => {
    const next = Math.max(0, Math.min(lines.length - 1, to));
    setAt(next);
    const element = pane.current;
    if (element) {
      const [top, bottom] = [topOf(next), topOf(next + 1)];
      if (top < element.scrollTop) element.scrollTop = top;
      else if (bottom > element.scrollTop + element.clientHeight) element.scrollTop = bottom - element.clientHeight;
    }
    onSelect(lines[next]?.refs[0] ?? null);
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const refs = lines[line]?.refs ?? [];
    const here = selected === null ? -1 : refs.indexOf(selected);
    switch (event.key) {
      case 'ArrowDown':
        go(line + 1);
        break;
      case 'ArrowUp':
        go(line - 1);
        break;
      case 'Home':
        go(0);
        break;
      case 'End':
        go(lines.length - 1);
        break;
      case 'ArrowRight':
        if (refs[here + 1]) onSelect(refs[here + 1] ?? null);
        break;
      case 'ArrowLeft':
        if (refs[here - 1]) onSelect(refs[here - 1] ?? null);
        break;
      case 'Enter':
        if (selected) onOpen(selected);
        break;
      case 'Escape':
        onSelect(null);
        break;
      default:
        return;
    }
    event.preventDefault();
  };

  const first = lineAt(tops, Math.floor(view.top / LINE) - SPARE);
  const last = Math.min(lines.length, lineAt(tops, Math.ceil((view.top + view.height) / LINE) + SPARE) + 1);
  const active = line >= first && line < last ? `line-${line}` : undefined;
  return (
    <div
      ref={pane}
      className="text"
      tabIndex={0}
      role="listbox"
      aria-label="Text of the function"
      aria-activedescendant={active}
      onKeyDown={onKeyDown}
      onMouseLeave={() => onHover(null)}
    >
      <div role="presentation" className="text-lines" style={{ height: topOf(lines.length) }}>
        <span ref={ruler} className="text-ruler" aria-hidden>
          {RULER}
        </span>
        {lines.slice(first, last).map((each, index) => (
          <Line
            key={first + index}
            at={first + index}
            total={lines.length}
            top={topOf(first + index)}
            line={each}
            wrapped={rows[first + index] ?? NO_ROWS}
            active={first + index === chosen}
            selected={selected}
            hovered={hovered}
            lit={each.refs.some((ref) => lit.has(ref))}
            marks={marks}
            onStop={onStop}
            onSelect={onSelect}
            onHover={onHover}
            onOpen={onOpen}
          />
        ))}
      </div>
    </div>
  );
}

type LineProps = Pick<TextProps, 'selected' | 'hovered' | 'onSelect' | 'onHover' | 'onOpen'> & {
  at: number;
  total: number;
  /** Where it begins, in pixels. */
  top: number;
  line: TextLine;
  wrapped: Wrapped;
  active: boolean;
  lit: boolean;
  marks: ReadonlyMap<string, Mark> | undefined;
  onStop: ((ref: string) => void) | undefined;
};

function Line(props: LineProps) {
  const { at, total, top, line, wrapped, active, lit, marks, selected, hovered, onStop, onSelect, onHover, onOpen } =
    props;
  const near = hovered !== null && line.refs.includes(hovered);
  const here = line.refs.some((ref) => marks?.get(ref)?.here);
  const classes = ['text-line', active && 'active', near && 'near', lit && 'lit-line', here && 'here-line'];
  return (
    <div
      id={`line-${at}`}
      role="option"
      tabIndex={-1}
      aria-selected={active}
      aria-setsize={total}
      aria-posinset={at + 1}
      className={classes.filter(Boolean).join(' ')}
      style={{ top, height: wrapped.rows.length * LINE }}
      data-refs={line.refs.join(' ')}
    >
      <span className="text-number" aria-hidden>
        {at + 1}
      </span>
      {onStop && <LineStop refs={line.refs} marks={marks} onStop={onStop} />}
      {wrapped.rows.map((row, at) => (
        // Rows and words have no names; a line is replaced as a whole.
        <Fragment key={at}>
          {at > 0 && <br />}
          {at > 0 && <span className="text-indent" style={{ width: `${wrapped.indent}ch` }} />}
          {row.map((word, index) => (
            <Piece
              key={index}
              word={word}
              selected={word.ref !== null && word.ref === selected}
              hovered={word.ref !== null && word.ref === hovered}
              here={word.ref !== null && line.refs.includes(word.ref) && (marks?.get(word.ref)?.here ?? false)}
              onSelect={onSelect}
              onHover={onHover}
              onOpen={onOpen}
            />
          ))}
        </Fragment>
      ))}
    </div>
  );
}

type PieceProps = Pick<TextProps, 'onSelect' | 'onHover' | 'onOpen'> & {
  word: Word;
  selected: boolean;
  hovered: boolean;
  here: boolean;
};

function Piece({ word: { text, kind, ref }, selected, hovered, here, onSelect, onHover, onOpen }: PieceProps) {
  if (!ref?.startsWith('n')) return <span className={`w-${kind}`}>{text}</span>;
  const classes = ['w-node', `w-${kind}`, selected && 'selected', hovered && 'hovered', here && 'here'];
  return (
    // The keys of the list lead to every node.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-static-element-interactions
    <span
      className={classes.filter(Boolean).join(' ')}
      data-node={ref}
      title={ref}
      onClick={() => onSelect(ref)}
      onDoubleClick={() => onOpen(ref)}
      onMouseEnter={() => onHover(ref)}
      onMouseLeave={() => onHover(null)}
    >
      {text}
    </span>
  );
}
