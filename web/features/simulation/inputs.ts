// Inputs of a run: what a form holds of them, and the text that stands for them.
import { unquoted } from '../../lib/values';
import { shapeOf, type Shape, type TypeInfo } from './types';

/** What a form holds of one value. */
export type Draft =
  | { kind: 'text'; text: string }
  | { kind: 'bool'; on: boolean }
  | { kind: 'unit' }
  | { kind: 'bytes'; as: 'text' | 'hex'; text: string }
  /** The elements of an array or the fields of a struct. */
  | { kind: 'list'; items: readonly Draft[] }
  /** One of several ways, with what it carries. */
  | { kind: 'choice'; at: number; payload: Draft | null }
  /** The text form, by hand. */
  | { kind: 'literal'; text: string };

/** Types inside types that a form unfolds; what is deeper begins as text. */
const DEEPEST = 6;

/** What a form begins with. */
export function blank(shape: Shape, types: readonly TypeInfo[], depth = 0): Draft {
  const inner = (type: string) => blank(shapeOf(type, types), types, depth + 1);
  if (depth > DEEPEST) return { kind: 'literal', text: '' };
  switch (shape.kind) {
    case 'int':
      return { kind: 'text', text: '0' };
    case 'float':
      return { kind: 'text', text: '0.0' };
    case 'string':
      return { kind: 'text', text: '' };
    case 'bytes':
      return { kind: 'bytes', as: 'text', text: '' };
    case 'bool':
      return { kind: 'bool', on: false };
    case 'unit':
      return { kind: 'unit' };
    case 'array':
      return { kind: 'list', items: Array.from({ length: Math.min(shape.length ?? 0, 64) }, () => inner(shape.of)) };
    case 'struct':
      return { kind: 'list', items: shape.fields.map(({ type }) => inner(type)) };
    case 'choice': {
      const at = Math.max(
        0,
        shape.ways.findIndex(({ payload }) => payload === null),
      );
      const payload = shape.ways[at]?.payload ?? null;
      return { kind: 'choice', at, payload: payload === null ? null : inner(payload) };
    }
    case 'text':
      return { kind: 'literal', text: '' };
  }
}

/** A text between quotes, as the text form has it. */
export function quoted(text: string): string {
  const escaped = text.replaceAll(/["\\\p{Cc}\p{Cf}]/gu, (char) => {
    switch (char) {
      case '"':
      case '\\':
        return `\\${char}`;
      case '\n':
        return '\\n';
      default:
        return `\\u{${char.codePointAt(0)?.toString(16)}}`;
    }
  });
  return `"${escaped}"`;
}

/** Bytes of a text in UTF-8, as the text form has them. */
function quotedBytes(text: string): string {
  const bytes = Array.from(new TextEncoder().encode(text), (byte) => {
    const char = String.fromCharCode(byte);
    return byte >= 0x20 && byte < 0x7f && char !== '"' && char !== '\\'
      ? char
      : `\\${byte.toString(16).padStart(2, '0')}`;
  });
  return `b"${bytes.join('')}"`;
}

/** The text form of what a form holds. */
export function literalOf(shape: Shape, draft: Draft, types: readonly TypeInfo[]): string {
  const inner = (type: string, value: Draft) => literalOf(shapeOf(type, types), value, types);
  switch (draft.kind) {
    case 'literal':
      return draft.text.trim();
    case 'text':
      return shape.kind === 'string' ? quoted(draft.text) : draft.text.trim();
    case 'bool':
      return String(draft.on);
    case 'unit':
      return 'unit';
    case 'bytes':
      return draft.as === 'hex' ? `hex"${draft.text.replaceAll(/\s/g, '')}"` : quotedBytes(draft.text);
    case 'list': {
      if (shape.kind === 'array') return `[${draft.items.map((item) => inner(shape.of, item)).join(', ')}]`;
      if (shape.kind !== 'struct') return '';
      const fields = shape.fields.map(({ name, type }, at) => {
        const item = draft.items[at];
        return `${name}: ${item ? inner(type, item) : '_'}`;
      });
      return `${shape.type}{${fields.join(', ')}}`;
    }
    case 'choice': {
      const way = shape.kind === 'choice' ? shape.ways[draft.at] : undefined;
      if (!way) return '';
      // What is built in has no type before its ways.
      const name = /^(option|result)</.test(shape.type) ? way.name : `${shape.type}.${way.name}`;
      return way.payload !== null && draft.payload ? `${name}(${inner(way.payload, draft.payload)})` : name;
    }
  }
}

