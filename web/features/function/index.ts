// One function: its graph, its text, and what surrounds it.
export { around, paramsId } from './boxes';
export { FunctionView } from './FunctionView';
export { AlteredList } from './AlteredList';
export { GraphPane } from './Graph';
export type { Mark } from './marks';
export {
  graphOf,
  type Altered,
  type Change,
  type Edge,
  type Graph,
  type GraphNode,
  type GraphRegion,
  type Head,
  type Names,
  type NodeData,
  type Param,
  type Port,
  type RegionData,
  type Sign,
  type Source,
} from './model';
export { NodeDetails } from './NodeDetails';
export { SignMark } from './SignMark';
export { inOrder, nextOf, openedBy } from './steps';
export { TextPane } from './TextPane';
export { useFolds } from './useFolds';
export { useFunction, type Loaded } from './useFunction';
export { useLayout } from './useLayout';
export { useOpening } from './useOpening';
