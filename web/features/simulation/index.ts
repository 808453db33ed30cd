// Runs of functions: the form for their inputs, and the player that moves them.
export { RunView } from './RunView';
