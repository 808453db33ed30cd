import type {
  FlowsQuery,
  SessionQuestionFragment,
  SessionRowFragment,
  TurnFactsFragment,
} from '../../generated/graphql';
import { aboutOf, WORDS } from '../../lib/words';
import { shortId } from '../runs';

/** A session, as the list has it. */
export type Session = SessionRowFragment;
/** A run of a session: what somebody said, what was asked, and what came of it. */
export type Turn = TurnFactsFragment;
/** A question of a run, with what was answered. */
export type Question = SessionQuestionFragment;
/** A flow that a session may be of. */
export type Flow = NonNullable<FlowsQuery['flows']>[number];

type Fields = Record<string, unknown>;

const fields = (value: unknown): Fields | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null;
const word = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null);
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const listed = (value: unknown): Fields[] =>
  list(value)
    .map(fields)
    .filter((each) => each !== null);

/** The flow that is offered first. */
const FIRST = 'act';

/** What a flow is told in words; null where words alone do not start it. */
export function wordsFieldOf(inputSchema: unknown): { name: string; doc: string | null } | null {
  const schema = fields(inputSchema);
  const properties = fields(schema?.['properties']);
  const name = WORDS.find((each) => fields(properties?.[each]) !== null);
  if (name === undefined) return null;
  // Whatever else is needed cannot be said in a turn.
  if (list(schema?.['required']).some((each) => each !== name)) return null;
  return { name, doc: word(fields(properties?.[name])?.['description']) };
}

/** Whether a flow is about a program that is named when a conversation with it begins. */
export function isAboutProgram(inputSchema: unknown): boolean {
  return fields(fields(fields(inputSchema)?.['properties'])?.['program']) !== null;
}

/** The flows that hold conversations, the one that is offered first before the others. */
export function talkingOf(flows: readonly Flow[]): Flow[] {
  const talking = flows.filter(({ inputSchema }) => wordsFieldOf(inputSchema) !== null);
  return [...talking.filter(({ name }) => name === FIRST), ...talking.filter(({ name }) => name !== FIRST)];
}

/** Signs of what is said that a title is made of: more than the server keeps, which first hides what is secret in it. */
const FOR_TITLE = 8_000;

/** The title of a session that is begun with words. */
export function titleOf(words: string): string {
  return Array.from(words.trim()).slice(0, FOR_TITLE).join('');
}

/** What an answer says, as it would be said. */
export function answerOf(answer: unknown): string {
  const { confirm, feedback, text, choice } = fields(answer) ?? {};
  const words = word(feedback) ?? word(text);
  if (typeof confirm === 'boolean') return [confirm ? 'Yes' : 'No', words].filter((part) => part !== null).join(': ');
  const chosen = word(choice);
  if (chosen !== null) return words === null ? chosen : `${chosen}: ${words}`;
  return words ?? JSON.stringify(answer);
}

/** How a question is answered. */
export type Manner = 'words' | 'confirm' | 'choice' | 'text';

/** The choices of a question. */
export function choicesOf({ choices }: Pick<Question, 'choices'>): string[] {
  return list(choices).filter((choice) => typeof choice === 'string');
}

/** How something that is asked is answered; where nothing is, words begin a run. */
export function mannerOf(asked: Pick<Question, 'type' | 'choices'> | null): Manner {
  if (asked === null) return 'words';
  if (asked.type === 'need_confirm') return 'confirm';
  return choicesOf(asked).length > 0 ? 'choice' : 'text';
}

/** What the reader is about to say. */
export interface Saying {
  words: string;
  confirm?: boolean;
  choice?: string;
}

