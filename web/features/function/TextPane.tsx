import { useEffect, useMemo, useRef, useState, type KeyboardEvent } from 'react';

import { LineStop } from './LineStop';
import type { Mark } from './marks';
import { lineByRef, linesOfText, type TextLine, type Word } from '../../lib/text';
import './marks.css';
import './text.css';

/** The height of a line in pixels; the style sheet has the same. */
const LINE = 20;
/** Lines beyond what is seen, so that scrolling shows no blank. */
const SPARE = 20;

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

/** The text form of a function, linked with the graph both ways. Only the lines that are seen are drawn. */
export function TextPane(props: TextProps) {
  const { text, selected, hovered, lit, marks, follow = null, onStop, onSelect, onHover, onOpen } = props;
  const lines = useMemo(() => linesOfText(text), [text]);
  const places = useMemo(() => lineByRef(lines), [lines]);
  const pane = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 800 });
  const [at, setAt] = useState(0);

  useEffect(() => {
    const element = pane.current;
    if (!element) return;
    const look = () => setView({ top: element.scrollTop, height: element.clientHeight });
    const watch = new ResizeObserver(look);
    watch.observe(element);
    element.addEventListener('scroll', look, { passive: true });
    return () => {
      watch.disconnect();
      element.removeEventListener('scroll', look);
    };
  }, []);

  const chosen = selected === null ? undefined : places.get(selected);
  const line = chosen ?? Math.min(at, lines.length - 1);
  useEffect(() => {
    const element = pane.current;
    if (!element || chosen === undefined) return;
    const top = chosen * LINE;
    if (top < element.scrollTop + LINE || top > element.scrollTop + element.clientHeight - 2 * LINE)
      element.scrollTop = Math.max(0, top - element.clientHeight / 3);
  }, [chosen]);

  useEffect(() => {
    const element = pane.current;
    const line = follow === null ? undefined : places.get(follow);
    if (!element || line === undefined) return;
    const top = line * LINE;
    if (top < element.scrollTop + LINE || top > element.scrollTop + element.clientHeight - 2 * LINE)
      element.scrollTop = Math.max(0, top - element.clientHeight / 3);
    const word = element.querySelector<HTMLElement>(`[data-node="${follow}"]`);
    if (!word) return;
    const [left, right] = [word.offsetLeft, word.offsetLeft + word.offsetWidth];
    // The beginnings of lines are seen wherever the word allows it.
    if (right <= element.clientWidth) element.scrollLeft = 0;
    else if (left < element.scrollLeft || right > element.scrollLeft + element.clientWidth)
      element.scrollLeft = right - element.clientWidth + LINE;
  }, [follow, places]);

  const go = (to: number) => {
    const next = Math.max(0, Math.min(lines.length - 1, to));
    setAt(next);
    const element = pane.current;
    if (element) {
      const top = next * LINE;
      if (top < element.scrollTop) element.scrollTop = top;
      else if (top > element.scrollTop + element.clientHeight - LINE)
        element.scrollTop = top - element.clientHeight + LINE;
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

  const first = Math.max(0, Math.floor(view.top / LINE) - SPARE);
  const last = Math.min(lines.length, Math.ceil((view.top + view.height) / LINE) + SPARE);
  const longest = useMemo(
    () =>
      lines.reduce(
        (most, { words }) =>
          Math.max(
            most,
            words.reduce((sum, { text }) => sum + text.length, 0),
          ),
        0,
      ),
    [lines],
  );
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
      <div
        role="presentation"
        className="text-lines"
        style={{ height: lines.length * LINE, minWidth: `calc(${longest}ch + 70px)` }}
      >
        {lines.slice(first, last).map((each, index) => (
          <Line
            key={first + index}
            at={first + index}
            total={lines.length}
            line={each}
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
  line: TextLine;
  active: boolean;
  lit: boolean;
  marks: ReadonlyMap<string, Mark> | undefined;
  onStop: ((ref: string) => void) | undefined;
};

function Line(props: LineProps) {
  const { at, total, line, active, lit, marks, selected, hovered, onStop, onSelect, onHover, onOpen } = props;
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
      style={{ top: at * LINE }}
      data-refs={line.refs.join(' ')}
    >
      <span className="text-number" aria-hidden>
        {at + 1}
      </span>
      {onStop && <LineStop refs={line.refs} marks={marks} onStop={onStop} />}
      {line.words.map((word, index) => (
        <Piece
          // Words have no names; a line is replaced as a whole.
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
