/** Work that follows what is wanted. */
export interface Chase<Wanted> {
  /** Says what is wanted now. */
  want(wanted: Wanted): void;
  /** Ends it; work that is under way is not told. */
  leave(): void;
}

/**
 * Does work for the newest of what is wanted, one at a time.
 *
 * What is under way is finished first: where something new is wanted faster than the work is done, stopping it each time
 * would show nothing ever.
 */
export function chase<Wanted>(work: (wanted: Wanted, isLeft: () => boolean) => Promise<void>): Chase<Wanted> {
  let next: { wanted: Wanted } | null = null;
  let running = false;
  let left = false;
  const isLeft = () => left;

  const run = async () => {
    running = true;
    while (next && !left) {
      const { wanted } = next;
      next = null;
      await work(wanted, isLeft);
    }
    running = false;
  };

  return {
    want(wanted) {
      next = { wanted };
      if (!running) void run();
    },
    leave() {
      left = true;
    },
  };
}
