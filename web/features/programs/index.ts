// The list of programs.
export { ProgramsView } from './ProgramsView';
