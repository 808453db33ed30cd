// Questions that runs ask of people: the inbox, and one question with the ways to answer it.
export { ApprovalsView } from './ApprovalsView';
export type { Armed } from './AnswerForm';
export { Evidence } from './Evidence';
export { choicesOf, mannerOf, type Question } from './model';
export { QuestionCard } from './QuestionCard';
export type { ApprovalsSearch } from './search';
export type { Outcome } from './useAnswer';
export { useWords } from './words';