/** What of it the server is told: an answer to what is asked, or the words of a new run; or what it lacks. */
export function turnOf(
  asked: Pick<Question, 'id' | 'type' | 'choices'> | null,
  { words: said, confirm, choice }: Saying,
): { turn: Fields } | { slip: string } {
  const words = said.trim();
  if (asked === null) return words === '' ? { slip: 'write what is to be done' } : { turn: { text: words } };
  const interruptId = asked.id;
  switch (mannerOf(asked)) {
    case 'confirm':
      // Words alone are a no that says what should be different.
      if (confirm === undefined && words === '') return { slip: 'say yes or no, or what should be different' };
      return { turn: { interruptId, confirm: confirm ?? false, ...(words && { feedback: words }) } };
    case 'choice': {
      const named = choice ?? choicesOf(asked).find((each) => each === words);
      if (named === undefined) return { slip: 'take one of the choices; the words go with it' };
      return { turn: { interruptId, choice: named, ...(words && words !== named && { text: words }) } };
    }
    case 'text':
    case 'words':
      return words === '' ? { slip: 'write an answer' } : { turn: { interruptId, text: words } };
  }
}

/** How what the reader says looks before the server has it. */
export function sayingWords({ words, confirm, choice }: Saying): string {
  const said = words.trim();
  const first = confirm === undefined ? choice : confirm ? 'Yes' : 'No';
  if (first === undefined) return said;
  return said === '' || said === first ? first : `${first}: ${said}`;
}

/** The runs of a session that are turns of it, the oldest first; what runs ask that another one waits for is asked in its turn. */
export function turnsOf(newestFirst: readonly Turn[]): Turn[] {
  const known = new Map(newestFirst.map((run) => [run.id, run]));
  const asked = new Map<string, Question[]>();
  for (const run of newestFirst) {
    let root: Turn | undefined = run;
    while (root?.parent) root = known.get(root.parent.id);
    if (root && root !== run) asked.set(root.id, [...(run.interrupts ?? []), ...(asked.get(root.id) ?? [])]);
  }
  const turns = newestFirst.filter(({ parent }) => parent === null).reverse();
  return turns.map((turn) => {
    const more = asked.get(turn.id);
    if (!more?.length || !turn.interrupts) return turn;
    const all = [...turn.interrupts, ...more].sort((a, b) => Date.parse(a.askedAt) - Date.parse(b.askedAt));
    return { ...turn, interrupts: all };
  });
}

/** What is asked now: the oldest open question, as the server takes it. */
export function askedOf(turns: readonly Turn[]): Question | null {
  const open = turns.flatMap(({ interrupts }) => interrupts ?? []).filter(({ status }) => status === 'OPEN');
  return open.reduce<Question | null>(
    (oldest, each) => (oldest === null || Date.parse(each.askedAt) < Date.parse(oldest.askedAt) ? each : oldest),
    null,
  );
}

/** What was found: a table, or entities with their relations. */
export type Found =
  | { kind: 'table'; columns: string[]; rows: (readonly unknown[])[]; cut: boolean }
  | { kind: 'graph'; nodes: { entity: string; props: unknown }[]; edges: string[][]; cut: boolean };

/** How a value stands in a cell. */
export function cellOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** What an answer says was found; null where nothing was looked for. */
export function foundOf(value: unknown): Found | null {
  const found = fields(value);
  if (!found) return null;
  const cut = found['truncated'] === true;
  if (Array.isArray(found['columns']))
    return { kind: 'table', columns: list(found['columns']).map(cellOf), rows: list(found['rows']).map(list), cut };
  if (!Array.isArray(found['nodes']) && !Array.isArray(found['edges'])) return null;
  return {
    kind: 'graph',
    nodes: listed(found['nodes']).map(({ entity, props }) => ({ entity: cellOf(entity), props })),
    edges: list(found['edges']).map((edge) => list(edge).map(cellOf)),
    cut,
  };
}

/** What was found in words, as a flow says it where it has nothing else to say. */
function foundWords(found: Found): string {
  const lines =
    found.kind === 'table'
      ? [found.columns, ...found.rows].map((row) => row.map(cellOf).join(', '))
      : [
          ...found.nodes.map(({ entity, props }) => `${entity} ${JSON.stringify(props)}`),
          ...found.edges.map((edge) => edge.join(' ')),
        ];
  return [...lines, ...(found.cut ? ['and more'] : [])].join('\n');
}

/** What was counted of entities, in the order in which it is told. */
export const KINDS = ['created', 'updated', 'deleted', 'unchanged'] as const;

