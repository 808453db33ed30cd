// What has happened to a program: its revisions on one line, how any two differ, and the way back.
export { HistoryView } from './HistoryView';
export type { HistorySearch } from './search';
