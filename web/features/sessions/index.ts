// Conversations with flows: the list, one conversation, and the form that begins one.
export { BeginView } from './BeginView';
export type { BeginSearch } from './search';
export { SessionsView } from './SessionsView';
export { SessionView } from './SessionView';