/** What a run came to, of what flows say. */
export interface Result {
  text: string | null;
  /** How it ended, where that is not `done`. */
  outcome: string | null;
  counts: { kind: (typeof KINDS)[number]; count: number }[];
  found: Found | null;
  failures: { code: string; message: string; attempt: number | null; failureClass: string | null }[];
  /** Whether rules decided, and no model was asked. */
  byRules: boolean;
  /** A draft: its text, what is wrong with it, and what was handed out. */
  sql: string | null;
  violations: string[];
  pipeline: unknown;
}

/** A list of streams, or the columns of one, as a table. */
function catalogOf(state: Fields): Found | null {
  if (state['outcome'] === 'listed')
    return { kind: 'table', columns: ['stream'], rows: listed(state['streams']).map(({ name }) => [name]), cut: false };
  if (state['outcome'] !== 'described') return null;
  const columns = listed(fields(state['stream_schema'])?.['columns']);
  const rows = columns.map((column) => [column['name'], column['data_type']]);
  return { kind: 'table', columns: ['column', 'type'], rows, cut: false };
}

/** What the state of a run says that it came to. */
export function resultOf(given: unknown, progress: readonly string[] = []): Result {
  const state = fields(given) ?? {};
  const answer = fields(state['answer']);
  const found = foundOf(answer?.['found']) ?? catalogOf(state);
  const counts = fields(answer?.['counts']) ?? {};
  const said = word(answer?.['text']);
  const shown = found && foundWords(found);
  // What stands in the table is not told twice.
  const text = said !== null && shown !== null && said.startsWith(shown) ? said.slice(shown.length).trim() : said;
  const outcome = word(state['outcome']);
  const pipeline = state['pipeline'] ?? null;
  return {
    text: text || (said === null && found === null && pipeline === null ? (progress.at(-1) ?? null) : null),
    outcome: outcome === 'done' ? null : outcome,
    counts: KINDS.flatMap((kind) => {
      const count = counts[kind];
      return typeof count === 'number' && count > 0 ? [{ kind, count }] : [];
    }),
    found,
    failures: listed(state['failures']).map(({ code, message, attempt, class: failureClass }) => ({
      code: word(code) ?? 'ERROR',
      message: word(message) ?? '',
      attempt: typeof attempt === 'number' ? attempt : null,
      failureClass: word(failureClass),
    })),
    byRules: state['provider'] === 'rules',
    sql: word(fields(state['draft'])?.['sql']),
    violations: listed(state['violations']).flatMap(({ message }) => word(message) ?? []),
    pipeline,
  };
}

/** The newest thing that the flow has said: what it asks, or what it came to. */
export function newestOf(turns: readonly Turn[], states: ReadonlyMap<string, unknown>): string | null {
  const turn = turns.at(-1);
  if (!turn) return null;
  const asked = turn.interrupts?.findLast(({ status }) => status === 'OPEN');
  if (asked) return asked.question;
  if (!states.has(turn.id)) return null;
  const { text, found } = resultOf(states.get(turn.id), turn.progress ?? []);
  if (text !== null) return text;
  if (found === null) return null;
  const parts = found.kind === 'table' ? found.rows.length : found.nodes.length;
  return `Found ${parts} ${parts === 1 ? 'row' : 'rows'}.`;
}

/** What a session is called: by its title, or by what its only run is about. */
export function nameOf({ id, title, runs }: Session): string {
  const only = runs?.totalCount === 1 ? runs.nodes[0] : undefined;
  return title ?? (only && aboutOf({ ...only, session: { title } })) ?? `conversation ${shortId(id)}`;
}

/** Sessions as they are loaded, with what has become of the newest since. */
export function merged(loaded: readonly Session[], newest: readonly Session[]): Session[] {
  const fresh = new Map(newest.map((session) => [session.id, session]));
  const known = new Set(loaded.map(({ id }) => id));
  return [...newest.filter(({ id }) => !known.has(id)), ...loaded.map((session) => fresh.get(session.id) ?? session)];
}
