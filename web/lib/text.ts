// The text form of a function, cut into words that know which entity they stand for.

/** What a word is, for its colour. */
export type WordKind = 'plain' | 'comment' | 'string' | 'number' | 'keyword' | 'type';

/** A word of a line, or what stands between two. */
export interface Word {
  text: string;
  kind: WordKind;
  /** The ref that is written behind it, without the `#`. */
  ref: string | null;
}

/** A line of the text. */
export interface TextLine {
  words: Word[];
  /** The nodes that run in it, from left to right; what is only named there runs further up. */
  refs: string[];
}

const KEYWORDS = new Set(
  (
    'module func pub pure reads import export start type struct enum var require ensure invariant return yield break ' +
    'break_if continue continue_if if else loop block match case default call global memory table'
  ).split(' '),
);
const TYPES = new Set('i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 bool char string bytes unit never'.split(' '));

/** Comments, strings, refs, numbers, words, and all else. */
const WORD = /(;.*$)|("(?:[^"\\]|\\.)*")|#([a-z]\d+)\b|((?<![\w.])-?\d[\w.]*)|([A-Za-z_][\w.]*)|([^\w";#-]+|.)/g;

function wordsOf(line: string): Word[] {
  const words: Word[] = [];
  for (const [text, comment, string, ref, number, name] of line.matchAll(WORD)) {
    if (ref !== undefined) {
      const last = words.at(-1);
      // A ref behind a blank is of what follows, which the braces show.
      if (last?.text.endsWith(' ')) last.text = last.text.slice(0, -1);
      else if (last) last.ref = ref;
      continue;
    }
    const kind: WordKind =
      comment !== undefined
        ? 'comment'
        : string !== undefined
          ? 'string'
          : number !== undefined
            ? 'number'
            : name === undefined
              ? 'plain'
              : KEYWORDS.has(name)
                ? 'keyword'
                : TYPES.has(name)
                  ? 'type'
                  : 'plain';
    // What has no name stands under its ref, which no name can look like.
    const own = name !== undefined && /^n\d+$/.test(name) ? name : null;
    words.push({ text, kind, ref: own });
  }
  return words;
}

/** Reads the text form of a function. */
export function linesOfText(text: string): TextLine[] {
  const above = new Set<string>();
  return text
    .trimEnd()
    .split('\n')
    .map((line) => {
      const words = wordsOf(line);
      const named = words.flatMap(({ ref }) => (ref?.startsWith('n') ? [ref] : []));
      const refs = [...new Set(named)].filter((ref) => !above.has(ref));
      for (const ref of refs) above.add(ref);
      return { words, refs };
    });
}

/** The line of each ref. */
export function lineByRef(lines: readonly TextLine[]): Map<string, number> {
  const found = new Map<string, number>();
  lines.forEach(({ words }, at) => {
    for (const { ref } of words) if (ref && !found.has(ref)) found.set(ref, at);
  });
  return found;
}

/** The name of a node in the text of its function; empty for one that has none. */
export function labelOf(text: string, node: string): string {
  return new RegExp(`([A-Za-z_]\\w*)#${node}\\b(?=[^=(]*=)`).exec(text)?.[1] ?? '';
}

/** A function as its messages name it and what is in it. */
export interface Named {
  ref: string;
  name: string;
  text: string;
  params: readonly string[];
}

/** A message with what its refs stand for in the function that it is about: names, or what stands in which line. */
export function withoutRefs(message: string, { ref: self, name, text, params }: Named): string {
  const lines = linesOfText(text);
  const places = lineByRef(lines);
  return message.replaceAll(/`([a-z]\d+)(?:\.(\d+))?`/g, (given, ref: string, port: string | undefined) => {
    if (ref === self) return `\`${port === undefined ? name : (params[Number(port)] ?? port)}\``;
    const label = labelOf(text, ref);
    if (label !== '') return port === undefined ? `\`${label}\`` : `output ${port} of \`${label}\``;
    const line = ref.startsWith('n') ? places.get(ref) : undefined;
    const words = line === undefined ? [] : (lines[line]?.words ?? []);
    const word = words.find((each) => each.ref === ref)?.text;
    if (line === undefined || word === undefined) return given;
    // Two of an operator in one line are told apart.
    const which = words.filter((each) => each.ref !== null && each.text === word).length > 1 ? ` (\`${ref}\`)` : '';
    return `${port === undefined ? '' : `output ${port} of `}\`${word}\`${which} in line ${line + 1}`;
  });
}

/** The text form of a function without the refs of what has a name or stands in a place of its own. */
export function plainText(text: string): string {
  return linesOfText(text)
    .map(({ words }) => words.map(({ text }) => text).join(''))
    .join('\n');
}

/** What a contract demands: the lines of its text without its name and what it is for. */
export function demandOf(contract: string): string[] {
  const body = /^\w+ "(?:[^"\\]|\\.)*"[^{]*\{([^]*)\}\s*$/.exec(plainText(contract))?.[1] ?? '';
  const lines = body.split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '').map((line) => line.replace(/^yield (?:\((.*)\)$)?/, '$1'));
}
