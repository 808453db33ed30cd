// How a function differs between two revisions, as a graph.
export { DifferenceGraph } from './DifferenceGraph';
