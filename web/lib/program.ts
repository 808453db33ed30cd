const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** How a program of an address is asked for: by id if it looks like one, else by name. */
export function programKey(program: string): { id: string } | { name: string } {
  return UUID.test(program) ? { id: program } : { name: program };
}

/** How a function of an address is asked for: by ref if it looks like one, else by path. */
export function functionKey(name: string): { ref: string } | { name: string } {
  return /^f\d+$/.test(name) ? { ref: name } : { name };
}

/** A revision of an address, as `program(at:)` takes it; without one the head. */
export function revisionKey(revision: number | undefined): { at?: string } {
  return revision === undefined ? {} : { at: `r${revision}` };
}
