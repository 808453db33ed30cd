import type { FeedItemFragment } from '../../generated/graphql';
import type { LiveStatus } from '../../lib/follow';

/** A revision as the feed shows it. */
export type Item = FeedItemFragment;

/** A place that a revision touched: a function or type that can be opened, or something else by its path. */
export interface Touched {
  /** Ref of the function; null for what belongs to none, or is gone. */
  function: string | null;
  /** Path of the type; null for what is none and in none, or is gone. */
  type: string | null;
  path: string;
  /** Refs of what was touched in it. */
  refs: string[];
}

/** What the feed knows, and how it stands. */
export interface Feed {
  /** The revisions, newest first. */
  items: readonly Item[];
  /** Whether those of other branches are known, too, which stand among these. */
  whole: boolean;
  /** Revisions of other branches that are older than all that is shown. */
  beside: readonly Item[];
  /** Those that came while it was paused, newest first. */
  waiting: readonly Item[];
  paused: boolean;
  status: LiveStatus;
  /** The newest revision of `main` whose content is shown; null before anything is known. */
  head: number | null;
  /** What the last revision touched that arrived by itself, with a number that tells one light from the next. */
  light: { turn: number; refs: readonly string[] };
  /** What has come of a lost connection: the revisions since, and the one up to which they count. */
  catching: { count: number; until: number | null } | null;
  /** How many revisions came after a connection was lost, once all are there. */
  caughtUp: number | null;
  /** Whether revisions were left out by the server, so that only loading again shows all. */
  gap: boolean;
  /** How often a branch or checkpoint was made or removed, and how many of those the picture shows. */
  names: { changes: number; shown: number };
}

export const EMPTY: Feed = {
  items: [],
  whole: false,
  beside: [],
  waiting: [],
  paused: false,
  status: 'connecting',
  head: null,
  light: { turn: 0, refs: [] },
  catching: null,
  caughtUp: null,
  gap: false,
  names: { changes: 0, shown: 0 },
};

/** What can happen to a feed. */
export type Change =
  | { type: 'started'; items: readonly Item[]; head: number | null }
  | { type: 'arrived'; item: Item; touched: readonly string[] }
  /** A branch or checkpoint was made or removed. */
  | { type: 'named' }
  | { type: 'older'; items: readonly Item[] }
  /** Revisions of branches beside `main`, to stand among those of `main` as far as these are loaded. */
  | { type: 'beside'; items: readonly Item[] }
  | { type: 'status'; status: LiveStatus }
  /** The head's number, asked for after a connection came back. */
  | { type: 'until'; head: number }
  | { type: 'paused' }
  | { type: 'resumed' }
  | { type: 'noticed' }
  | { type: 'gap' };

/** More revisions than these are not kept: who wants older ones loads them. */
const KEPT = 500;
/** More refs than these light nothing up that an eye could follow. */
const LIGHTS = 400;

/** Whether the content of `main` is another one after a revision. */
export function movesHead({ branch, kind }: Pick<Item, 'branch' | 'kind'>): boolean {
  return branch === 'main' && kind !== 'BRANCH' && kind !== 'CHECKPOINT';
}

function newestFirst(items: readonly Item[]): Item[] {
  const known = new Map(items.map((item) => [item.number, item]));
  return [...known.values()].sort((a, b) => b.number - a.number);
}

function headOf(items: readonly Item[], before: number | null): number | null {
  return items.filter(movesHead).reduce<number | null>((head, { number }) => Math.max(head ?? 0, number), before);
}

/** A light of its own for what was touched; one that is about as long for nothing stays. */
function lit({ turn, refs }: Feed['light'], touched: readonly string[]): Feed['light'] {
  return touched.length === 0 ? { turn, refs } : { turn: turn + 1, refs: touched.slice(0, LIGHTS) };
}

function settled(feed: Feed): Feed {
  const { catching } = feed;
  if (!catching || catching.until === null) return feed;
  const newest = headOf([...feed.items, ...feed.waiting], feed.head) ?? 0;
  if (newest < catching.until) return feed;
  return { ...feed, catching: null, caughtUp: catching.count };
}

function arrived(feed: Feed, item: Item, touched: readonly string[]): Feed {
  if ([...feed.items, ...feed.waiting].some(({ number }) => number === item.number)) return feed;
  const catching = feed.catching && { ...feed.catching, count: feed.catching.count + 1 };
  if (feed.paused) return settled({ ...feed, catching, waiting: newestFirst([item, ...feed.waiting]) });
  const items = newestFirst([item, ...feed.items]).slice(0, KEPT);
  return settled({ ...feed, catching, items, head: headOf([item], feed.head), light: lit(feed.light, touched) });
}

