import { parse, print, Source, TokenKind, type Token } from 'graphql';
import { applyEdits, format, parse as parseJson, type ParseError } from 'jsonc-parser';

/** The tokens of a document, comments included. */
function tokensOf(document: string): Token[] {
  const tokens: Token[] = [];
  const { loc } = parse(new Source(document));
  for (let token = loc?.startToken.next; token; token = token.next) tokens.push(token);
  return tokens;
}

const isComment = ({ kind }: Token) => kind === TokenKind.COMMENT;
const isSame = (a: Token | undefined, b: Token | undefined) => a?.kind === b?.kind && a?.value === b?.value;

/** The printed token that each token of a document has become; undefined when that cannot be told. */
function counterparts(written: readonly Token[], printed: readonly Token[]): Map<Token, Token> | undefined {
  const found = new Map<Token, Token>();
  let at = 0;
  for (const token of written) {
    const other = printed[at];
    if (other && isSame(token, other)) {
      found.set(token, other);
      at += 1;
      // A query without a name is printed without the word.
    } else if (other && token.value === 'query') found.set(token, other);
    else return undefined;
  }
  return at === printed.length ? found : undefined;
}

/** What is written around a line of the printed document. */
interface Remarks {
  above: string[];
  behind: string[];
}

/**
 * A document in the usual form, with its comments: printing alone leaves them out.
 *
 * A comment goes to the line of what it stands before, or, at the end of a line, behind that of what it stands after.
 * Throws a `GraphQLError` for what is no document.
 */
export function prettyDocument(document: string): string {
  const all = tokensOf(document);
  const plain = print(parse(document));
  if (!all.some(isComment)) return `${plain}\n`;
  const found = counterparts(
    all.filter((token) => !isComment(token)),
    tokensOf(plain),
  );
  if (!found) return document;

  const lines = plain.split('\n');
  const end: string[] = [];
  const remarks = lines.map((): Remarks => ({ above: [], behind: [] }));
  const remarksOf = (token: Token | undefined) => token && remarks[(found.get(token)?.line ?? 0) - 1];
  all.forEach((comment, index) => {
    if (!isComment(comment)) return;
    const text = `#${comment.value}`.trimEnd();
    const before = all[index - 1];
    if (before && before.line === comment.line) return remarksOf(before)?.behind.push(text);
    const after = all.slice(index).find((token) => !isComment(token));
    const above = after?.kind === TokenKind.EOF ? end : remarksOf(after)?.above;
    // Inside of what ends there.
    const indent = after?.kind === TokenKind.BRACE_R ? '  ' : '';
    above?.push(indent + text);
    const next = all[index + 1];
    if (next && next.line - comment.line > 1) above?.push('');
  });
  const pretty = lines.flatMap((line, index) => {
    const { above = [], behind = [] } = remarks[index] ?? {};
    const indent = /^ */.exec(line)?.[0] ?? '';
    return [...above.map((text) => (text ? indent + text : '')), [line, ...behind].join(' ')];
  });
  return `${[...pretty, ...end].join('\n').trim()}\n`;
}

/** JSON in the usual form, comments included. Throws for what is none. */
export function prettyJson(text: string): string {
  const errors: ParseError[] = [];
  parseJson(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  if (errors.length > 0) throw new SyntaxError('this is no JSON');
  return applyEdits(text, format(text, undefined, { tabSize: 2, insertSpaces: true, eol: '\n' }));
}
