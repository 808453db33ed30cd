// The keys of the player. They work while the focus is in it, and not in a field.

/** What a key does. */
export type Command =
  | 'play'
  | 'step'
  | 'over'
  | 'out'
  | 'back'
  | 'run'
  | 'runBack'
  | 'start'
  | 'goto'
  | 'stop'
  | 'why'
  | 'whyNot'
  | 'innerFrame'
  | 'outerFrame'
  | 'keys';

/** Every key with what it does, in the order of the list. */
export const KEYS: readonly { keys: string; command: Command; what: string }[] = [
  { keys: 'p', command: 'play', what: 'play, or pause' },
  { keys: 's', command: 'step', what: 'one step, into calls' },
  { keys: 'o', command: 'over', what: 'over a call or a loop' },
  { keys: 'u', command: 'out', what: 'up, out of the call' },
  { keys: 'b', command: 'back', what: 'one step back' },
  { keys: 'r', command: 'run', what: 'run to the next breakpoint, or to the end' },
  { keys: 'R', command: 'runBack', what: 'run back to a breakpoint, or to the start' },
  { keys: '0', command: 'start', what: 'to the start' },
  { keys: 'g', command: 'goto', what: 'go to a step by its number' },
  { keys: 'x', command: 'stop', what: 'breakpoint at the selected node, or where it stands' },
  { keys: 'w', command: 'why', what: 'why the value of the selected node is what it is' },
  { keys: 'n', command: 'whyNot', what: 'why the selected node did not run' },
  { keys: ']', command: 'innerFrame', what: 'look at the call inside' },
  { keys: '[', command: 'outerFrame', what: 'look at the call around' },
  { keys: '?', command: 'keys', what: 'this list' },
];

/** What arrow keys do where nothing else in the player takes them, as the graph, the text, the tabs and the slider do. */
const ARROWS: Readonly<Record<string, Command>> = { ArrowLeft: 'back', ArrowRight: 'step' };

/** The command of a key, where a key may be one. */
export function commandOf(event: {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  target: EventTarget | null;
  defaultPrevented?: boolean;
}): Command | null {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return null;
  if (event.target instanceof Element && event.target.closest('textarea, select, input:not([type="range"]), dialog'))
    return null;
  const arrow = ARROWS[event.key];
  if (arrow) return event.target instanceof Element && usesArrows(event.target) ? null : arrow;
  return KEYS.find(({ keys }) => keys === event.key)?.command ?? null;
}

/** Whether an element moves something by arrow keys of itself: the slider, or what is scrolled sideways. */
function usesArrows(element: Element): boolean {
  return element.matches('input') || (element.matches('[tabindex="0"]') && element.scrollWidth > element.clientWidth);
}
