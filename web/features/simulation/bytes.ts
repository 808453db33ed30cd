// Bytes of linear memory, as they are laid out for a reader.

/** How many bytes stand on a line. */
export const LINE = 16;

/** How many lines a page has. */
export const LINES = 16;

/** Bytes of a page. */
export const PAGE = LINE * LINES;

/** A line of bytes. */
export interface ByteLine {
  address: number;
  bytes: { hex: string; changed: boolean }[];
  /** The same as letters; a dot for what is none. */
  letters: string;
}

/** Bytes that were read: the address of the first one, and two digits each. */
export interface Bytes {
  address: number;
  hex: string;
}

function byteAt(bytes: Bytes, address: number): string {
  const at = (address - bytes.address) * 2;
  return at < 0 ? '' : bytes.hex.slice(at, at + 2);
}

/** The lines of some bytes; those that were others before are marked. */
export function linesOf(now: Bytes, before: Bytes | null): ByteLine[] {
  const lines: ByteLine[] = [];
  const end = now.address + now.hex.length / 2;
  for (let start = now.address; start < end; start += LINE) {
    const addresses = Array.from({ length: Math.min(LINE, end - start) }, (_, at) => start + at);
    const bytes = addresses.map((address) => {
      const hex = byteAt(now, address);
      const old = before ? byteAt(before, address) : '';
      return { hex, changed: old !== '' && old !== hex };
    });
    const letters = bytes.map(({ hex }) => {
      const code = Number.parseInt(hex, 16);
      return code >= 0x20 && code < 0x7f ? String.fromCodePoint(code) : '.';
    });
    lines.push({ address: start, bytes, letters: letters.join('') });
  }
  return lines;
}

/** An address that a reader typed, decimal or `0x` and hexadecimal; null for what is none. */
export function addressTyped(text: string): number | null {
  const plain = text.trim().replaceAll(/[\s,_]/g, '');
  if (!/^(?:0x[\da-f]+|\d+)$/i.test(plain)) return null;
  const address = Number(plain);
  return Number.isSafeInteger(address) ? address : null;
}

/** The address at which the line of another one begins. */
export function lineStart(address: number): number {
  return address - (address % LINE);
}
