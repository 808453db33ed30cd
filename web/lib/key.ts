/** A key under which a mutation is done once, however often it is sent. Works without a secure origin, unlike `randomUUID`. */
export function freshKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