/** An argument as the API takes it: for a `string` the text itself, else the text form. */
export function argumentOf(shape: Shape, draft: Draft, types: readonly TypeInfo[]): string {
  if (shape.kind === 'string' && draft.kind === 'text') return draft.text;
  return literalOf(shape, draft, types);
}

/** What a form holds of a value that the API told; what has no simple form stays as text. */
export function draftOf(shape: Shape, value: unknown): Draft {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  switch (shape.kind) {
    case 'int':
    case 'float':
      return { kind: 'text', text: text.replace(/^[if]\d+:/, '') };
    case 'bool':
      return { kind: 'bool', on: /(^|:)true$/.test(text) };
    case 'unit':
      return { kind: 'unit' };
    case 'string': {
      const plain = unquoted(text);
      return plain === null ? { kind: 'literal', text } : { kind: 'text', text: plain };
    }
    default:
      return { kind: 'literal', text };
  }
}

/** The least and the most that a whole number of a type can be; null for what is no such type. */
function rangeOf(type: string): readonly [least: bigint, most: bigint] | null {
  const [, sign, width] = /^([iu])(8|16|32|64)$/.exec(type) ?? [];
  if (width === undefined) return null;
  const bits = BigInt(width);
  return sign === 'u' ? [0n, (1n << bits) - 1n] : [-(1n << (bits - 1n)), (1n << (bits - 1n)) - 1n];
}

/** Why a whole number is none of its type, which is seen while it is typed; null if it is one, or no number yet. */
export function outOfRange(shape: Shape, draft: Draft): string | null {
  const range = draft.kind === 'text' && shape.kind === 'int' ? rangeOf(shape.type) : null;
  // Hex digits are the bits, and may be those of a negative number.
  const [, sign, digits] = (draft.kind === 'text' && /^([-+]?)(\d[\d_]*)$/.exec(draft.text.trim())) || [];
  if (!range || digits === undefined) return null;
  const size = BigInt(digits.replaceAll('_', ''));
  const number = sign === '-' ? -size : size;
  return number < range[0] || number > range[1] ? `${shape.type} takes ${range[0]} to ${range[1]}` : null;
}

/** A message of the server that names arguments by their places, with the names of parameters. */
export function named(message: string, params: readonly { name: string }[]): string {
  return message.replaceAll(/\bargs\[(\d+)\]/g, (place, at: string) => params[Number(at)]?.name ?? place);
}

/** What is wrong with what a form holds before the server is asked, in words; null if nothing is. */
export function slip(shape: Shape, draft: Draft): string | null {
  if (draft.kind === 'literal') return draft.text.trim() === '' ? `a ${shape.type} in the text form is needed` : null;
  if (draft.kind === 'bytes' && draft.as === 'hex' && !/^([0-9a-f]{2}|\s)*$/i.test(draft.text))
    return 'hex takes two digits for each byte';
  if (draft.kind !== 'text') return null;
  const text = draft.text.trim();
  if (shape.kind === 'int' && !/^[-+]?(0x[\da-f_]+|\d[\d_]*)$/i.test(text)) return `${shape.type} takes a whole number`;
  if (shape.kind === 'int') return outOfRange(shape, draft);
  if (shape.kind === 'float' && !/^[-+]?(nan(:0x[\da-f]+)?|inf|\d[\d_]*(\.\d*)?(e[-+]?\d+)?)$/i.test(text))
    return `${shape.type} takes a number, \`inf\` or \`nan\``;
  return null;
}

/** Which argument an error is at, from the path that the server gives: `args[1].x` is the second. */
export function argumentAt(path: readonly string[]): number | null {
  const [, at] = /^args\[(\d+)\]/.exec(path[0] ?? '') ?? [];
  return at === undefined ? null : Number(at);
}
