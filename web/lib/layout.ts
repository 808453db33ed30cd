import type { ElkNode } from 'elkjs/lib/elk-api';
import ELK from 'elkjs/lib/elk-api.js';
import workerUrl from 'elkjs/lib/elk-worker.min.js?url';

/** A place for layouts, off the page's thread. */
export interface LayoutPlace {
  /** Starts what lays out, which takes a while, before there is something to lay out. */
  prepare(): void;
  /** Lays a graph out. */
  layout(graph: ElkNode): Promise<ElkNode>;
  /** Stops whatever is being laid out: that never answers. */
  leave(): void;
}

/** Opens a place. */
export function openLayoutPlace(): LayoutPlace {
  let engine: InstanceType<typeof ELK> | null = null;
  const start = () => (engine ??= new ELK({ workerFactory: () => new Worker(workerUrl) }));
  return {
    prepare: () => void start(),
    layout: (graph) => start().layout(graph),
    leave() {
      // A worker does not look up from its work: only ending it stops a layout.
      engine?.terminateWorker();
      engine = null;
    },
  };
}
