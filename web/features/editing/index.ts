// Edits by hand: a function's text and names, tried while they are typed.
export { AddView } from './AddView';
export { EditView } from './EditView';
