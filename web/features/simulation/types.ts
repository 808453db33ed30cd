// The types of parameters, read from their text form.

/** What a value of a type is made of. */
export type Shape =
  | { kind: 'int' | 'float' | 'string' | 'bytes' | 'bool' | 'unit'; type: string }
  | { kind: 'array'; type: string; of: string; length: number | null }
  | { kind: 'struct'; type: string; fields: readonly { name: string; type: string }[] }
  | { kind: 'choice'; type: string; ways: readonly { name: string; payload: string | null }[] }
  /** What there is no form for: it is written as text. */
  | { kind: 'text'; type: string };

/** A nominal type of the program. */
export interface TypeInfo {
  ref: string;
  name: string;
  path: string;
  kind: 'ENUM' | 'STRUCT';
  fields: readonly { name: string; type: string }[];
  variants: readonly { name: string; payload: string | null }[];
}

const PLAIN: Record<string, Shape['kind'] & ('int' | 'float' | 'string' | 'bytes' | 'bool' | 'unit')> = {
  i8: 'int',
  i16: 'int',
  i32: 'int',
  i64: 'int',
  f32: 'float',
  f64: 'float',
  bool: 'bool',
  string: 'string',
  bytes: 'bytes',
  unit: 'unit',
};

/** Cuts `i32, array<i64, 2>` at the commas that stand in no brackets. */
export function parts(text: string): string[] {
  const found: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (char === '<' || char === '(') depth += 1;
    // The arrow of a closure's type is no bracket.
    else if ((char === '>' && text[at - 1] !== '-') || char === ')') depth -= 1;
    else if (char === ',' && depth === 0) {
      found.push(text.slice(start, at).trim());
      start = at + 1;
    }
  }
  const last = text.slice(start).trim();
  return last === '' ? found : [...found, last];
}

/** Reads a type; one that is not known is `text`. */
export function shapeOf(type: string, types: readonly TypeInfo[]): Shape {
  const plain = PLAIN[type];
  if (plain) return { kind: plain, type };
  const [, outer, inner] = /^(array|option|result)<(.*)>$/.exec(type) ?? [];
  if (outer !== undefined && inner !== undefined) {
    const [first = '', second] = parts(inner);
    switch (outer) {
      case 'array':
        return { kind: 'array', type, of: first, length: second === undefined ? null : Number(second) };
      case 'option':
        return {
          kind: 'choice',
          type,
          ways: [
            { name: 'none', payload: null },
            { name: 'some', payload: first },
          ],
        };
      case 'result':
        return {
          kind: 'choice',
          type,
          ways: [
            { name: 'ok', payload: first },
            { name: 'err', payload: second ?? 'unit' },
          ],
        };
    }
  }
  const found = types.find(({ ref, name, path }) => type === name || type === path || type === ref);
  if (!found) return { kind: 'text', type };
  if (found.kind === 'STRUCT') return { kind: 'struct', type, fields: found.fields };
  return { kind: 'choice', type, ways: found.variants };
}
