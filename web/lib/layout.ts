import type { ElkNode } from 'elkjs/lib/elk-api';
import ELK from 'elkjs/lib/elk-api.js';
import workerUrl from 'elkjs/lib/elk-worker.min.js?url';

/** A place for layouts, off the page's thread. */
export interface LayoutPlace {
  /** Starts what lays out, which takes a while, before there is something to lay out. */
  prepare(): void;
  /** Lays a graph out; null if another one was asked for meanwhile, or the place was left. */
  layout(graph: ElkNode): Promise<ElkNode | null>;
  /** Stops whatever is being laid out. */
  leave(): void;
}

/** Opens a place. One layout runs at a time: the newest wins, and an older one is stopped. */
export function openLayoutPlace(): LayoutPlace {
  let engine: InstanceType<typeof ELK> | null = null;
  let turn = 0;
  let busy = false;

  const stop = () => {
    engine?.terminateWorker();
    engine = null;
    busy = false;
  };

  const start = () => (engine ??= new ELK({ workerFactory: () => new Worker(workerUrl) }));

  return {
    prepare: () => void start(),
    async layout(graph) {
      const mine = ++turn;
      // A worker does not look up from its work: only ending it stops a layout.
      if (busy) stop();
      busy = true;
      try {
        const answer = await start().layout(graph);
        return mine === turn ? answer : null;
      } finally {
        if (mine === turn) busy = false;
      }
    },
    leave() {
      turn += 1;
      stop();
    },
  };
}
