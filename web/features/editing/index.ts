// Edits by hand: a function's text and names, tried while they are typed.
export { EditView } from './EditView';
