// Values as the API tells and takes them.

/** The text of a literal between quotes; null for what is none. */
export function unquoted(text: string): string | null {
  const [, inner] = /^"((?:[^"\\]|\\.)*)"$/s.exec(text) ?? [];
  if (inner === undefined) return null;
  return inner.replaceAll(/\\(?:u\{([0-9a-f]+)\}|(.))/gis, (_, code: string | undefined, char: string | undefined) => {
    if (code !== undefined) return String.fromCodePoint(Number.parseInt(code, 16));
    return char === 'n' ? '\n' : char === 't' ? '\t' : char === 'r' ? '\r' : (char ?? '');
  });
}

/** A value that the API told, as it takes it for a type: of a string the text itself. */
export function givenOf(type: string | undefined, value: unknown): unknown {
  return type === 'string' && typeof value === 'string' ? (unquoted(value) ?? value) : value;
}