/** Puts those of other branches among those of `main`, as far down as these are shown. */
function among(feed: Feed): Feed {
  const oldest = feed.items.at(-1)?.number ?? 0;
  // What has come by itself meanwhile is what the list had, and waits where that waits.
  const waiting = new Set(feed.waiting.map(({ number }) => number));
  const now = feed.beside.filter(({ number }) => number > oldest && !waiting.has(number));
  const beside = feed.beside.filter(({ number }) => number <= oldest);
  return { ...feed, items: newestFirst([...feed.items, ...now]), beside };
}

/** The feed after something happened. */
export function after(feed: Feed, change: Change): Feed {
  switch (change.type) {
    case 'started':
      return { ...EMPTY, items: newestFirst(change.items), head: change.head, status: feed.status };
    case 'arrived':
      return arrived(feed, change.item, change.touched);
    case 'named': {
      const changes = feed.names.changes + 1;
      return { ...feed, names: { changes, shown: feed.paused ? feed.names.shown : changes } };
    }
    case 'older':
      return among({ ...feed, items: newestFirst([...feed.items, ...change.items]) });
    case 'beside':
      return among({ ...feed, whole: true, beside: change.items });
    case 'status': {
      const back = feed.status === 'reconnecting' && change.status === 'connected';
      const lost = change.status === 'reconnecting';
      return {
        ...feed,
        status: change.status,
        catching: back ? { count: 0, until: null } : feed.catching,
        caughtUp: lost ? null : feed.caughtUp,
      };
    }
    case 'until':
      return settled({ ...feed, catching: feed.catching && { ...feed.catching, until: change.head } });
    case 'paused':
      return { ...feed, paused: true };
    case 'resumed': {
      const items = newestFirst([...feed.waiting, ...feed.items]).slice(0, KEPT);
      const touched = feed.waiting.flatMap(({ touched }) => touched?.nodes.map(({ ref }) => ref) ?? []);
      return {
        ...feed,
        paused: false,
        items,
        waiting: [],
        head: headOf(feed.waiting, feed.head),
        light: lit(feed.light, touched),
        names: { ...feed.names, shown: feed.names.changes },
      };
    }
    case 'noticed':
      return { ...feed, caughtUp: null };
    case 'gap':
      return { ...feed, gap: true };
  }
}

/** What is told by its ref when it is gone. */
const GONE: ReadonlySet<string> = new Set(['FUNCTION', 'MODULE', 'TYPE']);

/** The functions that a revision touched, each once, the most touched first; then everything else. */
export function touchedPlaces({ touched }: Pick<Item, 'touched'>): Touched[] {
  const places = new Map<string, Touched>();
  for (const { ref, kind, change, path, entity } of touched?.nodes ?? []) {
    const owner =
      entity && 'owner' in entity
        ? entity.owner
        : entity?.__typename === 'Function'
          ? { ref: entity.ref, path: entity.path }
          : null;
    // What is gone has no path any more; what was in it goes without saying.
    const gone = GONE.has(kind) && change === 'REMOVED' ? `${kind.toLowerCase()} ${ref}, removed` : null;
    // A field or variant is changed where its type is.
    const type = kind === 'TYPE' && path !== null ? path.replace(/\.[^.:]*$/, '') : null;
    const name = owner?.path ?? type ?? path ?? gone;
    if (!name) continue;
    const place = places.get(name) ?? { function: owner?.ref ?? null, type, path: name, refs: [] };
    place.refs.push(ref);
    places.set(name, place);
  }
  return [...places.values()].sort(
    (a, b) => Number(a.function === null) - Number(b.function === null) || b.refs.length - a.refs.length,
  );
}

/** What a revision did, in words, where its author left none. */
export function headline({ kind, message, checkpoint, target, branch }: Item): string {
  const to = target ? ` r${target.number}` : '';
  switch (kind) {
    case 'UNDO':
      return message ?? `Went back to${to}`;
    case 'REDO':
      return message ?? `Went forward to${to}`;
    case 'RESTORE':
      return message ?? `Restored${to}`;
    case 'REVERT':
      return message ?? `Took back${to}`;
    case 'CHECKPOINT':
      return message ?? (checkpoint ? `Checkpoint “${checkpoint}”` : 'Changed a checkpoint');
    case 'BRANCH':
      return message ?? `Branch “${branch}”`;
    case 'MERGE':
      return message ?? 'Merged a branch';
    case 'CREATE':
      return message ?? 'Made the program';
    case 'IMPORT':
      return message ?? 'Took a module in';
    case 'EDIT':
      return message ?? 'Edited without a message';
  }
}
