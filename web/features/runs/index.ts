// Runs of durable flows: the list, one run with its timeline, and the form that starts one.
export type { RunsSearch, RunViewSearch, StartSearch } from './search';
export { RunsView } from './RunsView';
export { RunView } from './RunView';
export { StartView } from './StartView';
