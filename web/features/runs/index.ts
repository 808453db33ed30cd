// Runs of durable flows: the list, one run with its timeline, and the form that starts one; and what others show of runs.
export type { RunsSearch, RunViewSearch, StartSearch } from './search';
export { RunsView } from './RunsView';
export { RunView } from './RunView';
export { StartView } from './StartView';
export { atWork, afterEvent, eventOf, isNews, type Event, type Working } from './live';
export { errorOf, isOver, shortId } from './model';
export { Now } from './Now';
export { countWords } from './spans';
export { StatusBadge } from './StatusBadge';
