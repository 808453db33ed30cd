// One function: its graph, its text, and what surrounds it.
export { FunctionView } from './FunctionView';
