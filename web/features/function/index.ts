// One function: its graph, its text, and what surrounds it.
export { around, paramsId } from './boxes';
export { FunctionView } from './FunctionView';
export { GraphPane } from './Graph';
export type { Mark } from './marks';
export { type Graph, type GraphNode, type Head } from './model';
export { TextPane } from './TextPane';
export { useFunction, type Loaded } from './useFunction';
export { useLayout } from './useLayout';
