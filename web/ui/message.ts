/** A part of a message: words, or a name that stands in them. */
export interface Part {
  text: string;
  code: boolean;
}

/** Cuts a message of the server at the backticks around names. */
export function partsOf(message: string): Part[] {
  const parts = message.split('`');
  // A backtick without another one is a sign like others.
  const even = parts.length % 2 === 0;
  const whole = even ? [...parts.slice(0, -2), parts.slice(-2).join('`')] : parts;
  return whole.map((text, at) => ({ text, code: at % 2 === 1 })).filter(({ text }) => text !== '');
}
