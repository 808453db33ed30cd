// Runs of functions: the form for their inputs, and the player that moves them.
export { begin } from './begin';
export { RunView } from './RunView';
