/** A key under which the server does a thing once, however often it is asked. */
export function freshKey(): string {
  // `randomUUID` is there only where the page came over TLS or from this machine.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
