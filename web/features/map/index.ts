// A whole program at once: modules, functions and calls as a picture, and the same as a table.
export { MapView } from './MapView';
