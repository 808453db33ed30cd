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

/** A first layout takes several times as long as the next one: it is of nothing. */
const SMALL: ElkNode = {
  id: 'root',
  layoutOptions: { 'elk.algorithm': 'layered', 'elk.hierarchyHandling': 'INCLUDE_CHILDREN' },
  children: [
    { id: 'a', width: 10, height: 10, children: [{ id: 'c', width: 5, height: 5 }] },
    { id: 'b', width: 10, height: 10 },
  ],
  edges: [{ id: 'e', sources: ['c'], targets: ['b'] }],
};

/** Opens a place. */
export function openLayoutPlace(): LayoutPlace {
  let engine: InstanceType<typeof ELK> | null = null;
  const start = () => (engine ??= new ELK({ workerFactory: () => new Worker(workerUrl) }));
  return {
    prepare: () => void start().layout(SMALL),
    layout: (graph) => start().layout(graph),
    leave() {
      // A worker does not look up from its work: only ending it stops a layout.
      engine?.terminateWorker();
      engine = null;
    },
  };
}
