// How many functions of a module the verifier finds something in, in words.

/** How many functions have findings, and how many of these are incomplete. */
export interface Flaws {
  functions: number;
  incomplete: number;
}

/** What heads a module; null where nothing is found. */
export function flawedWords({ functions, incomplete }: Flaws): string | null {
  if (functions === 0) return null;
  if (incomplete === 0) return `${functions.toLocaleString('en')} with diagnostics`;
  const missing = `${incomplete.toLocaleString('en')} incomplete`;
  return incomplete === functions ? missing : `${functions.toLocaleString('en')} with diagnostics, ${missing}`;
}
