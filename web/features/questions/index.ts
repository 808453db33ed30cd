// How many questions of runs wait for an answer, for every view; the answers are given in `approvals`.
export type { Questions } from './model';
export { QuestionsProvider, useQuestions } from './QuestionsProvider';
